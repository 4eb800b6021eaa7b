"""Results of expressions on a GPU at the edges of the types: the table of `test_special_values`.

A row has an expression of x, y, z, their types, the type of the result, a rule that computes the
result, and the source of the rule. "PTX" is NVIDIA's *PTX ISA*; the instruction is the one that
numba-cuda 0.30.4 emits (`cuda.compile_ptx` for compute capability 9.0). "CUDA Math API" is
NVIDIA's page of the libdevice function that numba-cuda calls. A rule returns None, and nothing is
asserted, where neither source defines the result, or where numba-cuda and its successor
numba-cuda-mlir 0.6 emit instructions with different results.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.compiler import special_functions
from tests.compiler.special_rules import (
    INF,
    INTEGERS,
    KINDS,
    NAN,
    Row,
    compared,
    cut,
    divided,
    exact,
    larger,
    leading_zeros,
    lowest_one,
    modulo,
    ones,
    remaining,
    reversed_bits,
    rounded,
    shifted,
    smaller,
    wraps,
)

# --- Rows: numbers ----------------------------------------------------------------------------

_MAX = "PTX max: a number rather than NaN, +0 above -0 (numba-cuda calls __nv_fmax)"
_CHAIN = "numba-cuda: one setp.gt (.lt) and selp per value; a comparison with NaN is false"
_CVT = "PTX cvt.rzi: clamped; NaN gives 0, or 1 << (bits - 1) where either is of 64 bits"
_IEEE = "PTX add, sub, mul, div.rn: IEEE 754"
_INT = "PTX add.s64, sub.s64, mul.lo.s64: overflow wraps"
_DIV = "numba-cuda's own code around div.s64: 0 where the divisor is 0, and of minimum // -1"


def _floats() -> list[Row]:
    rows = []
    for a in ("f4", "f8"):
        for b in ("f4", "f8"):
            wider = max(a, b)
            rows += [
                Row("max(x, y)", (a, b), wider, larger, _MAX),
                Row("min(x, y)", (a, b), wider, smaller, _MAX),
            ]
        rows += [
            Row("max(x, y, z)", (a, a, a), a, compared(operator.gt), _CHAIN),
            Row("min(x, y, z)", (a, a, a), a, compared(operator.lt), _CHAIN),
            Row("max((x, y))", (a, a), a, compared(operator.gt), _CHAIN),
            Row("min((x, y))", (a, a), a, compared(operator.lt), _CHAIN),
            Row("max(x, 1.0)", (a,), "f8", lambda x: larger(x, 1.0), _MAX),
            Row("min(1.0, x)", (a,), "f8", lambda x: smaller(1.0, x), _MAX),
            Row("int(x)", (a,), "i8", cut("i8", a == "f8"), _CVT),
            Row("round(x)", (a,), "i8", rounded, "PTX cvt.rni.s64.f64 (__nv_llrint)"),
            Row("bool(x)", (a,), "b1", lambda x: bool(x != 0), "PTX setp.neu: NaN is true"),
            Row("not x", (a,), "b1", lambda x: bool(x == 0), "PTX setp.eq: NaN is not 0"),
            Row("-x", (a,), a, exact(np.negative), "PTX neg: changes only the sign"),
            Row("abs(x)", (a,), a, exact(np.abs), "PTX abs: changes only the sign"),
            Row("x % y", (a, a), a, modulo(operator.mod), "numba-cuda's real_mod"),
            Row("x // y", (a, a), a, modulo(operator.floordiv), "numba-cuda's real_floordiv"),
            Row("math.copysign(x, y)", (a, a), a, exact(np.copysign), "PTX copysign"),
            Row("cuda.fma(x, y, z)", (a, a, a), a, _fused, "PTX fma.rn: IEEE 754"),
        ]
        rows += [
            Row("x ** -2", (a,), a, _reciprocal(2), "PTX mul, rcp.rn: nothing is raised"),
            Row("x ** -1", (a,), a, _reciprocal(1), "PTX rcp.rn: nothing is raised"),
        ]
        for op in ("+", "-", "*", "/"):
            function = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
            rows.append(Row(f"x {op} y", (a, a), a, exact(function), _IEEE))
        for op in ("<", "<=", ">", ">=", "==", "!="):
            rule = eval(f"lambda x, y: bool(x {op} y)")
            rows.append(Row(f"x {op} y", (a, a), "b1", rule, "PTX setp: false of NaN, neu true"))
        for kind in INTEGERS:
            name = KINDS[kind].__name__
            rule = cut(kind, a == "f8")
            rows.append(Row(f"np.{name}(x)", (a,), kind, rule, _CVT))
            rows.append(Row("x", (a,), kind, rule, f"{_CVT} (a store converts)"))
    return rows


def _reciprocal(power: int) -> Callable[[Any], Any]:
    return lambda x: type(x)(1) / (x * x if power == 2 else x)


def _fused(x: Any, y: Any, z: Any) -> Any:
    """Return x * y + z where it needs no rounding: NaN, infinities, zeros, small whole numbers."""
    plain = type(x)(x * y + z)
    small = all(abs(float(v)) <= 3 and float(v * 2).is_integer() for v in (x, y, z) if v == v)
    return plain if small or not math.isfinite(float(x) + float(y) + float(z)) else None


def _whole_numbers() -> list[Row]:
    rows = []
    for kind in INTEGERS:
        signed = kind[0] == "i"
        wide = "i8" if signed else "u8"
        rows += [
            Row("max(x, y)", (kind, kind), kind, compared(operator.gt), "PTX max.s64, max.u64"),
            Row("min(x, y)", (kind, kind), kind, compared(operator.lt), "PTX min.s64, min.u64"),
            Row("x + y", (kind, kind), wide, wraps(wide, operator.add), _INT),
            Row("x - y", (kind, kind), wide, wraps(wide, operator.sub), _INT),
            Row("x * y", (kind, kind), wide, wraps(wide, operator.mul), _INT),
            Row("x // y", (kind, kind), wide, wraps(wide, divided), _DIV),
            Row("x % y", (kind, kind), wide, wraps(wide, remaining), _DIV),
            Row("divmod(x, y)[0]", (kind, kind), wide, wraps(wide, divided), _DIV),
            Row("x << y", (kind, kind), wide, shifted(wide, operator.lshift), "PTX shl.b64"),
            Row("x >> y", (kind, kind), wide, shifted(wide, operator.rshift), "PTX shr.s64"),
            Row("x / y", (kind, kind), "f8", _quotient, "PTX cvt.rn.f64, div.rn.f64"),
            Row("cuda.popc(x)", (kind,), "i4", ones(kind), "PTX popc, of the bits of the type"),
            Row(
                "cuda.clz(x)",
                (kind,),
                "i4",
                leading_zeros(kind),
                "PTX clz, of the bits of the type",
            ),
            Row("float(x)", (kind,), "f8", lambda x: np.float64(x), "PTX cvt.rn.f64"),
            Row("np.float32(x)", (kind,), "f4", lambda x: np.float32(x), "PTX cvt.rn.f32"),
        ]
        if kind in ("i4", "i8"):
            rows.append(
                Row("x ** -2", (kind,), "i8", _whole_reciprocal, "numba-cuda's static_power")
            )
        if signed:
            rows.append(Row("-x", (kind,), "i8", wraps(kind, operator.neg), "PTX neg, of the type"))
            rows.append(Row("abs(x)", (kind,), kind, wraps(kind, abs), "PTX abs.s64"))
        if kind in ("i4", "i8", "u4", "u8"):
            rows.append(
                Row("cuda.ffs(x)", (kind,), "i4", lowest_one, "CUDA Math API __ffs: 0 of 0")
            )
        if kind in ("u4", "u8", "i4"):
            rows.append(Row("cuda.brev(x)", (kind,), "u8", reversed_bits(kind), "PTX brev"))
    return rows


def _whole_reciprocal(x: int) -> int:
    return -(2**63) if x == 0 else int(abs(int(x)) == 1)


def _quotient(x: Any, y: Any) -> Any:
    return np.divide(np.float64(x), np.float64(y))


def _mixed() -> list[Row]:
    return [
        Row("max(x, y)", ("i4", "u4"), "i8", compared(operator.gt), "PTX max.s64"),
        Row("min(x, y)", ("i4", "u4"), "i8", compared(operator.lt), "PTX min.s64"),
        Row("max(x, y)", ("i4", "f4"), "f8", compared(operator.gt), _CHAIN),
        Row("max(x, y)", ("i8", "f8"), "f8", _of_doubles(operator.gt), _CHAIN),
        Row("min(x, y)", ("i8", "f8"), "f8", _of_doubles(operator.lt), _CHAIN),
        # numba-cuda-mlir emits max.f32 here, too, which differs if the NaN is on the left.
        Row("max(x, y)", ("f4", "i4"), "f8", _number_first(operator.gt), _CHAIN),
        Row("min(x, y)", ("f8", "i8"), "f8", _number_first(operator.lt), _CHAIN),
        Row("max(x, 1)", ("f4",), "f8", lambda x: _number_first(operator.gt)(x, 1), _CHAIN),
    ]


def _of_doubles(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    return lambda x, y: compared(better)(np.float64(x), np.float64(y))


def _number_first(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    return lambda x, y: None if math.isnan(x) else _of_doubles(better)(x, y)


ROWS = [*_floats(), *_whole_numbers(), *_mixed(), *special_functions.rows()]

# --- Inputs -----------------------------------------------------------------------------------


def inputs(takes: tuple[str, ...]) -> list[Any]:
    """Return arrays of all combinations of special values of these types."""
    chosen = [_special(kind, few=len(takes) > 2) for kind in takes]
    return [a.ravel() for a in np.meshgrid(*chosen, indexing="ij")]


def _special(kind: str, *, few: bool) -> Any:
    dtype: Any = KINDS[kind]
    if kind[0] != "f":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max - 1, info.max, info.max // 2]
        small = [v for v in (-3, -2, -1, 0, 1, 2, 3, 7, 31, 32, 63, 64, 65) if info.min <= v]
        return np.unique(np.array([*near, *small], dtype))
    info = np.finfo(dtype)
    signs = [0.0, 0.5, 1.0, 2.0, 2.5, 3.0, INF]
    if not few:
        signs += [
            info.smallest_subnormal,
            info.tiny,
            info.max,
            100.7,
            255.0,
            300.0,
            40000.0,
            70000.0,
        ]
        signs += [2.0**e for e in (31, 32, 53, 62, 63, 64)] if kind != "f2" else []
    with np.errstate(over="ignore"):
        return np.array([NAN, *(s * v for v in signs for s in (1, -1))], dtype)
