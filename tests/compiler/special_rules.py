"""The rules of the table in `special_values`: expected results, computed in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

KINDS = {
    "b1": np.bool_,
    "i1": np.int8,
    "i2": np.int16,
    "i4": np.int32,
    "i8": np.int64,
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "u8": np.uint64,
    "f2": np.float16,
    "f4": np.float32,
    "f8": np.float64,
}
INTEGERS = [k for k in KINDS if k[0] in "iu"]
INF, NAN = math.inf, math.nan


class Row(NamedTuple):
    """An expression, the types of x, y, z, that of the result, the rule and its source."""

    text: str
    takes: tuple[str, ...]
    gives: str
    rule: Callable[..., Any]
    source: str


# --- Rules ------------------------------------------------------------------------------------


def larger(x: float, y: float) -> float:
    """Return the larger one: a number rather than NaN, +0 rather than -0."""
    if math.isnan(x) or math.isnan(y):
        return y if math.isnan(x) else x
    if x == y == 0:
        return x + y  # -0 only if both are -0
    return max(x, y)


def smaller(x: float, y: float) -> float:
    return -larger(-x, -y)


def compared(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Select the first value until a later one compares as better, which a NaN never does."""

    def chosen(*values: Any) -> Any:
        best = values[0]
        for value in values[1:]:
            best = value if better(value, best) else best
        return best

    return chosen


def cut(kind: str, of_double: bool) -> Callable[[float], int | None]:
    """Truncate and clamp to the range of an integer type."""
    info = np.iinfo(KINDS[kind])

    def whole(x: float) -> int | None:
        if math.isnan(x):
            if info.bits < 16:
                return None
            return low_bits(1 << (info.bits - 1) if of_double or info.bits == 64 else 0, kind)
        inside = math.isfinite(x) and info.min <= int(x) <= info.max
        if info.bits < 16 and not inside:
            return None  # PTX has no conversion to 8 bits: the upper bits are undefined
        return int(x) if inside else int(info.max if x > 0 else info.min)

    return whole


def low_bits(value: int, kind: str) -> int:
    """Return the low bits of an integer as a value of an integer type."""
    info = np.iinfo(KINDS[kind])
    value &= (1 << info.bits) - 1
    return value - (1 << info.bits) if value > info.max else value


def wraps(kind: str, function: Callable[..., int]) -> Callable[..., int]:
    """Compute exactly and return the low bits."""
    return lambda *values: low_bits(function(*map(int, values)), kind)


def divided(x: int, y: int) -> int:
    overflows = x == -(2**63) and y == -1
    return 0 if y == 0 or overflows else x // y


def remaining(x: int, y: int) -> int:
    return x % y if y else 0


