"""Which device memory is still uninitialised: from `cuda.device_array` and never written.

Only checked mode reads this. All others record their writes, which costs nothing while there is
no such memory.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit.cpu.memory import allocations


class Allocation:
    """Memory of an empty device array; `unset` holds a flag per byte once parts are set."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.unset: NDArray[np.bool_] | None = None

    def flags(self) -> NDArray[np.bool_]:
        """Return the flag of every byte."""
        if self.unset is None:
            self.unset = np.ones(self.end - self.begin, bool)
        return self.unset


_live: dict[int, Allocation] = {}


def note(host: NDArray[Any]) -> None:
    """Record a new empty array; it is forgotten when its memory is freed."""
    if not host.size:
        return
    root = allocations.root(host)
    begin = int(root.__array_interface__["data"][0])
    _live[begin] = Allocation(begin, begin + root.nbytes)
    weakref.finalize(root, _live.pop, begin, None)


def touch(host: NDArray[Any]) -> None:
    """Record that the host has written all elements of an array or view."""
    if not _live or not host.size:
        return
    found = _live.get(int(allocations.root(host).__array_interface__["data"][0]))
    if found is None:
        return
    at = int(host.__array_interface__["data"][0]) - found.begin
    flags = found.flags()
    kind = np.dtype((np.void, host.itemsize))
    part: NDArray[Any] = np.ndarray(host.shape, kind, flags.view(np.uint8).data, at, host.strides)
    part[...] = np.zeros((), kind)


def touch_ranges(ranges: list[tuple[int, int]]) -> None:
    """Record that an uninstrumented kernel may have written these addresses."""
    if not _live:
        return
    for begin, end in ranges:
        for start, found in list(_live.items()):
            if found.begin < end and begin < found.end:
                _live.pop(start, None)


def cells(begin: int, end: int, granule: int) -> NDArray[np.bool_] | None:
    """Return for each cell of an address range whether it is unset; None if all of it is set."""
    found = [a for a in _live.values() if a.begin < end and begin < a.end]
    if not found:
        return None
    count = -(-(end - begin) // granule)
    flags = np.zeros(count * granule, bool)
    for a in found:
        low, high = max(a.begin, begin), min(a.end, end)
        flags[low - begin : high - begin] = a.flags()[low - a.begin : high - a.begin]
    whole = np.asarray(flags.reshape(count, granule).any(axis=1))
    return whole if whole.any() else None


def set_cells(begin: int, granule: int, written: NDArray[np.bool_]) -> None:
    """Record which cells an instrumented kernel has written."""
    end = begin + granule * len(written)
    for a in list(_live.values()):
        if a.begin < end and begin < a.end:
            low, high = max(a.begin, begin), min(a.end, end)
            by_byte = np.repeat(written, granule)[low - begin : high - begin]
            a.flags()[low - a.begin : high - a.begin] &= ~by_byte
