"""The arrays of a launch as segments of memory: which bytes, what cell size, which arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit.compiler import checker_state
from gpukit.cpu.launch import marshal


@dataclass(frozen=True)
class Array:
    """One array that a kernel accesses, by the kernel's name for it."""

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: str
    extent: tuple[int, int] = (0, 0)
    host: Any = field(default=None, compare=False)
    on_device: bool = False
    grains: tuple[int, ...] = ()  # offsets and sizes of a record's fields

    def index_of(self, address: int) -> tuple[int, ...]:
        """Return the index of the element that holds an address; () if none can be recorded."""
        back = sum((n - 1) * -s for n, s in zip(self.shape, self.strides, strict=True) if s < 0)
        offset, index = address - self.address + back, [0] * len(self.shape)
        axes = sorted(range(len(self.shape)), key=lambda k: -abs(self.strides[k]))
        for k in axes:
            step, size = abs(self.strides[k]), self.shape[k]
            if step == 0 or size == 1:
                continue
            steps = min(max(offset // step, 0), size - 1)
            index[k] = steps if self.strides[k] > 0 else size - 1 - steps
            offset -= steps * step
        return tuple(index) if 0 <= offset < self.itemsize else ()


@dataclass
class Segment:
    """Bytes that one or several arrays cover, with the size of one cell of shadow memory."""

    space: str
    begin: int
    end: int
    granule: int
    arrays: list[Array]
    stride: int = 0  # bytes between the copies of two blocks or threads
    cells: Any = None
    constant: bool = False  # not written in this launch
    uninitialised: Any = None  # a flag for each cell, or None if all of it has values
    variable: str = ""  # the segment tells whether it is assigned (`frontend.unassigned`)

    @property
    def base(self) -> int:
        """The offset from an address to that of a GPU, where an allocation begins at 0.

        Memory of `cuda.to_device` lies as on a GPU; a NumPy array is copied to a new address.
        """
        return 0 if self.arrays[0].on_device else self.begin

    @property
    def cell_count(self) -> int:
        """How many cells the segment has."""
        return -(-(self.end - self.begin) // self.granule)

    def array_named(self, text: str) -> Array:
        """Return the array named in a kernel's source; the first if it is not a plain name."""
        return next((a for a in self.arrays if a.name == text), self.arrays[0])


def arguments(names: list[str], values: tuple[Any, ...]) -> list[Array]:
    """Return the arrays among the arguments of a launch, those in tuples too."""
    found: list[Array] = []
    for name, value in zip(names, values, strict=False):
        _collect(found, name, value)
    return found


def _collect(found: list[Array], name: str, value: Any) -> None:
    on_device = isinstance(getattr(value, "host", None), np.ndarray)
    value = value.host if on_device else value
    if hasattr(value, "copy_out") and hasattr(value, "value"):  # cuda.In, Out, InOut
        value = value.value
    if not isinstance(value, (np.ndarray, tuple)):
        value = marshal.foreign_host(value)
    if isinstance(value, np.ndarray):
        if value.size:
            found.append(of_array(name, np.asarray(value), on_device))
    elif isinstance(value, tuple):
        for k, part in enumerate(value):
            _collect(found, f"{name}[{k}]", part)


def of_array(name: str, value: np.ndarray, on_device: bool = False) -> Array:
    """Return an array's description for segments."""
    low, high = np.lib.array_utils.byte_bounds(value)
    return Array(
        name,
        value.__array_interface__["data"][0],
        value.shape,
        value.strides,
        value.itemsize,
        str(value.dtype),
        (low, high),
        value,
        on_device,
        tuple(_grains(value.dtype)),
    )


def _grains(dtype: np.dtype[Any]) -> Iterator[int]:
    """Yield offsets and sizes of the fields of a record, those of records in it too."""
    for name in dtype.names or ():
        kind, offset = dtype.fields[name][:2]  # type: ignore[index]
        kind = kind.base
        yield from (offset, kind.itemsize, *_grains(kind))


def granule_of(*sizes: int) -> int:
    """Return the largest power of two, up to 16, that divides all sizes."""
    return min(16, *((n & -n) or 16 for n in sizes))


def of_arrays(arrays: list[Array], space: str = "global") -> list[Segment]:
    """Put arrays that overlap into one segment each."""
    segments: list[Segment] = []
    for array in sorted(arrays, key=lambda a: a.extent):
        low, high = array.extent
        last = segments[-1] if segments else None
        if last is not None and low < last.end:
            last.end = max(last.end, high)
            last.arrays.append(array)
        else:
            segments.append(Segment(space, low, high, 1, [array]))
    for segment in segments:
        parts = [n for a in segment.arrays for n in (a.itemsize, *map(abs, a.strides), *a.grains)]
        segment.granule = granule_of(*parts, *(a.address - segment.begin for a in segment.arrays))
    return segments


def own(described: list[dict[str, Any]], dynamic: int, blocks: int, threads: int) -> list[Segment]:
    """Return the segments of the arrays that a kernel creates, for `blocks` in lockstep."""
    found = []
    for d in described:
        itemsize, shape = d["itemsize"], tuple(d["shape"])
        stride = d["stride"] or dynamic
        if shape == (0,):
            shape = (dynamic // itemsize,)
        copies = blocks if d["space"] == "shared" else blocks * threads
        strides = tuple(int(itemsize * np.prod(shape[k + 1 :])) for k in range(len(shape)))
        array = Array(d["spelled"], 0, shape, strides, itemsize, d["dtype"])
        whole = "Record" not in d["dtype"]  # whose fields may have any size
        granule = (d["granule"] or granule_of(itemsize)) if whole else 1
        segment = Segment(d["space"], 0, max(stride * copies, 1), granule, [array], stride)
        segment.variable = d["variable"]
        found.append(segment)
    return found


SPACES = {name: k for k, name in enumerate(checker_state.SPACES)}
