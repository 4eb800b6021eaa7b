"""CUDA's float32 functions as branch-free formulas (`formulas`), so that loops vectorise.

exp, exp2 and tanh are computed in float32, for speed. All others are computed in float64, where a
short formula is accurate enough, and rounded once. CUDA's error bounds of each function, and the
errors of the formulas over all arguments: docs/mathematics.md.
"""

from __future__ import annotations

import math
from typing import Any

from gpukit.compiler.runtime.formulas import Number, polynomial, select

INF, NAN = math.inf, math.nan
LN2 = math.log(2)
ONE64 = 0x3FF << 52  # the bits of 1.0
SIGN32, SIGN64 = 1 << 31, 1 << 63
# Added to a small number, this leaves the nearest integer in the lowest bits.
WHOLE32, WHOLE64 = 1.5 * 2.0**23, 1.5 * 2.0**52

# --- Powers ----------------------------------------------------------------------------------

LN2_HIGH = 0.693359375  # a few bits, then the rest
LN2_LOW = LN2 - LN2_HIGH
# The first two coefficients of the series, then a fit of (exp(x) - 1 - x) / x^2.
EXP = [1.0, 1.0, 0.49999994, 0.166665211, 0.0416682661, 0.0083686756, 0.00138206896]
EXP2 = [c * LN2**k for k, c in enumerate(EXP)]
EXPM1 = [LN2**k / math.factorial(k) for k in range(1, 10)]
# The lowest bits are exponent + bias of a power of two, as in floats; for float32 twice the bias.
POWER32, POWER64 = WHOLE32 + 254, WHOLE64 + 1023


def exp(x: Number) -> Number:
    return _times_power(*_power(x.bounded(-104.0, 89.0)))


def exp2(x: Number) -> Number:
    x = x.bounded(-151.0, 129.0)
    whole = x + POWER32
    return _times_power(polynomial(x - (whole - POWER32), EXP2), whole.bits())


def _power(x: Number) -> tuple[Number, Number]:
    """Return e**x as a float32 near 1, and bits whose lowest are 254 + the exponent of 2."""
    whole = x.times_plus(1 / LN2, POWER32)
    k = whole - POWER32
    rest = k.times_plus(-LN2_LOW, k.times_plus(-LN2_HIGH, x))
    return polynomial(rest, EXP), whole.bits()


def _times_power(x: Number, k: Number) -> Number:
    """Return x * 2**(k - 254) in two steps, because that power may be out of range."""
    half = k >> 1
    return x * (half << 23).real() * ((k - half) << 23).real()


def _power_of_two(t: Number) -> tuple[Number, Number]:
    """Return float64s m and p such that 2**t = (1 + m) * p, m exact where t is near 0."""
    whole = t + POWER64
    rest = t - (whole - POWER64)
    return rest * polynomial(rest, EXPM1), (whole.bits() << 52).real()


def _exp2(t: Number) -> Number:
    more, power = _power_of_two(t.bounded(-400.0, 400.0))
    return more.times_plus(power, power)


def _expm1(x: Number) -> Number:
    more, power = _power_of_two((x * (1 / LN2)).bounded(-400.0, 400.0))
    return more.times_plus(power, power - 1.0)


def expm1(x: Number) -> Number:
    return _expm1(x.double()).single().signed_as(x)


def sinh(x: Number) -> Number:
    more = _expm1(abs(x).double())
    return ((more + more / (more + 1.0)) * 0.5).single().signed_as(x)


def cosh(x: Number) -> Number:
    power = _exp2(abs(x).double() * (1 / LN2))
    return ((power + 1.0 / power) * 0.5).single()


# (tanh(x) / x - 1) / x^2 in powers of x^2, fitted here.
TANH = [-0.33333331, 0.13333195, -0.053945377, 0.021692606, -0.0081562763, 0.0021227426]


def tanh(x: Number) -> Number:
    size = abs(x)
    square = x * x
    small = (square * polynomial(square, TANH)).times_plus(size, size)
    near_one, k = _power((size + size).bounded(0.0, 20.0))
    power = near_one.times_plus(((k - 127) << 23).real(), 1.0)
    return select(size < 0.625, small, 1.0 - 2.0 / power).signed_as(x)


# --- Logarithms ------------------------------------------------------------------------------

ROOT_HALF = 0x3FE6A09E << 32  # bits just below those of sqrt(0.5)
LOG = [2 / (2 * k + 1) for k in range(9)]


