"""Convert float16 bits to other numbers and back, in LLVM IR.

A float16 is represented by its 16 bits in an integer, to avoid LLVM's `half`: if the processor
cannot convert it, LLVM calls `__extendhfsf2` and `__truncsfhf2`, which the process may lack, and a
call to a missing function ends the process. If it can (F16C on x86, every 64-bit ARM), the
conversion is one instruction; elsewhere it is done on the bits.
"""

from __future__ import annotations

import functools
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

I16, I32, SINGLE, DOUBLE = ir.IntType(16), ir.IntType(32), ir.FloatType(), ir.DoubleType()
SIGN, MAGNITUDE, INFINITY, QUIET = 0x8000, 0x7FFF, 0x7C00, 0x0200


def in_hardware(context: Any, feature: str = "f16c") -> bool:
    """Tell whether the target has a feature, which every 64-bit ARM has."""
    codegen = context.codegen()
    triple = _triple()
    if triple.startswith(("aarch64", "arm64")):
        return True
    features = str(getattr(codegen, "_tm_features", "")).split(",")
    return triple.startswith(("x86_64", "i686", "amd64")) and f"+{feature}" in features


@functools.cache
def _triple() -> str:
    return str(llvm.get_process_triple())


def intrinsic(builder: Any, name: str, value: Any) -> Any:
    """Return the result of an LLVM intrinsic of one float."""
    return builder.call(builder.module.declare_intrinsic(name, [value.type]), [value])


def extend(context: Any, builder: Any, bits: Any) -> Any:
    """Return a float16 as a float32, which is exact."""
    if in_hardware(context):
        return builder.fpext(builder.bitcast(bits, ir.HalfType()), SINGLE)
    return extend_bits(builder, bits)


def shorten(context: Any, builder: Any, value: Any) -> Any:
    """Return a float32 as a float16, rounded to nearest, ties to even."""
    if in_hardware(context):
        return builder.bitcast(builder.fptrunc(value, ir.HalfType()), I16)
    return shorten_bits(builder, value)


def shorten_double(context: Any, builder: Any, value: Any) -> Any:
    """Return a float64 as a float16, rounded once.

    Rounding to float32 first could create a tie. So the value is truncated to float32, and its last
    bit is set if that was inexact (a sticky bit).
    """
    near = builder.fptrunc(value, SINGLE)
    back = builder.fpext(near, DOUBLE)
    above = builder.fcmp_ordered(
        ">", intrinsic(builder, "llvm.fabs", back), intrinsic(builder, "llvm.fabs", value)
    )
    bits = builder.bitcast(near, I32)
    odd = builder.or_(builder.sub(bits, builder.zext(above, I32)), I32(1))
    inexact = builder.fcmp_ordered("!=", back, value)
    single = builder.bitcast(builder.select(inexact, odd, bits), SINGLE)
    return shorten(context, builder, single)


def extend_bits(builder: Any, bits: Any) -> Any:
    """As `extend`, without the instruction."""
    wide = builder.zext(bits, I32)
    sign = builder.shl(builder.and_(wide, I32(SIGN)), I32(16))
    magnitude = builder.and_(wide, I32(MAGNITUDE))
    shifted = builder.shl(magnitude, I32(13))
    # The exponent's bias is 127 instead of 15; infinity and NaN have all its bits set.
    special = builder.icmp_unsigned(">=", magnitude, I32(INFINITY))
    bias = builder.select(special, I32(0x70000000), I32(0x38000000))
    normal = builder.add(shifted, bias)
    # Subnormal float16s are multiples of 2 ** -24.
    tiny = builder.fmul(builder.uitofp(magnitude, SINGLE), SINGLE(2.0**-24))
    is_tiny = builder.icmp_unsigned("<", magnitude, I32(0x0400))
    made = builder.select(is_tiny, builder.bitcast(tiny, I32), normal)
    return builder.bitcast(builder.or_(made, sign), SINGLE)


def shorten_bits(builder: Any, value: Any) -> Any:
    """As `shorten`, without the instruction."""
    bits = builder.bitcast(value, I32)
    sign = builder.and_(builder.lshr(bits, I32(16)), I32(SIGN))
    magnitude = builder.and_(bits, I32(0x7FFFFFFF))
    last = builder.and_(builder.lshr(magnitude, I32(13)), I32(1))
    rounded = builder.add(builder.add(magnitude, I32(0xFFF)), last)
    made = builder.lshr(builder.sub(rounded, I32(0x38000000)), I32(13))
    # Adding 0.5 rounds to a multiple of 2 ** -24.
    half = builder.fadd(builder.bitcast(magnitude, SINGLE), SINGLE(0.5))
    tiny = builder.sub(builder.bitcast(half, I32), I32(0x3F000000))
    made = builder.select(builder.icmp_unsigned("<", magnitude, I32(0x38800000)), tiny, made)
    too_large = builder.icmp_unsigned(">=", magnitude, I32(0x477FF000))
    made = builder.select(too_large, I32(INFINITY), made)
    payload = builder.and_(builder.lshr(magnitude, I32(13)), I32(0x3FF))
    nan = builder.or_(payload, I32(INFINITY | QUIET))
    made = builder.select(builder.icmp_unsigned(">", magnitude, I32(0x7F800000)), nan, made)
    return builder.trunc(builder.or_(made, sign), I16)


def to_integer(builder: Any, value: Any, kind: Any) -> Any:
    """Return a float32 truncated to an integer; as on a GPU, it saturates if out of range.

    NaN becomes 0.
    """
    wanted = ir.IntType(kind.bitwidth)
    name = "llvm.fptosi.sat" if kind.signed else "llvm.fptoui.sat"
    function = builder.module.declare_intrinsic(
        name, [wanted, SINGLE], fnty=ir.FunctionType(wanted, [SINGLE])
    )
    return builder.call(function, [value])


def from_integer(builder: Any, value: Any, kind: Any) -> Any:
    """Return an integer as a float32; exact up to 2 ** 24, and larger ones are inf as float16."""
    return (builder.sitofp if kind.signed else builder.uitofp)(value, SINGLE)
