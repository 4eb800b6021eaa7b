"""Arithmetic functions that CUDA Python has and Numba lacks: bit counting, fma, cube root, ..."""

from __future__ import annotations

import math

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload, overload_method

from gpukit.compiler.runtime import float32, formulas
from gpukit.compiler.runtime.compiled import compiled


def _integer(name, value):  # type: ignore[no-untyped-def]
    """Return the type of the bits: that of the value, int8 for a bool."""
    if isinstance(value, types.Boolean):
        return types.int8
    if not isinstance(value, types.Integer):
        raise TypingError(f"cuda.{name} works on integers, not on {value}")
    return value


def _common(name, typingctx, *values):  # type: ignore[no-untyped-def]
    kind = typingctx.unify_types(*values)
    if not isinstance(kind, (types.Number, types.Boolean)):
        raise TypingError(f"cuda.{name} works on numbers, not on {', '.join(map(str, values))}")
    return kind


@intrinsic
def popc(typingctx, value):  # type: ignore[no-untyped-def]
    """Return how many bits are set."""
    kind = _integer("popc", value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = context.cast(builder, args[0], value, kind)
        count = builder.ctpop(bits)
        return context.cast(builder, count, kind, types.int32)

    return types.int32(value), codegen


@intrinsic
def brev(typingctx, value):  # type: ignore[no-untyped-def]
    """Return the value with its bits in reverse order."""
    kind = _integer("brev", value)
    result = types.uint64 if kind.bitwidth == 64 else types.uint32

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitreverse(context.cast(builder, args[0], value, result))

    return result(value), codegen


@intrinsic
def clz(typingctx, value):  # type: ignore[no-untyped-def]
    """Return the number of leading zero bits."""
    kind = _integer("clz", value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = context.cast(builder, args[0], value, kind)
        count = builder.ctlz(bits, ir.IntType(1)(0))
        return context.cast(builder, count, kind, types.int32)

    return types.int32(value), codegen


@intrinsic
def ffs(typingctx, value):  # type: ignore[no-untyped-def]
    """Return the position of the lowest set bit, counted from 1; 0 if none is set."""
    kind = _integer("ffs", value)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = context.cast(builder, args[0], value, kind)
        zero, one = bits.type(0), bits.type(1)
        position = builder.add(builder.cttz(bits, ir.IntType(1)(0)), one)
        none = builder.icmp_unsigned("==", bits, zero)
        return context.cast(builder, builder.select(none, zero, position), kind, types.int32)

    return types.int32(value), codegen


@intrinsic
def fma(typingctx, a, b, c):  # type: ignore[no-untyped-def]
    """Return a * b + c, rounded once."""
    kind = _common("fma", typingctx, a, b, c)
    if kind == types.float16:
        kind = types.float32
    elif not isinstance(kind, types.Float):
        kind = types.float64

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        values = [
            context.cast(builder, v, t, kind) for v, t in zip(args, signature.args, strict=True)
        ]
        return builder.fma(*values)

    return kind(a, b, c), codegen


@intrinsic
def selp(typingctx, condition, a, b):  # type: ignore[no-untyped-def]
    """Return `a` where the condition holds, else `b`; both are evaluated."""
    kind = _common("selp", typingctx, a, b)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        test = context.cast(builder, args[0], condition, types.boolean)
        left = context.cast(builder, args[1], a, kind)
        right = context.cast(builder, args[2], b, kind)
        return builder.select(test, left, right)

    return kind(condition, a, b), codegen


@intrinsic
def same_kind(typingctx, value, like):  # type: ignore[no-untyped-def]
    """Return `value` in the type of `like` if that is a float, else as float64."""
    kind = like if isinstance(like, types.Float) else types.float64

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return context.cast(builder, args[0], value, kind)

    return kind(value, like), codegen


def cbrt(x):  # type: ignore[no-untyped-def]
    """Return the cube root, in the precision of `x`."""
    raise NotImplementedError


@overload(cbrt)
def _cbrt(x):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x: _cbrt_float32(x)

    def root(x):  # type: ignore[no-untyped-def]
        root = abs(x) ** (1.0 / 3.0)
        if root > 0.0 and root < math.inf:
            root -= (root * root * root - abs(x)) / (3.0 * root * root)
        return same_kind(math.copysign(root, x), x)

    return root


def rsqrt(x):  # type: ignore[no-untyped-def]
    """Return 1 / sqrt(x), in the precision of `x`."""
    raise NotImplementedError


@overload(rsqrt)
def _rsqrt(x):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x: _rsqrt_float32(x)
    return lambda x: same_kind(1.0 / math.sqrt(x), x)


_cbrt_float32 = formulas.function(float32.cbrt)
_rsqrt_float32 = formulas.function(float32.rsqrt)


@compiled
def nanosleep(ns):  # type: ignore[no-untyped-def]
    """Do nothing: on a CPU the other threads of the block do not run concurrently."""


@intrinsic
def fence(typingctx):  # type: ignore[no-untyped-def]
    """Make this thread's writes visible to other cores before its later writes."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@overload_method(types.Integer, "bit_count")
def _bit_count(value):  # type: ignore[no-untyped-def]
    return lambda value: popc(value)