def _log(x: Number, unit: float = 1.0, less_one: Number | None = None) -> Number:
    """Return log(x) * unit of a float64; `less_one` is x - 1 if x is rounded."""
    exponent = (x.bits() + (ONE64 - ROOT_HALF)) >> 52
    mantissa = (x.bits() - (exponent << 52) + ONE64).real()
    k = (exponent | 0x433 << 52).real() - (2.0**52 + 1023)
    above = mantissa - 1.0
    if less_one is not None:
        above = select(k.equals(0.0), less_one, above)
    s = above / (above + 2.0)
    series = s * polynomial(s * s, [c * unit for c in LOG])
    found = k.times_plus(LN2 * unit, series)
    found = select(x.equals(INF), INF, found)
    return select(x > 0.0, found, select(x.equals(0.0), x.like(-INF), NAN))


def log(x: Number) -> Number:
    return _log(x.double()).single()


def log2(x: Number) -> Number:
    return _log(x.double(), 1 / LN2).single()


def log10(x: Number) -> Number:
    return _log(x.double(), 1 / math.log(10)).single()


def _log1p(x: Number) -> Number:
    return _log(x + 1.0, less_one=x)


def log1p(x: Number) -> Number:
    return _log1p(x.double()).single().signed_as(x)


def asinh(x: Number) -> Number:
    size = abs(x).double()
    square = size * size
    found = _log1p(size + square / ((square + 1.0).sqrt() + 1.0))
    return select(size < INF, found, size).single().signed_as(x)


def acosh(x: Number) -> Number:
    above = x.double() - 1.0
    return _log1p(above + above.sqrt() * (above + 2.0).sqrt()).single()


def atanh(x: Number) -> Number:
    size = abs(x).double()
    return (_log1p(2.0 * size / (1.0 - size)) * 0.5).single().signed_as(x)


# --- Powers and roots ------------------------------------------------------------------------


def pow(x: Number, y: Number) -> Number:
    """Return x**y as in C: pow(x, 0) and pow(1, y) are 1 even for NaN, and so is pow(-1, inf)."""
    size, exponent = abs(x), y.double().bounded(-1e300, 1e300)  # inf times log(1) would be NaN
    found = _exp2(_log(size.double(), 1 / LN2) * exponent).single()
    whole, half = y.rint().equals(y), y * 0.5
    odd = whole & (half.rint().equals(half) ^ 1)
    found = (found.bits() ^ select(odd, x.bits() & SIGN32, 0)).real()
    found = select((x < 0.0) & (size < INF) & (whole ^ 1), NAN, found)
    return select(y.equals(0.0) | x.equals(1.0), 1.0, found)


def cbrt(x: Number) -> Number:
    return _exp2(_log(abs(x).double(), 1 / LN2 / 3)).single().signed_as(x)


def rsqrt(x: Number) -> Number:
    return 1.0 / x.sqrt()


def hypot(x: Number, y: Number) -> Number:
    a, b = x.double(), y.double()
    found = (a * a + b * b).sqrt().single()
    return select(abs(x).equals(INF), INF, select(abs(y).equals(INF), INF, found))


# --- Angles ----------------------------------------------------------------------------------

DIGITS = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE  # 2 / pi, 200 bits of fraction
SIN = [(-1) ** k * (math.pi / 2) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(6)]
COS = [(-1) ** k * (math.pi / 2) ** (2 * k) / math.factorial(2 * k) for k in range(6)]


def _window(start: int) -> list[float]:
    """Return 2 / pi from bit `start` on, in parts: 28 bits, 28 bits, the rest.

    A float32 times one of the first two is exact in float64.
    """
    return [
        math.ldexp((DIGITS & (1 << left) - 1) >> (left - more), left - more - 200)
        for left, more in ((200 - start, 28), (172 - start, 28), (144 - start, 53))
    ]


def _quarters(x: Number) -> tuple[Number, Number]:
    """Return an angle >= 0 in quarter turns: the nearest integer, modulo 4, and the remainder.

    The leading bits of 2 / pi that contribute only whole turns are left out, so that the product is
    exact to 2**-57 for all arguments. No float32 is nearer to an integer than 2**-31.
    """
    parts: list[Any] = _window(0)
    for start in range(22, 89, 22):
        large = x > 2.0 ** (start + 26)
        further = zip(_window(start), parts, strict=True)
        parts = [select(large, x.like(new), old) for new, old in further]
    high, low = x * parts[0], x * parts[1]
    product = high + low
    whole = product + WHOLE64
    rest = (product - (whole - WHOLE64)) + x.times_plus(parts[2], (high - product) + low)
    return whole.bits(), rest


