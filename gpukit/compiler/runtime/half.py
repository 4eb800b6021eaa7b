"""The functions of `cuda.fp16`. Support for float16 itself is in `half_rules.install`.

The functions take values that convert to float16 and return a float16 or a bool. Arithmetic is done
in float32 and rounded.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from gpukit.compiler.runtime import half_convert as convert
from gpukit.compiler.runtime import half_rules as rules

HALF = rules.HALF
install = rules.install


def _halves(context: Any, builder: Any, sig: Any, args: Any) -> list[Any]:
    return [context.cast(builder, v, t, HALF) for v, t in zip(args, sig.args, strict=True)]


def _signature(name: str, result: Any, kinds: tuple[Any, ...]) -> Any:
    for kind in kinds:
        if not isinstance(kind, (types.Float, types.Integer, types.Boolean)):
            raise TypingError(f"cuda.fp16.{name} works on float16, not on {kind}")
    return result(*kinds)


def _one(name: str, body: Any) -> Any:
    def function(typingctx, a):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return body(context, builder, *_halves(context, builder, sig, args))

        return _signature(name, HALF, (a,)), codegen

    return _named(name, function)


def _two(name: str, body: Any, result: Any = HALF) -> Any:
    def function(typingctx, a, b):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return body(context, builder, *_halves(context, builder, sig, args))

        return _signature(name, result, (a, b)), codegen

    return _named(name, function)


def _three(name: str, body: Any) -> Any:
    def function(typingctx, a, b, c):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return body(context, builder, *_halves(context, builder, sig, args))

        return _signature(name, HALF, (a, b, c)), codegen

    return _named(name, function)


def _named(name: str, function: Any) -> Any:
    function.__name__ = function.__qualname__ = name
    return intrinsic(function)


def _singles(make: Any) -> Any:
    """Return a function body on float16s that applies `make` to float32s and rounds."""

    def body(context: Any, builder: Any, *bits: Any) -> Any:
        values = [convert.extend(context, builder, b) for b in bits]
        return convert.shorten(context, builder, make(context, builder, *values))

    return body


def _math(function: Any) -> Any:
    return _singles(lambda context, builder, a: rules.on_singles(context, builder, function, a))


def _power(base: float) -> Any:
    def make(context: Any, builder: Any, a: Any) -> Any:
        return rules.on_singles(context, builder, operator.pow, convert.SINGLE(base), a)

    return _singles(make)


def _rounded(name: str) -> Any:
    return _singles(lambda context, builder, a: convert.intrinsic(builder, name, a))


def _compared(op: str) -> Any:
    """Return a comparison; all are False for a NaN, even `!=`."""

    def body(context: Any, builder: Any, a: Any, b: Any) -> Any:
        left, right = (convert.extend(context, builder, v) for v in (a, b))
        return builder.fcmp_ordered(op, left, right)

    return body


def _fused(context: Any, builder: Any, *bits: Any) -> Any:
    """Return a * b + c, rounded once.

    The product is exact in float64. The sum is exact, too, or so far from the midpoint between two
    float16s that double rounding does not matter.
    """
    a, b, c = (builder.fpext(convert.extend(context, builder, v), convert.DOUBLE) for v in bits)
    return convert.shorten_double(context, builder, builder.fadd(builder.fmul(a, b), c))


def _extreme(op: str) -> Any:
    """Return the maximum or minimum; a number is preferred to a NaN, and -0 is less than +0."""

    def body(context: Any, builder: Any, a: Any, b: Any) -> Any:
        better = builder.icmp_signed(op, _order(builder, a), _order(builder, b))
        chosen = builder.select(better, a, b)
        chosen = builder.select(_is_nan(builder, b), a, chosen)
        return builder.select(_is_nan(builder, a), b, chosen)

    return body


def _order(builder: Any, bits: Any) -> Any:
    """Return an integer that compares like the float16."""
    negative = builder.ashr(bits, convert.I16(15))
    return builder.xor(bits, builder.and_(negative, convert.I16(convert.MAGNITUDE)))


def _is_nan(builder: Any, bits: Any) -> Any:
    size = rules.magnitude(builder, bits)
    return builder.icmp_unsigned(">", size, convert.I16(convert.INFINITY))


def _root_below_one(context: Any, builder: Any, a: Any) -> Any:
    root = rules.on_singles(context, builder, math.sqrt, a)
    return builder.fdiv(convert.SINGLE(1.0), root)


hadd = _two("hadd", _singles(lambda context, builder, a, b: builder.fadd(a, b)))
hsub = _two("hsub", _singles(lambda context, builder, a, b: builder.fsub(a, b)))
hmul = _two("hmul", _singles(lambda context, builder, a, b: builder.fmul(a, b)))
hdiv = _two("hdiv", _singles(lambda context, builder, a, b: builder.fdiv(a, b)))
hfma = _three("hfma", _fused)
hneg = _one("hneg", lambda context, builder, a: rules.negated(builder, a))
habs = _one("habs", lambda context, builder, a: rules.magnitude(builder, a))
hmax = _two("hmax", _extreme(">"))
hmin = _two("hmin", _extreme("<"))

hsin = _one("hsin", _math(math.sin))
hcos = _one("hcos", _math(math.cos))
htanh = _one("htanh", _math(math.tanh))
hlog = _one("hlog", _math(math.log))
hlog2 = _one("hlog2", _math(math.log2))
hlog10 = _one("hlog10", _math(math.log10))
hexp = _one("hexp", _math(math.exp))
hexp2 = _one("hexp2", _power(2.0))
hexp10 = _one("hexp10", _power(10.0))
hsqrt = _one("hsqrt", _math(math.sqrt))
hrsqrt = _one("hrsqrt", _singles(_root_below_one))
hrcp = _one("hrcp", _singles(lambda c, builder, a: builder.fdiv(convert.SINGLE(1.0), a)))
hceil = _one("hceil", _rounded("llvm.ceil"))
hfloor = _one("hfloor", _rounded("llvm.floor"))
htrunc = _one("htrunc", _rounded("llvm.trunc"))
hrint = _one("hrint", _rounded("llvm.rint"))

heq = _two("heq", _compared("=="), types.boolean)
hne = _two("hne", _compared("!="), types.boolean)
hge = _two("hge", _compared(">="), types.boolean)
hgt = _two("hgt", _compared(">"), types.boolean)
hle = _two("hle", _compared("<="), types.boolean)
hlt = _two("hlt", _compared("<"), types.boolean)
