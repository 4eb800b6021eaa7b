"""Type and lower functions as Numba does for GPUs, where results differ from its CPU target.

`max` and `min` of two floats, conversions of floats to integers, and `math.floor` and the like,
which return a float. In kernels they return what the PTX instructions that numba-cuda uses do.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, signature

from gpukit.compiler.kernel_target import declarations, implementations

_FLOATS = (types.float32, types.float64)


def _extreme(name: str) -> Any:
    """Implement PTX's max or min: a number is preferred to a NaN, and -0 is less than +0."""

    def implementation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return intrinsic(builder, name, args[0].type, *args)

    return implementation


class _OfTwoFloats(AbstractTemplate):
    """`max` and `min` of two floats, which Numba types together with all other numbers."""

    metadata = {"target": "cuda"}  # noqa: RUF012  (more specific than Numba's: tried first)

    def generic(self, args: Any, kws: Any) -> Any:
        if kws or len(args) != 2 or any(a not in _FLOATS for a in args):
            return None
        wider = types.float32 if set(args) == {types.float32} else types.float64
        return signature(wider, wider, wider)


for _function, _name in ((max, "llvm.maximumnum"), (min, "llvm.minimumnum")):
    declarations.register_global(_function)(type(_function.__name__, (_OfTwoFloats,), {}))
    for _kind in _FLOATS:
        implementations.lower(_function, _kind, _kind)(_extreme(_name))


@implementations.lower_cast(types.float32, types.Integer)
@implementations.lower_cast(types.float64, types.Integer)
def _float_to_integer(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return to_integer(builder, value, target)


def to_integer(builder: Any, value: Any, kind: Any) -> Any:
    """Return a float as an integer, like PTX's cvt: truncated, and saturated to the range.

    NaN becomes 0, or only the highest bit if either has 64 bits. PTX has no conversion to 8
    bits: these are the lower ones of 16. (LLVM does not vectorise its own `llvm.fptosi.sat`.)
    """
    width, real = max(kind.bitwidth, 16), value.type
    wanted = ir.IntType(width)
    low, above = (-(2 ** (width - 1)), 2 ** (width - 1)) if kind.signed else (0, 2**width)
    large_enough = builder.fcmp_ordered(">=", value, real(low))
    held = builder.select(large_enough, value, real(low))  # NaN becomes the lowest value, too
    fits = builder.fcmp_ordered("<", held, real(above))
    convert = builder.fptosi if kind.signed else builder.fptoui
    found = convert(builder.select(fits, held, real(0)), wanted)
    found = builder.select(fits, found, wanted(above - 1))
    of_nan = 2 ** (width - 1) if width == 64 or real == ir.DoubleType() else 0
    if of_nan != low % 2**width:
        number = builder.fcmp_ordered("ord", value, value)
        found = builder.select(number, found, wanted(of_nan))
    return found if width == kind.bitwidth else builder.trunc(found, ir.IntType(kind.bitwidth))


class _ToWhole(AbstractTemplate):
    """`math.floor` and the like return a float, which can represent inf, NaN and 1e300."""

    metadata = {"target": "cuda"}  # noqa: RUF012  (more specific than Numba's: tried first)

    def generic(self, args: Any, kws: Any) -> Any:
        if kws or len(args) != 1:
            return None
        if isinstance(args[0], (types.Integer, types.Boolean)):
            return signature(types.float64, types.float64)
        return signature(args[0], args[0]) if args[0] in _FLOATS else None


for _rounding in (math.floor, math.ceil, math.trunc):
    declarations.register_global(_rounding)(type(_rounding.__name__, (_ToWhole,), {}))


def intrinsic(builder: Any, name: str, result: Any, *values: Any) -> Any:
    """Return the result of an LLVM intrinsic, whose name ends in the result and argument types."""
    kinds = [v.type for v in values]
    named = dict.fromkeys([result, *kinds])
    function = builder.module.declare_intrinsic(name, list(named), ir.FunctionType(result, kinds))
    return builder.call(function, values)


@implementations.lower(round, types.float32)
@implementations.lower(round, types.float64)
def _round(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    wide = context.cast(builder, args[0], sig.args[0], types.float64)
    whole = intrinsic(builder, "llvm.rint", wide.type, wide)
    return to_integer(builder, whole, sig.return_type)