def shifted(kind: str, function: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    """Shift as PTX does: the amount is an unsigned 32-bit integer, clamped to the width."""
    bits = np.iinfo(KINDS[kind]).bits

    def shift(x: int, y: int) -> int | None:
        x, y = int(x), int(y)
        if abs(y) >= 2**31:
            return None
        return low_bits(function(x, bits if y < 0 or y > bits else y), kind)

    return shift


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute with NumPy, in the types of the arguments, as IEEE 754 says."""
    return lambda *values: function(*values)


def modulo(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute as Python does if the quotient is small; else the expansion of `frem` decides."""

    def found(x: Any, y: Any) -> Any:
        if y == 0 or not (math.isfinite(x) and math.isfinite(y)) or abs(float(x)) > 1000:
            return None
        return None if abs(float(y)) < 1e-3 else function(x, y)

    return found


def rounded(x: float) -> int:
    """Round half to even, then convert to int64."""
    return cut("i8", True)(x if not math.isfinite(x) else round(float(x)))  # type: ignore[return-value]


def ones(kind: str) -> Callable[[int], int]:
    bits = np.iinfo(KINDS[kind]).bits
    return lambda x: bin(int(x) & ((1 << bits) - 1)).count("1")


def leading_zeros(kind: str) -> Callable[[int], int]:
    bits = np.iinfo(KINDS[kind]).bits
    return lambda x: bits - (int(x) & ((1 << bits) - 1)).bit_length()


def lowest_one(x: int) -> int:
    return (int(x) & -int(x)).bit_length()


def reversed_bits(kind: str) -> Callable[[int], int]:
    bits = np.iinfo(KINDS[kind]).bits
    return lambda x: int(f"{int(x) & ((1 << bits) - 1):0{bits}b}"[::-1], 2)


def on_bits(function: Callable[..., int]) -> Callable[..., int]:
    """Compute with the bits interpreted as unsigned integers."""

    def found(*values: Any) -> int:
        bits = values[0].dtype.itemsize * 8
        whole = function(*(int(v) & ((1 << bits) - 1) for v in values))
        return low_bits(whole, f"i{bits // 8}")

    return found


def after(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    def found(x: Any) -> Any:
        between = first(x)
        return None if between is None else second(between)

    return found


def away(x: Any) -> Any:
    """Round halves away from zero."""
    return x if not math.isfinite(x) else math.copysign(math.floor(abs(float(x)) + 0.5), x)


def saturated(x: Any) -> Any:
    """CUDA Math API saturatef: NaN gives 0. The result for -0 is unspecified."""
    return None if x == 0 else 0.0 if math.isnan(x) or x < 0 else min(x, 1.0)


def exponent(x: Any) -> int:
    """CUDA Math API ilogb: INT_MIN for 0 and NaN, INT_MAX for an infinity."""
    if x == 0 or not math.isfinite(x):
        return 2**31 - 1 if math.isinf(x) else -(2**31)
    return math.frexp(float(x))[1] - 1


def fraction(x: Any) -> Any:
    """CUDA Math API frexp: zeros, infinities and NaN are returned unchanged."""
    return math.frexp(float(x))[0] if math.isfinite(x) else x


def exponent_of_fraction(x: Any) -> int | None:
    """CUDA Math API frexp: unspecified for infinities and NaN."""
    return math.frexp(float(x))[1] if math.isfinite(x) else None


def fractional_part(x: Any) -> Any:
    """CUDA Math API modf: the sign is that of x; zero for an infinity."""
    if math.isnan(x):
        return x
    return math.copysign(0.0 if math.isinf(x) else abs(float(x)) % 1.0, x)


def times_power(x: Any, n: Any) -> Any:
    """Return x * 2**n, or None if the result is subnormal and inexact."""
    if x == 0 or not math.isfinite(x):
        return x
    kind, (m, e) = np.finfo(type(x)), math.frexp(float(x))
    if e + int(n) > kind.maxexp:
        return math.copysign(INF, x)
    if e + int(n) < kind.minexp + 1:
        return math.copysign(0.0, x) if e + int(n) < kind.minexp - kind.nmant - 2 else None
    return math.ldexp(m, e + int(n))


def whole_power(x: Any, n: Any) -> Any:
    """Return powers that no order of multiplications can change: of 0, 1, NaN, infinities."""
    n = int(n)
    if n == 0:
        return 1.0
    if math.isnan(x):
        return x
    if abs(float(x)) in (0.0, 1.0, INF) and abs(n) < 2**31:
        size = {0.0: 0.0, 1.0: 1.0, INF: INF}[abs(float(x))]
        size = size if n > 0 else {0.0: INF, 1.0: 1.0, INF: 0.0}[size]
        return math.copysign(size, x) if n % 2 else size
    return None


def short_power(x: Any, n: Any) -> Any:
    return whole_power(x, max(int(n), -7))


def propagating(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def chosen(x: Any, y: Any) -> Any:
        return NAN if math.isnan(x) or math.isnan(y) else x if better(x, y) else y

    return chosen


def ignoring(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def chosen(x: Any, y: Any) -> Any:
        if math.isnan(x) or math.isnan(y):
            return y if math.isnan(x) else x
        return x if better(x, y) else y

    return chosen
