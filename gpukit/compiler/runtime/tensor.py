"""The rounding of tensor cores to TF32 and bfloat16, for `primitives.tensor` without a GPU."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_INT, _SHORT = ir.IntType(32), ir.IntType(16)
_LOST = 13  # TF32 keeps 10 of the 23 fraction bits of a float32
_UPPER = 16  # bits of a float32: those of the bfloat16 that it is rounded to
_NAN = 0x7FFF  # the bfloat16 to which a GPU converts any NaN


@intrinsic
def rounded_to_tf32(typingctx, x):  # type: ignore[no-untyped-def]
    """Return a float32 rounded to TF32, which has 10 fraction bits; ties away from zero."""
    if x != types.float32:
        raise TypingError(f"TF32 is rounded from float32, not from {x}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], _INT)
        half, mask = ir.Constant(_INT, 1 << (_LOST - 1)), ir.Constant(_INT, -1 << _LOST)
        rounded = builder.bitcast(builder.and_(builder.add(bits, half), mask), ir.FloatType())
        is_nan: Any = builder.fcmp_unordered("uno", args[0], args[0])
        return builder.select(is_nan, args[0], rounded)

    return types.float32(x), codegen


@intrinsic
def rounded_to_bf16(typingctx, x):  # type: ignore[no-untyped-def]
    """Return the bits of a float32 rounded to bfloat16, ties to even."""
    if x != types.float32:
        raise TypingError(f"bfloat16 is rounded from float32, not from {x}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], _INT)
        upper = ir.Constant(_INT, _UPPER)
        odd = builder.and_(builder.lshr(bits, upper), ir.Constant(_INT, 1))
        almost_half = ir.Constant(_INT, (1 << (_UPPER - 1)) - 1)
        rounded = builder.lshr(builder.add(bits, builder.add(almost_half, odd)), upper)
        is_nan: Any = builder.fcmp_unordered("uno", args[0], args[0])
        return builder.select(is_nan, ir.Constant(_SHORT, _NAN), builder.trunc(rounded, _SHORT))

    return types.uint16(x), codegen


@intrinsic
def widened(typingctx, bits):  # type: ignore[no-untyped-def]
    """Return a float16, or a bfloat16 in the lower 16 bits of an integer, as a float32."""
    if not isinstance(bits, types.Integer) and bits != types.float16:
        raise TypingError(f"16 bits are a float16, or the bits of a bfloat16, not {bits}")

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        if bits == types.float16:
            return context.cast(builder, args[0], bits, types.float32)
        lower = context.cast(builder, args[0], bits, types.uint16)
        upper = builder.shl(builder.zext(lower, _INT), ir.Constant(_INT, _UPPER))
        return builder.bitcast(upper, ir.FloatType())

    return types.float32(bits), codegen
