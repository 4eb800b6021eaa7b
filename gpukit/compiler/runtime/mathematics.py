"""Functions of Python's math module that numba-cuda has and Numba's CPU target lacks."""

from __future__ import annotations

import math

import numpy as np
from numba.core import types
from numba.extending import overload

from gpukit.compiler.runtime.scalars import same_kind

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


if hasattr(math, "nextafter"):

    @overload(math.nextafter)
    def _nextafter(x, y):  # type: ignore[no-untyped-def]
        return lambda x, y: same_kind(np.nextafter(x, y), x)
