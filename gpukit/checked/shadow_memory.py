"""Shadow memory that is reused from launch to launch, and the counter of epochs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.compiler import checker_state

_KEPT = 1 << 30  # bytes of shadow memory that are kept for later launches


class Memory:
    """A pool of buffers of cells, and the next epoch.

    Cells of older launches need no clearing: their epochs are older than the launch.
    """

    def __init__(self) -> None:
        self.epoch = 1
        self.free: list[np.ndarray[Any, Any]] = []

    def cells(self, count: int, *, clear: bool = False) -> np.ndarray[Any, Any]:
        """Return at least `count` cells: the words of the writes, then those of the reads.

        With `clear` all of it is zero.
        """
        fitting = [b for b in self.free if count <= b.shape[1] <= 4 * count + 1024]
        if clear or not fitting:
            return np.zeros((2, count), np.int64)
        best = min(fitting, key=lambda b: b.size)
        self.free = [b for b in self.free if b is not best]
        return best

    def give_back(self, cells: np.ndarray[Any, Any]) -> None:
        """Return a buffer to the pool; it is freed if the pool is too large."""
        if cells.nbytes + sum(b.nbytes for b in self.free) <= _KEPT:
            self.free.append(cells)

    def begin(self) -> int:
        """Return the first epoch of a launch."""
        if self.epoch > checker_state.LAST_EPOCH:
            self.epoch, self.free = 1, []
        return self.epoch


MEMORY = Memory()
