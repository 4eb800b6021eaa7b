"""Cast arguments and results to the signatures of a device function, chosen by the call's types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import Signature
from numba.extending import intrinsic


def argument(name: str, cases: Sequence[Signature], k: int) -> Any:
    """Return an intrinsic (arguments) -> argument k, cast to the best matching signature."""

    def typed(typingctx: Any, given: tuple[Any, ...]) -> Any:
        kind = _chosen(typingctx, name, cases, given).args[k]

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return context.cast(builder, args[k], signature.args[k], kind)

        return kind(*given), codegen

    return _intrinsic(len(cases[0].args), typed)


def result(name: str, cases: Sequence[Signature]) -> Any:
    """Return an intrinsic (arguments, value) -> value, cast to the best matching signature."""

    def typed(typingctx: Any, given: tuple[Any, ...]) -> Any:
        kind = _chosen(typingctx, name, cases, given[:-1]).return_type
        kind = given[-1] if kind == types.undefined else kind

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return context.cast(builder, args[-1], signature.args[-1], kind)

        return kind(*given), codegen

    return _intrinsic(len(cases[0].args) + 1, typed)


def _chosen(typingctx: Any, name: str, cases: Sequence[Signature], given: Any) -> Signature:
    found = typingctx.resolve_overload(name, cases, tuple(map(types.unliteral, given)), {})
    if found is None:
        known = "; ".join(str(c.args) for c in cases)
        raise TypingError(f"{name} was declared for {known}, and is called with {given}")
    return found


def _intrinsic(count: int, typed: Any) -> Any:
    """Return an intrinsic of `count` arguments; Numba requires each to have a name."""
    names = ", ".join(f"a{k}" for k in range(count))
    space = {"typed": typed, "__name__": __name__}  # the function's module
    exec(f"def cast(typingctx, {names}):\n    return typed(typingctx, ({names},))\n", space)
    return intrinsic(space["cast"])
