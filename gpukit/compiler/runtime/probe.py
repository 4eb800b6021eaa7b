"""Stand-ins for votes while Numba finds types: they check arguments and are never run."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def _vote(result: types.Type) -> Any:
    """Return an intrinsic (mask, predicate) -> `result` that only has a type."""

    @intrinsic
    def vote(typingctx, mask, predicate):  # type: ignore[no-untyped-def]
        if not isinstance(mask, types.Integer):
            raise TypingError(f"Mask type must be an integer. Got {mask}")
        if not isinstance(predicate, (types.Integer, types.Boolean)):
            raise TypingError(f"Predicate must be an integer or boolean. Got {predicate}")
        return result(mask, predicate), None

    return vote


all_sync = any_sync = eq_sync = _vote(types.boolean)
ballot_sync = _vote(types.int32)
