"""Numba types of dtypes and signatures. Imports Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import sigutils, types
from numba.np import numpy_support

# Types of numbers that Numba and NumPy call by the same names.
NUMBERS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64"),
)
_PYTHON = {int: types.int64, float: types.float64, bool: types.boolean, complex: types.complex128}


def of_dtype(value: Any) -> types.Type:
    """Return the Numba type of array elements for a Numba type, NumPy dtype or Python type.

    >>> of_dtype(np.dtype("f4")), of_dtype("boolean"), of_dtype(int)
    (float32, bool, int64)
    """
    if isinstance(value, types.Type):
        return value
    inner = getattr(value, "dtype", None)
    if isinstance(inner, types.Type):
        return inner
    if value in _PYTHON:
        return _PYTHON[value]
    if value is None:
        raise TypeError("None is not a dtype")
    name = getattr(value, "name", None)
    if isinstance(value, str) or isinstance(name, str):
        found = getattr(types, value if isinstance(value, str) else str(name), None)
        if isinstance(found, types.Type):
            return found
    return numpy_support.from_dtype(np.dtype(value))


def signature(text: Any) -> tuple[tuple[types.Type, ...], types.Type | None]:
    """Return argument types and return type of a signature in any form Numba accepts."""
    arguments, result = sigutils.normalize_signature(text)
    return tuple(arguments), result
