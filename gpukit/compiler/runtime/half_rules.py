"""Add float16 to Numba, in kernels and on the CPU: data model, conversions, operators, `math`.

The typing rules are those of Numba's CUDA target. float16 with float16, int8 or bool results in
float16; with anything else Numba's own rules apply, for which float16 is a narrower float32.
Everything here is added for the type `float16`; no rule for another type changes.
"""

from __future__ import annotations

import math
import operator
import threading
from typing import Any

import numpy as np
from numba.core import boxing, pythonapi, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import lower_cast, lower_constant
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from gpukit.compiler.kernel_target import NAME
from gpukit.compiler.runtime import formulas, mathematics
from gpukit.compiler.runtime import half_convert as convert

HALF = types.float16
# Operands of these types are converted to float16 beside a float16.
_JOINS = (HALF, types.int8, types.boolean)

ARITHMETIC = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
)
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
ROUNDING = {math.ceil: "llvm.ceil", math.floor: "llvm.floor", math.trunc: "llvm.trunc"}
FUNCTIONS = (math.sin, math.cos, math.tanh, math.exp, math.log, math.log2, math.log10, math.sqrt)


def on_singles(context: Any, builder: Any, function: Any, *values: Any, result: Any = None) -> Any:
    """Return the result of the float32 version of a function."""
    formula = mathematics.formula(function, len(values))
    if formula is not None:
        return formulas.call(context, builder, formula, values)
    kind = result or types.float32
    made = context.get_function(function, kind(*[types.float32] * len(values)))
    return made(builder, values)


_lock = threading.Lock()
_installed = False


def install() -> None:
    """Register float16 for kernels and Numba's CPU target; a second call does nothing."""
    global _installed
    with _lock:
        if _installed:
            return
        _install_model()
        _install_boxes()
        _install_casts()
        _install_operators()
        _install_math()
        _installed = True


def _install_model() -> None:
    former = default_manager._handlers[types.Float]

    def model(manager: Any, kind: Any) -> Any:
        if kind == HALF:
            return models.PrimitiveModel(manager, kind, convert.I16)
        return former(manager, kind)

    default_manager.register(types.Float, model)

    @lower_constant(HALF)
    def constant(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        return convert.I16(half_bits(value))


def _install_boxes() -> None:
    """Box and unbox float16 as a Python float.

    Numba generates a wrapper that needs this for every helper function, even if it is not used.
    """
    former_box, former_unbox = boxing.box_float, boxing.unbox_float

    def box(kind: Any, value: Any, c: Any) -> Any:
        if kind != HALF:
            return former_box(kind, value, c)
        wide = c.context.cast(c.builder, value, HALF, types.float64)
        return c.pyapi.float_from_double(wide)

    def unbox(kind: Any, value: Any, c: Any) -> Any:
        if kind != HALF:
            return former_unbox(kind, value, c)
        native = former_unbox(types.float64, value, c)
        narrow = c.context.cast(c.builder, native.value, types.float64, HALF)
        return pythonapi.NativeValue(narrow, is_error=native.is_error)

    pythonapi._boxers.functions[types.Float] = box
    pythonapi._unboxers.functions[types.Float] = unbox


def half_bits(value: Any) -> int:
    """Return the bits of a number as float16.

    >>> hex(half_bits(1.0)), hex(half_bits(-1e9))
    ('0x3c00', '0xfc00')
    """
    with np.errstate(over="ignore"):
        return int(np.float16(value).view(np.uint16))


def _install_casts() -> None:
    @lower_cast(HALF, types.float32)
    def to_single(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return convert.extend(context, builder, value)

    @lower_cast(HALF, types.float64)
    def to_double(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return builder.fpext(convert.extend(context, builder, value), convert.DOUBLE)

    @lower_cast(HALF, types.Integer)
    def to_integer(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return convert.to_integer(builder, convert.extend(context, builder, value), target)

    @lower_cast(types.float32, HALF)
    def from_single(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return convert.shorten(context, builder, value)

    @lower_cast(types.float64, HALF)
    def from_double(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return convert.shorten_double(context, builder, value)

    @lower_cast(types.Integer, HALF)
    def from_integer(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return convert.shorten(context, builder, convert.from_integer(builder, value, source))

    @lower_cast(types.IntegerLiteral, HALF)
    def from_literal(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return convert.I16(half_bits(source.literal_value))


def _template(function: Any, result: Any, count: int) -> None:
    """Register the result type of a function of `count` float16s."""

    class Halves(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if kws or len(args) != count or HALF not in args:
                return None
            if any(a not in _JOINS for a in args):
                return None
            return signature(result, *[HALF] * count)

    # More specific than Numba's own templates, so it is tried first; in kernels and on the host.
    for target in (NAME, "cpu"):
        body = {"metadata": {"target": target}}
        infer_global(function)(type("Halves", (Halves,), body))


def _install_operators() -> None:
    for function in ARITHMETIC:
        _template(function, HALF, 2)
        lower_builtin(function, HALF, HALF)(_by_singles(function))
    for function in COMPARISONS:
        _template(function, types.boolean, 2)
        lower_builtin(function, HALF, HALF)(_by_singles(function, types.boolean))
    for function, change in SIGNS.items():
        _template(function, HALF, 1)
        lower_builtin(function, HALF)(_on_bits(change))
    lower_builtin(bool, HALF)(_on_bits(_is_true))


def negated(builder: Any, bits: Any) -> Any:
    """Return a float16 with its sign flipped."""
    return builder.xor(bits, convert.I16(convert.SIGN))


def magnitude(builder: Any, bits: Any) -> Any:
    """Return a float16 without its sign."""
    return builder.and_(bits, convert.I16(convert.MAGNITUDE))


def _is_true(builder: Any, bits: Any) -> Any:
    return builder.icmp_unsigned("!=", magnitude(builder, bits), convert.I16(0))


def _unchanged(builder: Any, bits: Any) -> Any:
    return bits


SIGNS: dict[Any, Any] = {
    operator.neg: negated,
    operator.pos: _unchanged,
    abs: magnitude,
    float: _unchanged,
}


def _on_bits(change: Any) -> Any:
    def implementation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return change(builder, args[0])

    return implementation


def _by_singles(function: Any, result: Any = None) -> Any:
    """Return an implementation that works in float32 and, without a `result` type, rounds.

    float32 has more than twice the digits of float16, so double rounding is harmless.
    """

    def implementation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [convert.extend(context, builder, a) for a in args]
        made = on_singles(context, builder, function, *values, result=result)
        return made if result is not None else convert.shorten(context, builder, made)

    return implementation


def _install_math() -> None:
    for function in (*FUNCTIONS, *([math.exp2] if hasattr(math, "exp2") else [])):
        _template(function, HALF, 1)
        lower_builtin(function, HALF)(_by_singles(function))
    for rounding, name in ROUNDING.items():
        _template(rounding, HALF, 1)
        lower_builtin(rounding, HALF)(_rounding(name))
    _template(math.fabs, HALF, 1)
    lower_builtin(math.fabs, HALF)(_on_bits(magnitude))


def _rounding(name: str) -> Any:
    def implementation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = convert.intrinsic(builder, name, convert.extend(context, builder, args[0]))
        return convert.shorten(context, builder, value)

    return implementation
