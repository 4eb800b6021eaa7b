"""Which bytes an operation accesses, and what kind of memory they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukit.cpu.memory import allocations

READ, WRITE, UPDATE, BOTH = "read", "write", "atomic", "both"
HOST_KINDS = (allocations.PAGEABLE, allocations.PINNED)
_MOST_ROWS = 1 << 16  # of an array that is not contiguous; one with more counts as one piece


class Bytes(NamedTuple):
    """Addresses from `low` to `high`; with gaps, `parts` has the starts and ends of the pieces."""

    low: int
    high: int
    parts: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def pieces(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the starts and the ends of the pieces, in order."""
        return self.parts or (np.array([self.low]), np.array([self.high]))

    def overlap(self, other: Bytes) -> bool:
        """Tell whether both have a byte in common.

        >>> even = Bytes(0, 12, (np.array([0, 8]), np.array([4, 12])))
        >>> even.overlap(Bytes(4, 8)), even.overlap(Bytes(7, 9))
        (False, True)
        """
        if self.high <= other.low or other.high <= self.low:
            return False
        if self.parts is None and other.parts is None:
            return True
        begins, ends = self.pieces()
        other_begins, other_ends = other.pieces()
        following = np.searchsorted(other_ends, begins, side="right")
        inside = following < len(other_begins)
        return bool((other_begins[following[inside]] < ends[inside]).any())

    def covers(self, other: Bytes) -> bool:
        """Tell whether all bytes of another are known to be among these."""
        if self.parts is None:
            return self.low <= other.low and other.high <= self.high
        return other.parts is not None and all(map(np.array_equal, self.parts, other.parts))


def of_flags(flags: NDArray[np.bool_], begin: int, granule: int) -> Bytes | None:
    """Return the bytes of the cells that are flagged; None if there are none."""
    count = np.count_nonzero(flags)
    if count in (0, len(flags)):
        return Bytes(begin, begin + granule * len(flags)) if count else None
    edges = 1 + np.flatnonzero(flags[1:] != flags[:-1])
    sides = [0] * bool(flags[0]), edges, [len(flags)] * bool(flags[-1])
    begins, ends = np.concatenate(sides).astype(np.int64).reshape(-1, 2).T * granule + begin
    parts = (begins, ends) if len(begins) > 1 else None
    return Bytes(int(begins[0]), int(ends[-1]), parts)


def of_array(array: NDArray[Any]) -> Bytes:
    """Return the bytes of an array or view.

    >>> x = np.zeros((4, 4), np.uint8)
    >>> of_array(x[:, :2]).overlap(of_array(x[:, 2:]))
    False
    """
    low, high = map(int, np.lib.array_utils.byte_bounds(array))
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return Bytes(low, high)
    steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    length = array.itemsize
    while steps and steps[0][0] <= length:
        step, count = steps.pop(0)
        length += step * (count - 1)
    if int(np.prod([count for _, count in steps])) > _MOST_ROWS:
        return Bytes(low, high)
    begins = np.array([low])
    for step, count in steps:
        begins = (begins[:, None] + step * np.arange(count)).ravel()
    begins.sort()
    return Bytes(low, high, (begins, begins + length))


class Kinds:
    """The kind of any memory; the program's own host memory is pageable until it is locked."""

    def __init__(self) -> None:
        self._locked: list[tuple[Bytes, str]] = []

    def of(self, array: NDArray[Any]) -> str:
        """Return the kind of memory that an array lies in."""
        owner = allocations.root(array)
        if isinstance(owner, allocations.Allocation):
            return owner.kind
        bytes_ = of_array(array)
        kinds = [kind for known, kind in self._locked if known.overlap(bytes_)]
        return kinds[-1] if kinds else allocations.PAGEABLE

    def lock(self, array: NDArray[Any], kind: str) -> None:
        """Remember that host memory is page-locked."""
        self._locked.append((of_array(array), kind))

    def unlock(self, array: NDArray[Any]) -> None:
        """Remember that host memory is no longer page-locked."""
        low = of_array(array).low
        self._locked = [(known, kind) for known, kind in self._locked if known.low != low]
