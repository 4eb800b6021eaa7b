"""What carries messages between ranks: the interface that MPI, NCCL and virtual ranks have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

# What MPI and NCCL both reduce.
REDUCED = tuple(np.dtype(t) for t in (np.float32, np.float64, np.int32, np.int64))
COMBINE = {"sum": np.add, "max": np.maximum, "min": np.minimum}


class Pending(Protocol):
    """A message or a collective operation in progress."""

    def done(self) -> bool:
        """Make progress; return whether the operation is complete."""


class Window(Protocol):
    """One array per rank that the other ranks read and add to while its owner computes."""

    def get(self, rank: int, out: Any) -> None:
        """Copy the array of a rank to `out`."""

    def put(self, array: Any, rank: int) -> None:
        """Write `array` over that of a rank."""

    def accumulate(self, array: Any, rank: int) -> None:
        """Add `array` to that of a rank, number by number atomically."""

    def close(self) -> None:
        """End the exposure; every rank of the group calls this."""


class Transport(Protocol):
    """Nonblocking messages and collective operations among the ranks of one group.

    Arrays are C-contiguous, of NumPy or on the device; those of an operation in progress must not
    be changed. Every rank of the group starts the same collective operations in the same order.
    """

    name: str
    rank: int
    size: int

    def send(self, array: Any, dest: int, tag: int) -> Pending:
        """Send an array to a rank."""

    def recv(self, array: Any, source: int, tag: int) -> Pending:
        """Receive from a rank into an array."""

    def all_reduce(self, array: Any, op: str) -> Pending:
        """Combine the arrays of all ranks number by number, in place."""

    def broadcast(self, array: Any, root: int) -> Pending:
        """Copy the array of `root` into those of all ranks."""

    def all_gather(self, array: Any, out: Any) -> Pending:
        """Put the arrays of all ranks into `out`, (size, *array.shape), in the order of ranks."""

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Pending:
        """Combine arrays of shape (size, *out.shape); rank r gets row r in `out`."""

    def barrier(self) -> Pending:
        """Complete once every rank has called this."""

    def split(self, ranks: Sequence[int]) -> Transport:
        """Return the transport of a group: these ranks of this one; each of them calls this."""

    def window(self, array: Any) -> Window:
        """Expose an array to one-sided operations; every rank of the group calls this."""

    def pause(self, attempts: int) -> None:
        """Let others run, after so many unsuccessful calls of `done`."""

    def abort(self) -> None:
        """End all ranks of the program at once, with exit code 1."""
