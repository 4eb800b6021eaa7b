"""Placeholders for votes during type inference: they check argument types and never run."""

from __future__ import annotations

import functools
from typing import Any

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_NO_THREAD = "An overload uses a thread index where gpukit cannot provide it."


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


@functools.cache
def no_value(kind: types.Type) -> Any:
    """Return a function without arguments that has a type and raises if it is run."""

    @intrinsic
    def value(typingctx):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            with builder.if_then(cgutils.true_bit):
                context.call_conv.return_user_exc(builder, RuntimeError, (_NO_THREAD,))
            return context.get_constant_null(kind)

        return kind(), codegen

    return value
