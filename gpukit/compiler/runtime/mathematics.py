"""Functions of Python's math module that Numba's CPU target lacks, or has but slowly."""

from __future__ import annotations

import math

import numpy as np
from numba.core import types
from numba.extending import overload

from gpukit.compiler.runtime.scalars import same_kind
from gpukit.compiler.runtime.tensor import widened

_remainder = types.ExternalFunction("remainder", types.float64(types.float64, types.float64))


@overload(math.fmod)
def _fmod(x, y):  # type: ignore[no-untyped-def]
    return lambda x, y: same_kind(np.fmod(x, y), x)


@overload(math.remainder)
def _ieee_remainder(x, y):  # type: ignore[no-untyped-def]
    return lambda x, y: same_kind(_remainder(x, y), x)


@overload(math.modf)
def _modf(x):  # type: ignore[no-untyped-def]
    def parts(x):  # type: ignore[no-untyped-def]
        if math.isnan(x):
            return same_kind(x, x), same_kind(x, x)
        if math.isinf(x):
            return same_kind(math.copysign(0.0, x), x), same_kind(x, x)
        whole = math.copysign(math.floor(abs(x)), x)
        return same_kind(math.copysign(x - whole, x), x), same_kind(whole, x)

    return parts


def rounded(x, digits):  # type: ignore[no-untyped-def]
    """Round to decimal digits; a float32 in double precision, as a GPU does."""
    raise NotImplementedError


@overload(rounded)
def _rounded(x, digits):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x, digits: types.float32(round(types.float64(x), digits))
    return lambda x, digits: round(x, digits)


def where(condition, x, y):  # type: ignore[no-untyped-def]
    """Return one of two numbers, where Numba's CPU target makes an array of it."""
    raise NotImplementedError


@overload(where)
def _where(condition, x, y):  # type: ignore[no-untyped-def]
    if any(isinstance(kind, types.Array) for kind in (condition, x, y)):
        return lambda condition, x, y: np.where(condition, x, y)
    return lambda condition, x, y: x if condition else y


def tanh(x):  # type: ignore[no-untyped-def]
    """Return the hyperbolic tangent; of a float32 without branches, so that loops are vectors."""
    raise NotImplementedError


@overload(tanh)
def _tanh(x):  # type: ignore[no-untyped-def]
    return _tanh_float32 if x == types.float32 else lambda x: math.tanh(x)


_F = np.float32
_ONE, _TWO, _HALF = _F(1), _F(2), _F(0.5)
_SMALL = _F(0.625)  # up to here a polynomial in x, from here on 1 - 2 / (exp(2 x) + 1)
_LARGE = _F(10)  # from here on it is 1
_STEPS = _F(2 / math.log(2))
_STEP_HIGH, _STEP_LOW = _F(0.693359375), _F(-2.12194440e-4)  # log(2) in two parts
# Fitted here: (tanh(x) / x - 1) / x^2 in powers of x^2, and (exp(r) - 1 - r) / r^2 in those of r.
_S = tuple(
    map(_F, (-0.33333331, 0.13333195, -0.053945377, 0.021692606, -0.0081562763, 0.0021227426))
)
_E = tuple(map(_F, (0.5, 0.16666518, 0.041666202, 0.0083689699, 0.0013950629)))


def _tanh_float32(x):  # type: ignore[no-untyped-def]
    """Within 1.3 units in the last place; CUDA promises 2 of its own."""
    z = x * x
    p = ((((_S[5] * z + _S[4]) * z + _S[3]) * z + _S[2]) * z + _S[1]) * z + _S[0]
    size = abs(x)
    small = size + size * (z * p)
    t = size if size < _LARGE else _LARGE  # NaN too, which comes back below
    k = np.floor(t * _STEPS + _HALF)
    r = (t + t - k * _STEP_HIGH) - k * _STEP_LOW
    q = (((_E[4] * r + _E[3]) * r + _E[2]) * r + _E[1]) * r + _E[0]
    power = widened((np.int32(k) + np.int32(127)) << np.int32(7))  # 2**k, by its exponent
    large = _ONE - _TWO / ((q * (r * r) + r + _ONE) * power + _ONE)
    found = small if size < _SMALL else large
    return x if x != x else math.copysign(found, x)


if hasattr(math, "nextafter"):

    @overload(math.nextafter)
    def _nextafter(x, y):  # type: ignore[no-untyped-def]
        return lambda x, y: same_kind(np.nextafter(x, y), x)
