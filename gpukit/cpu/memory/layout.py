"""The layout of an array that a launch passes to a kernel: its kind, address and strides."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from numpy.typing import NDArray

# An array object begins as all Python objects do; then comes the pointer to its data. NumPy's C API
# promises both. Reading `__array_interface__`, which is a dictionary, takes ten times as long.
_HEAD = object.__basicsize__


class Layout(NamedTuple):
    """An array as kernels receive it.

    Kernels are specialised by `kind`: dtype, axes, order, writeable, aligned. `words` are
    the address of the first element, the shape and the strides; `covers` the addresses from the
    first byte to one past the last.
    """

    kind: tuple[Any, ...]
    words: tuple[int, ...]
    covers: tuple[int, int]


def address_of(array: NDArray[Any]) -> int:
    """Return the address of an array's first element."""
    return ctypes.c_size_t.from_address(id(array) + _HEAD).value


def layout_of(array: NDArray[Any]) -> Layout:
    """Return the layout of an array.

    >>> import numpy as np
    >>> layout_of(np.zeros((2, 3), np.float32)).words[1:]
    (2, 3, 12, 4)
    """
    address = address_of(array)
    flags = array.flags
    if flags.c_contiguous:
        order, covers = "C", (address, address + array.nbytes)
    else:
        order, covers = "F" if flags.f_contiguous else "A", _extent(array, address)
    kind = (array.dtype, array.ndim, order, flags.writeable, flags.aligned)
    return Layout(kind, (address, *array.shape, *array.strides), covers)


def _extent(array: NDArray[Any], address: int) -> tuple[int, int]:
    low = high = 0
    for n, step in zip(array.shape, array.strides, strict=True):
        reach = (n - 1) * step if n else 0
        low, high = low + min(reach, 0), high + max(reach, 0)
    return address + low, address + high + array.itemsize
