"""Device functions that the rows of `libdevice_table.py` share."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from gpukit.compiler import intrinsics as cuda
from gpukit.cpu.dispatcher import jit

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)
SQRT_2 = math.sqrt(2)


@jit(device=True)
def round_away(v):
    """Return the nearest whole number, halves away from zero."""
    whole = np.trunc(v)
    if abs(v - whole) >= 0.5:
        return whole + math.copysign(1.0, v)
    return whole


@jit(device=True)
def two_sum_rest(a, b, s):
    """Return the rounding error of s = a + b: the exact sum minus s."""
    t = s - a
    return (a - (s - t)) + (b - t)


@jit(device=True)
def f_down(v, rest):
    """Return the largest float32 that is not above v + rest, where rest is tiny against v."""
    r = np.float32(v)
    d = np.float64(r)
    if d > v or (d == v and rest < 0.0):
        return np.nextafter(r, np.float32(-np.inf))
    return r


@jit(device=True)
def f_up(v, rest):
    """Return the smallest float32 that is not below v + rest."""
    return -f_down(-v, -rest)


@jit(device=True)
def f_zero(v, rest):
    """Return v + rest as float32, rounded towards zero."""
    if v < 0.0:
        return f_up(v, rest)
    return f_down(v, rest)


@jit(device=True)
def d_down(v, rest):
    """Return the largest float64 that is not above v + rest."""
    if rest < 0.0:
        return np.nextafter(v, -np.inf)
    return v


@jit(device=True)
def d_up(v, rest):
    """Return the smallest float64 that is not below v + rest."""
    return -d_down(-v, -rest)


@jit(device=True)
def d_zero(v, rest):
    """Return v + rest as float64, rounded towards zero."""
    if v < 0.0:
        return d_up(v, rest)
    return d_down(v, rest)


@jit(device=True)
def quotient_rest(x, y, q):
    """Return the sign of the rounding error of q = x / y: of the exact quotient minus q."""
    return cuda.fma(-q, y, x) * math.copysign(1.0, y)


@jit(device=True)
def ll_rest(x, v):
    """Return the sign of the int64 x minus v, the nearest float64."""
    if v >= 9223372036854775808.0:
        return -1.0
    return np.float64(x - np.int64(v))


@jit(device=True)
def ull_rest(x, v):
    """Return the sign of the uint64 with the bits of x minus v, the nearest float64."""
    if v >= 18446744073709551616.0:
        return -1.0
    return np.float64(x - np.int64(np.uint64(v)))


@jit(device=True)
def remainder(x, y):
    """Return x minus the nearest multiple of y, exactly; ties go to the even multiple."""
    size = abs(y)
    r = np.fmod(abs(x), size + size)
    if r + r > size:
        r -= size
        if r + r >= size:
            r -= size
    return math.copysign(1.0, x) * r


@jit(device=True)
def ilogb(x):
    """Return the exponent of x as a power of two."""
    if x == 0.0 or x != x:
        return np.int32(-2147483648)
    if math.isinf(x):
        return np.int32(2147483647)
    return np.int32(math.frexp(x)[1] - 1)


@jit(device=True)
def logb(x):
    """Return the exponent of x as a power of two, as a float."""
    if x == 0.0:
        return -np.inf
    if x != x or math.isinf(x):
        return np.float64(abs(x))
    return np.float64(math.frexp(x)[1] - 1)


@jit(device=True)
def half_turn(x):
    """Return x reduced to [-1, 1] by multiples of 2, exactly, with its sign if zero."""
    rest = x - 2.0 * np.rint(x * 0.5)
    return math.copysign(rest, x) if rest == 0.0 else rest


@jit(device=True)
def erfcx(x):
    """Return exp(x * x) * erfc(x), which stays in range where its factors do not."""
    if x < 10.0:
        return math.exp(x * x) * math.erfc(x)
    fraction = x
    for k in range(40, 0, -1):  # the continued fraction of erfc, from its tail
        fraction = x + k * 0.5 / fraction
    return 0.5 * TWO_OVER_SQRT_PI / fraction


@jit(device=True)
def erfcinv(p):
    """Return the x with erfc(x) = p: Abramowitz and Stegun 26.2.22, then Halley's steps."""
    if not 0.0 <= p <= 2.0:
        return np.nan
    if p == 0.0 or p == 2.0:
        return np.inf if p == 0.0 else -np.inf
    tail = p if p < 1.0 else 2.0 - p
    t = math.sqrt(-2.0 * math.log(tail * 0.5))
    x = (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))) / SQRT_2
    for _ in range(3):
        miss = math.erfc(x) - tail
        x += miss / (TWO_OVER_SQRT_PI * math.exp(-x * x) - x * miss)
    return x if p < 1.0 else -x


@jit(device=True)
def erfinv(p):
    """Return the x with erf(x) = p."""
    if abs(p) > 0.5 or p != p:
        return math.copysign(1.0, p) * erfcinv(1.0 - abs(p))
    x = p / TWO_OVER_SQRT_PI
    for _ in range(4):
        miss = math.erf(x) - p
        x -= miss / (TWO_OVER_SQRT_PI * math.exp(-x * x) + x * miss)
    return x


@jit(device=True)
def umul64hi(x, y):
    """Return the high 64 bits of the product of two uint64."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    xl, xh = x & low, x >> half
    yl, yh = y & low, y >> half
    middle = xh * yl + ((xl * yl) >> half)
    rest = xl * yh + (middle & low)
    return xh * yh + (middle >> half) + (rest >> half)


@jit(device=True)
def mul64hi(x, y):
    """Return the high 64 bits of the product of two int64."""
    high = np.int64(umul64hi(np.uint64(x), np.uint64(y)))
    if x < 0:
        high -= y
    if y < 0:
        high -= x
    return high


@jit(device=True)
def byte_perm(x, y, z):
    """Return four bytes picked from the eight of x and y by the digits of z."""
    both = np.uint64(np.uint32(x)) | (np.uint64(np.uint32(y)) << np.uint64(32))
    result = np.uint64(0)
    for i in range(4):
        digit = np.uint64(np.uint32(z) >> np.uint32(4 * i)) & np.uint64(15)
        byte = (both >> ((digit & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
        if digit & np.uint64(8):  # the digit's high bit selects the byte's sign instead
            byte = np.uint64(0xFF) if byte & np.uint64(0x80) else np.uint64(0)
        result |= byte << np.uint64(8 * i)
    return np.int32(np.uint32(result))