def _sine_and_cosine(quarters: Number) -> tuple[Number, Number]:
    square = quarters * quarters
    return quarters * polynomial(square, SIN), polynomial(square, COS)


def _sine(quarters: Number, rest: Number, sign: Number | int = 0) -> Number:
    sine, cosine = _sine_and_cosine(rest)
    found = select((quarters & 1).equals(0), sine, cosine)
    return (found.bits() ^ ((quarters << 62) & SIGN64) ^ sign).real().single()


def sin(x: Number) -> Number:
    x = x.double()
    return _sine(*_quarters(abs(x)), x.bits() & SIGN64)


def cos(x: Number) -> Number:
    quarters, rest = _quarters(abs(x).double())
    return _sine(quarters + 1, rest)


def tan(x: Number) -> Number:
    quarters, rest = _quarters(abs(x).double())
    sine, cosine = _sine_and_cosine(rest)
    even = (quarters & 1).equals(0)
    found = select(even, sine, cosine) / select(even, cosine, 0.0 - sine)
    return (found.single().bits() ^ (x.bits() & SIGN32)).real()


# atan(x) / x in powers of x^2 up to 1, fitted here.
ATAN = [
    0.9999999999409,
    -0.3333333157103,
    0.1999991204736,
    -0.1428398069974,
    0.1109324079869,
    -0.08980236991737,
    0.07245712221784,
    -0.05427899350437,
    0.03420947052253,
    -0.01611157673812,
    0.004850889375615,
    -0.0006847842984256,
]


def _atan2(y: Number, x: Number) -> Number:
    above, beside = abs(y), abs(x)
    steep = beside < above
    low, high = select(steep, beside, above), select(steep, above, beside)
    ratio = select(low.equals(high), select(low.equals(0.0), low, 1.0), low / high)
    angle = ratio * polynomial(ratio * ratio, ATAN)
    angle = select(steep, math.pi / 2 - angle, angle)
    left = (x.bits() >> 63).equals(1)
    return select(left, math.pi - angle, angle).signed_as(y)


def atan2(y: Number, x: Number) -> Number:
    return _atan2(y.double(), x.double()).single()


def atan(x: Number) -> Number:
    return _atan2(x.double(), x.like(1.0).double()).single()


def asin(x: Number) -> Number:
    x = x.double()
    return _atan2(x, ((1.0 - x) * (1.0 + x)).sqrt()).single()


def acos(x: Number) -> Number:
    x = x.double()
    return _atan2(((1.0 - x) * (1.0 + x)).sqrt(), x).single()


# --- The error function ----------------------------------------------------------------------

# erf(x) / x for x up to 4, in powers of x^2 / 8 - 1, fitted here.
ERF = [
    0.353530995659,
    -0.176576235267,
    0.131675112901,
    -0.10771031864,
    0.0902090823598,
    -0.0747301072337,
    0.0598862702987,
    -0.0457468000178,
    0.0330618236543,
    -0.0225539660898,
    0.014355054967,
    -0.00840079820947,
    0.00482108948296,
    -0.00289118152896,
    0.00136267768984,
    -0.000336360208801,
    0.000199442414148,
    -0.000243817884611,
    8.80318734108e-05,
]
# exp(x^2) erfc(x) for x from 0 to 10.3, in powers of (3 - x) / (3 + x), fitted here.
ERFCX = [
    0.179001151181,
    0.3262335601473,
    0.245603801935,
    0.150115930974,
    0.07166582932152,
    0.02439258434312,
    0.004269210383579,
    -0.0007083266125242,
    -0.0005972752379718,
    -4.327285326079e-05,
    6.393426824272e-05,
    9.577956258204e-06,
    -6.70583872703e-06,
]


def erf(x: Number) -> Number:
    x = x.bounded(-4.0, 4.0).double()
    return (x * polynomial((x * x).times_plus(0.125, -1.0), ERF)).single()


def erfc(x: Number) -> Number:
    size = abs(x).double().bounded(0.0, 10.3)
    tail = polynomial((3.0 - size) / (3.0 + size), ERFCX) * _exp2(size * size * (-1 / LN2))
    return select(x < 0.0, 2.0 - tail, tail).single()
