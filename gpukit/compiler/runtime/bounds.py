"""Bounds tests of whole rows of indices, each in one call: Numba types comparisons slowly."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_WORD = ir.IntType(64)
_LARGEST = ir.Constant(_WORD, (1 << 63) - 1)


def _words(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """Return integers as signed 64-bit ones; a larger unsigned one saturates."""
    found = []
    for kind, value in zip(kinds, values, strict=True):
        word = context.cast(builder, value, kind, types.int64)
        if kind == types.uint64:
            negative = builder.icmp_signed("<", word, ir.Constant(_WORD, 0))
            word = builder.select(negative, _LARGEST, word)
        found.append(word)
    return found


def _require(kinds: Any) -> None:
    if not all(isinstance(k, (types.Integer, types.Boolean)) for k in kinds):
        raise TypingError(f"indices and sizes must be integers, not {', '.join(map(str, kinds))}")


def _extreme(a: Any, b: Any, relation: str) -> Any:
    kinds = (a, b)
    _require(kinds)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        left, right = _words(context, builder, kinds, args)
        return builder.select(builder.icmp_signed(relation, left, right), left, right)

    return types.int64(a, b), codegen


@intrinsic
def least(typingctx, a, b):  # type: ignore[no-untyped-def]
    """Return the smaller of two integers as int64."""
    return _extreme(a, b, "<")


@intrinsic
def greatest(typingctx, a, b):  # type: ignore[no-untyped-def]
    """Return the larger of two integers as int64."""
    return _extreme(a, b, ">")


@intrinsic
def inside(typingctx, size, first):  # type: ignore[no-untyped-def]
    """Tell whether 0 <= first < size."""
    return _inside((size, first))


@intrinsic
def both_inside(typingctx, size, first, last):  # type: ignore[no-untyped-def]
    """Tell whether first and last are both in 0 <= ... < size.

    Both ends are compared with both limits, because an index may have overflowed.
    """
    return _inside((size, first, last))


def _inside(kinds: Any) -> Any:
    _require(kinds)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        size, *ends = _words(context, builder, kinds, args)
        found = cgutils.true_bit
        for end in ends:
            found = builder.and_(found, builder.icmp_unsigned("<", end, size))
        return found

    return types.boolean(*kinds), codegen


@intrinsic
def ahead_of(typingctx, end, count):  # type: ignore[no-untyped-def]
    """Return end - count as int64, for a count >= 0; saturates at the smallest int64."""
    kinds = (end, count)
    _require(kinds)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        last, steps = _words(context, builder, kinds, args)
        found = builder.sub(last, steps)
        wrapped = builder.icmp_signed(">", found, last)
        return builder.select(wrapped, ir.Constant(_WORD, -(1 << 63)), found)

    return types.int64(end, count), codegen


@intrinsic
def end_of_groups(typingctx, start, end, step, size):  # type: ignore[no-untyped-def]
    """Return the value after the last whole group of `size` in start, start + step, ... below end.

    For a step > 0 and a size > 0. Without a whole group, return start.
    """
    kinds = (start, end, step, size)
    _require(kinds)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first, last, by, group = _words(context, builder, kinds, args)
        one = ir.Constant(_WORD, 1)
        # Unsigned: the distance from start to end may exceed an int64.
        rounds = builder.add(builder.udiv(builder.sub(builder.sub(last, first), one), by), one)
        whole = builder.sub(rounds, builder.urem(rounds, group))
        before = builder.add(first, builder.mul(builder.sub(whole, one), by))
        found = builder.add(before, by)
        wrapped = builder.icmp_signed("<", found, before)
        none = builder.or_(builder.icmp_signed(">=", first, last), wrapped)
        return builder.select(none, first, found)

    return types.int64(start, end, step, size), codegen
