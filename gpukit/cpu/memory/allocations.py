"""Device memory of the CPU target: aligned, poisoned, and tracked by address."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 256  # what cudaMalloc promises
POISON = 0xA5

# Kinds of memory, in CUDA's terms. Pageable is what the program itself allocates with NumPy.
DEVICE, PINNED, MAPPED, MANAGED, PAGEABLE = "device", "pinned", "mapped", "managed", "pageable"


class Allocation(np.ndarray[Any, np.dtype[np.uint8]]):
    """The bytes of one allocation, and the kind of memory that they are on a GPU."""

    kind = DEVICE


# Every live allocation by its address: a pointer from elsewhere can be traced to its owner.
_live: weakref.WeakValueDictionary[int, Allocation] = weakref.WeakValueDictionary()


def poison(array: NDArray[Any]) -> None:
    """Fill an array with values that are not mistaken for results: NaN, NaT, or bytes 0xA5.

    >>> a = np.zeros(2, np.float32); poison(a); bool(np.isnan(a).all())
    True
    """
    if array.dtype.names is not None:
        for name in array.dtype.names:
            poison(array[name])
    elif array.dtype.kind in "fc":
        array.fill(np.nan)
    elif array.dtype.kind in "mM":
        array.fill(np.array("NaT", array.dtype)[()])
    elif array.dtype.kind == "b":
        array.fill(True)
    elif array.dtype.kind in "iu":
        pattern = bytes([POISON]) * array.dtype.itemsize
        array.fill(np.frombuffer(pattern, array.dtype)[0])


def allocate(nbytes: int, kind: str = DEVICE) -> tuple[NDArray[np.uint8], int]:
    """Return new memory and the offset in it where `nbytes` aligned bytes start."""
    buffer = Allocation(nbytes + ALIGNMENT, np.uint8)
    buffer.kind = kind
    buffer.fill(POISON)
    _live[buffer.ctypes.data] = buffer
    return buffer, -buffer.ctypes.data % ALIGNMENT


def span(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Return how many bytes an array reaches before and after the address of element 0."""
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + itemsize


def empty(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    strides: tuple[int, ...] | None = None,
    kind: str = DEVICE,
) -> NDArray[Any]:
    """Return a poisoned array in new memory, in C order where no strides are given."""
    if strides is None:
        strides = fill_strides(shape, dtype, "C")
    if 0 in shape:
        return np.ndarray(shape, dtype, strides=strides)
    before, after = span(shape, strides, dtype.itemsize)
    buffer, start = allocate(before + after, kind)
    array: NDArray[Any] = np.ndarray(shape, dtype, buffer, start + before, strides)
    poison(array)
    return array


def fill_strides(shape: tuple[int, ...], dtype: np.dtype[Any], order: str) -> tuple[int, ...]:
    """Return the strides of a contiguous array.

    >>> fill_strides((2, 3), np.dtype("f4"), "C"), fill_strides((2, 3), np.dtype("f4"), "F")
    ((12, 4), (4, 8))
    """
    if order not in ("C", "F"):
        raise ValueError("must be either C/F order")
    step, strides = dtype.itemsize, []
    for length in reversed(shape) if order == "C" else shape:
        strides.append(step)
        step *= length
    return tuple(reversed(strides) if order == "C" else strides)


def root(host: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory of a view."""
    while isinstance(host.base, np.ndarray):
        host = host.base
    return host


def owner_of(address: int) -> NDArray[np.uint8] | None:
    """Return the live device memory that holds `address`, or None."""
    for start, memory in list(_live.items()):
        if start <= address < start + memory.nbytes:
            return memory
    return None


class Memory:
    """Device memory as the driver interface presents it: an address and a size."""

    def __init__(self, host: NDArray[Any]) -> None:
        self.host = host
        self.size = host.nbytes

    @property
    def device_ctypes_pointer(self) -> ctypes.c_size_t:
        return ctypes.c_size_t(self.host.ctypes.data if self.size else 0)

    @property
    def device_pointer_value(self) -> int:
        return self.device_ctypes_pointer.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        return (self.device_pointer_value, self.size) == (other.device_pointer_value, other.size)

    def __hash__(self) -> int:
        return hash((self.device_pointer_value, self.size))

    def __repr__(self) -> str:
        return f"<device memory: {self.size} bytes at {self.device_pointer_value:#x}>"
