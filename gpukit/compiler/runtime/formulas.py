"""Trace formulas written with Python's operators to branch-free functions of LLVM IR.

A formula is a Python function of `Number`s. It is traced once per process; kernels that use it get
the IR as text, always inlined, so that LLVM vectorises the loops around it. Under `fastmath` Numba
allows LLVM to reassociate arithmetic, which would ruin a formula; it does not modify the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from gpukit.compiler.runtime import half_convert as convert

SINGLE, DOUBLE = convert.SINGLE, convert.DOUBLE
_BITS = {SINGLE: ir.IntType(32), DOUBLE: ir.IntType(64)}
_REALS = {bits: real for real, bits in _BITS.items()}
Formula = Callable[..., "Number"]


class Number:
    """A float32, float64, int32, int64 or boolean value of LLVM IR; integers are unsigned."""

    def __init__(self, builder: Any, value: Any, fused: bool) -> None:
        self.builder, self.value, self.fused = builder, value, fused

    def _new(self, value: Any) -> Number:
        return Number(self.builder, value, self.fused)

    def _ir(self, other: Any) -> Any:
        return other.value if isinstance(other, Number) else ir.Constant(self.value.type, other)

    def like(self, constant: float) -> Number:
        """Return a constant of this type."""
        return self._new(self._ir(constant))

    def _do(self, real: str, whole: str, other: Any, swap: bool = False) -> Number:
        operation = getattr(self.builder, real if self.value.type in _BITS else whole)
        operands = (self.value, self._ir(other))
        return self._new(operation(*(operands[::-1] if swap else operands)))

    def _compare(self, op: str, other: Any) -> Number:
        real = self.value.type in _BITS
        compare = self.builder.fcmp_ordered if real else self.builder.icmp_unsigned
        return self._new(compare(op, self.value, self._ir(other)))

    def __add__(self, other: Any) -> Number:
        return self._do("fadd", "add", other)

    def __radd__(self, other: Any) -> Number:
        return self._do("fadd", "add", other, swap=True)

    def __sub__(self, other: Any) -> Number:
        return self._do("fsub", "sub", other)

    def __rsub__(self, other: Any) -> Number:
        return self._do("fsub", "sub", other, swap=True)

    def __mul__(self, other: Any) -> Number:
        return self._do("fmul", "mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Number:
        return self._do("fdiv", "udiv", other)

    def __rtruediv__(self, other: Any) -> Number:
        return self._do("fdiv", "udiv", other, swap=True)

    def __and__(self, other: Any) -> Number:
        return self._do("", "and_", other)

    def __or__(self, other: Any) -> Number:
        return self._do("", "or_", other)

    def __xor__(self, other: Any) -> Number:
        return self._do("", "xor", other)

    def __lshift__(self, places: int) -> Number:
        return self._do("", "shl", places)

    def __rshift__(self, places: int) -> Number:
        return self._do("", "lshr", places)

    def __lt__(self, other: Any) -> Number:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Number:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Number:
        return self._compare(">", other)

    def equals(self, other: Any) -> Number:
        return self._compare("==", other)

    def _call(self, name: str, *others: Any) -> Number:
        operands = [self.value, *map(self._ir, others)]
        kind = self.value.type
        signature = ir.FunctionType(kind, [kind] * len(operands))
        called = self.builder.module.declare_intrinsic(name, [kind], signature)
        return self._new(self.builder.call(called, operands))

    def __abs__(self) -> Number:
        return self._call("llvm.fabs")

    def rint(self) -> Number:
        """Round to the nearest integer, ties to even."""
        return self._call("llvm.rint")

    def sqrt(self) -> Number:
        return self._call("llvm.sqrt")

    def signed_as(self, other: Any) -> Number:
        return self._call("llvm.copysign", other)

    def bits(self) -> Number:
        return self._new(self.builder.bitcast(self.value, _BITS[self.value.type]))

    def real(self) -> Number:
        """Return the float with these bits."""
        return self._new(self.builder.bitcast(self.value, _REALS[self.value.type]))

    def double(self) -> Number:
        return self._new(self.builder.fpext(self.value, DOUBLE))

    def single(self) -> Number:
        return self._new(self.builder.fptrunc(self.value, SINGLE))

    def times_plus(self, factor: Number | float, addend: Number | float) -> Number:
        """Return self * factor + addend, rounded once for float32s, for float64s if FMA is fast."""
        if self.fused:
            return self._call("llvm.fma", factor, addend)
        if self.value.type == DOUBLE:
            return self * factor + addend
        factor, addend = (self._new(self._ir(v)).double() for v in (factor, addend))
        return self.double().times_plus(factor, addend).single()

    def bounded(self, low: float, high: float) -> Number:
        """Clamp to a range; NaN stays NaN."""
        above = select(self < low, low, self)
        return select(above > high, high, above)


def select(condition: Number, yes: Any, no: Any) -> Number:
    """Return `yes` where the condition holds, else `no`; both are computed."""
    kind = yes if isinstance(yes, Number) else no
    return kind._new(condition.builder.select(condition.value, kind._ir(yes), kind._ir(no)))


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """Return coefficients[0] + coefficients[1] * x + ..."""
    *rest, last, highest = coefficients
    result = x.times_plus(highest, last)
    for coefficient in reversed(rest):
        result = result.times_plus(x, coefficient)
    return result


class _Written(ir.Function):
    """A function given as LLVM IR text."""

    text = ""

    def __str__(self) -> str:
        return self.text


def call(context: Any, builder: Any, formula: Formula, values: Sequence[Any]) -> Any:
    """Return the value of a formula for float32 arguments."""
    module, name = builder.module, f"gpukit_{formula.__name__}"
    function = module.globals.get(name)
    if function is None:
        text, used = trace(formula, len(values), convert.in_hardware(context, "fma"))
        for called in used:
            cgutils.get_or_insert_function(module, called.ftype, called.name)
        function = _Written(module, ir.FunctionType(SINGLE, [SINGLE] * len(values)), name)
        function.text = text
    return builder.call(function, values)


@functools.cache
def trace(formula: Formula, count: int, fused: bool) -> tuple[str, list[Any]]:
    """Return the LLVM IR text of a formula, and the functions that it calls.

    `fused` tells whether the processor has FMA instructions.
    """
    module = ir.Module()
    signature = ir.FunctionType(SINGLE, [SINGLE] * count)
    function = ir.Function(module, signature, f"gpukit_{formula.__name__}")
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(formula(*(Number(builder, a, fused) for a in function.args)).value)
    return str(function), [f for f in module.functions if f is not function]


def function(formula: Formula) -> Any:
    """Return a formula of one number as a function that Numba code can call."""

    @intrinsic
    def of_float32(typingctx, x):  # type: ignore[no-untyped-def]
        if x != types.float32:
            raise TypingError(f"{formula.__name__} has a formula for float32, not for {x}")
        return x(x), lambda context, builder, _, args: call(context, builder, formula, args)

    return of_float32
