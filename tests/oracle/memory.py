"""Arrays in a kernel: bounds checks, stores that convert as C does, atomics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.oracle.arithmetic import UNDEFINED, Undefined, UndefinedValue, cast

__all__ = ["OutOfBounds", "UndefinedValue", "View", "atomic", "poisoned", "to_dtype"]


class OutOfBounds(Exception):
    """An index outside its array."""


def to_dtype(spec: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of a dtype in a kernel: NumPy's, Numba's or a name."""
    if type(spec).__module__.startswith("numba"):
        from numba.np.numpy_support import as_dtype

        return as_dtype(spec)
    return np.dtype(spec)


def poisoned(shape: Any, dtype: Any) -> View:
    """Return an uninitialised array, filled with a poison pattern."""
    array = np.empty(shape, to_dtype(dtype))
    array.view(np.uint8)[...] = 0xA5
    return View(array)


class View:
    """A NumPy array with the checks of a kernel's accesses."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.shape, self.ndim, self.size = array.shape, array.ndim, array.size
        self.dtype, self.strides = array.dtype, array.strides

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def _index(self, key: Any) -> tuple[Any, ...]:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > self.ndim:
            raise OutOfBounds(f"{len(parts)} indices for an array of {self.ndim} dimensions")
        return tuple(self._axis(axis, part) for axis, part in enumerate(parts))

    def _axis(self, axis: int, part: Any) -> Any:
        if isinstance(part, slice):
            return part
        index, size = part.__index__(), self.shape[axis]
        if not -size <= index < size:
            raise OutOfBounds(f"index {index} on axis {axis} of shape {self.shape}")
        return index

    def __getitem__(self, key: Any) -> Any:
        found = self.array[self._index(key)]
        return View(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        index = self._index(key)
        if isinstance(value, View):
            self.array[index] = value.array
        elif isinstance(value, Undefined) or self.dtype.kind in "biuf":
            self.array[index] = cast(self.dtype, value)
        else:
            self.array[index] = value

    def reshape(self, *shape: Any) -> View:
        return View(self.array.reshape(*shape))


def _minmax(op: str, old: Any, value: Any) -> Any:
    if old != old:
        return value if op.startswith("nan") else old
    if value != value:
        return old
    return max(old, value) if op.endswith("max") else min(old, value)


def _combine(op: str, old: Any, value: Any) -> Any:
    if op in ("add", "sub", "exch") and isinstance(old, np.floating):
        return {"add": old + value, "sub": old - value, "exch": value}[op]
    if op in ("max", "min", "nanmax", "nanmin"):
        return _minmax(op, old, value)
    a, b = int(old), int(value)
    integer = {
        "add": a + b,
        "sub": a - b,
        "exch": b,
        "and_": a & b,
        "or_": a | b,
        "xor": a ^ b,
        "inc": 0 if a >= b else a + 1,
        "dec": b if a == 0 or a > b else a - 1,
    }
    return integer[op]


def atomic(op: str, array: View, *args: Any) -> Any:
    """Perform one atomic operation and return the old value."""
    if op == "compare_and_swap":
        op, args = "cas", ((0,) * array.ndim, *args)
    if any(a is UNDEFINED for a in args):
        raise UndefinedValue("an undefined value was passed to an atomic operation")
    index, *values = args
    old = array[index]
    typed = [cast(array.dtype, v) for v in values]
    if op == "cas":
        new = typed[1] if old == typed[0] else old
    else:
        new = _combine(op, old, typed[0])
    array[index] = new
    return old
