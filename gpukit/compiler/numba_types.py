"""Numba types of dtypes and signatures. Imports Numba."""

from __future__ import annotations

import ast
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


# What a signature in a text consists of. Numba evaluates it as Python, with all built-in functions.
_OF_SIGNATURES = (
    *(ast.Expression, ast.Call, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Name, ast.Load),
    *(ast.Constant, ast.keyword),
)


def signature(given: Any) -> tuple[tuple[types.Type, ...], types.Type | None]:
    """Return argument types and return type of a signature in any form Numba accepts.

    >>> signature("void(float32[::1], int32)")
    ((Array(float32, 1, 'C', False, aligned=True), int32), none)
    >>> signature("print(1)")
    Traceback (most recent call last):
    TypeError: invalid signature 'print(1)': print is not a type
    """
    if isinstance(given, str):
        _look_at(given)
    arguments, result = sigutils.normalize_signature(given)
    return tuple(arguments), result


def _look_at(text: str) -> None:
    """Raise TypeError for a text that does more than name types of values."""
    # Not text.strip(): a class derived from str could return another text.
    for part in ast.walk(ast.parse(str.strip(text), mode="eval")):
        if not isinstance(part, _OF_SIGNATURES):
            raise TypeError(f"invalid signature {text!r}: it has more than types")
        if isinstance(part, ast.Name):
            found = getattr(types, part.id, None)
            kind = found if isinstance(found, type) else type(found)
            if not issubclass(kind, types.Type) or issubclass(kind, types.Callable):
                raise TypeError(f"invalid signature {text!r}: {part.id} is not a type")
