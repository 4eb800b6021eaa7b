"""Shifts of integers by any amount.

In LLVM a shift by less than 0, or by at least the number of bits, is undefined (poison), and LLVM
optimises as if it could not happen: loops become endless and checks are dropped. PTX defines such a
shift: the result is 0, or all sign bits where a negative number is shifted right.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

_WHOLE = (types.Integer, types.Boolean)


def left(x: Any, amount: Any) -> Any:
    """Return x << amount."""
    raise NotImplementedError


def right(x: Any, amount: Any) -> Any:
    """Return x >> amount."""
    raise NotImplementedError


def _shift(function: Any) -> Any:
    @intrinsic
    def shift(typingctx, x, amount):  # type: ignore[no-untyped-def]
        kind = typingctx.resolve_value_type(function)
        result = typingctx.resolve_function_type(kind, (x, amount), {}).return_type

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            value, count = (
                context.cast(builder, given, one, result)
                for given, one in zip(args, signature.args, strict=True)
            )
            width = result.bitwidth
            last = ir.Constant(value.type, width - 1)
            inside = builder.icmp_unsigned("<=", count, last)
            within = builder.and_(count, last)
            if function is operator.lshift:
                shifted, gone = builder.shl(value, within), ir.Constant(value.type, 0)
            elif result.signed:
                shifted, gone = builder.ashr(value, within), builder.ashr(value, last)
            else:
                shifted, gone = builder.lshr(value, within), ir.Constant(value.type, 0)
            return builder.select(inside, shifted, gone)

        return result(x, amount), codegen

    return shift


_left, _right = _shift(operator.lshift), _shift(operator.rshift)


@overload(left)
def _of_left(x, amount):  # type: ignore[no-untyped-def]
    if isinstance(x, _WHOLE) and isinstance(amount, _WHOLE):
        return lambda x, amount: _left(x, amount)
    return lambda x, amount: x << amount


@overload(right)
def _of_right(x, amount):  # type: ignore[no-untyped-def]
    if isinstance(x, _WHOLE) and isinstance(amount, _WHOLE):
        return lambda x, amount: _right(x, amount)
    return lambda x, amount: x >> amount
