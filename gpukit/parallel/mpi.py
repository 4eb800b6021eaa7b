"""Messages by MPI (mpi4py): between processes on one machine or on a cluster.

MPI reads and writes host memory. On the CPU targets a device array lies there and is sent in place;
on a GPU it is copied to pinned host memory first and back afterwards, because the MPI libraries
that pip installs do not know about GPU memory (`nccl.py` sends from GPU to GPU).

Source: MPI Forum, "MPI: A Message-Passing Interface Standard", version 4.1, 2023
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpukit import cuda, launch

# Polls that only yield the core. After them each sleeps, longer and longer: a rank that spins takes
# the core from the one that it waits for.
EAGER_POLLS = 50
LONGEST_SLEEP = 0.001  # seconds


class Request:
    """A nonblocking operation of MPI, and a copy from pinned memory once it is complete."""

    def __init__(self, request: Any, finish: Callable[[], object] | None = None) -> None:
        self.request, self.finish = request, finish
        self.completed = False

    def done(self) -> bool:
        """Let MPI make progress; return whether the operation is complete."""
        if not self.completed and self.request.Test():
            self.completed = True
            if self.finish is not None:
                self.finish()
        return self.completed


class MPITransport:
    """A group of ranks that an MPI launcher started."""

    name = "mpi"
    ending: Any

    def __init__(self, comm: Any, *, crowded: bool = False) -> None:
        from mpi4py import MPI

        self.mpi, self.comm, self.crowded = MPI, comm, crowded
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.operations = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN}

    @classmethod
    def start(cls) -> MPITransport:
        """Return the transport of all ranks, and let those of one machine share its cores."""
        from mpi4py import MPI

        transport = cls(MPI.COMM_WORLD)
        transport.ending = MPI.COMM_WORLD.Dup()
        node = transport.node()
        here = node.Get_size()
        node.Free()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        cores = cores or 1
        os.environ.setdefault("GPUKIT_THREADS", str(max(1, cores // here)))
        transport.crowded = here > cores
        return transport

    def leave(self) -> Request:
        """Complete once every rank has called this, apart from all other operations."""
        return Request(self.ending.Ibarrier())

    def node(self) -> Any:
        """Return a communicator of the ranks on this machine."""
        return self.comm.Split_type(self.mpi.COMM_TYPE_SHARED)

    def send(self, array: Any, dest: int, tag: int) -> Request:
        """Send an array to a rank."""
        memory, _ = _staged(array, read=True)
        return Request(self.comm.Isend(_bytes(memory), dest, tag))

    def recv(self, array: Any, source: int, tag: int) -> Request:
        """Receive from a rank into an array."""
        memory, finish = _staged(array, read=False)
        return Request(self.comm.Irecv(_bytes(memory), source, tag), finish)

    def all_reduce(self, array: Any, op: str) -> Request:
        """Combine the arrays of all ranks number by number, in place."""
        memory, finish = _staged(array, read=True)
        request = self.comm.Iallreduce(self.mpi.IN_PLACE, memory, self.operations[op])
        return Request(request, finish)

    def broadcast(self, array: Any, root: int) -> Request:
        """Copy the array of `root` into those of all ranks."""
        memory, finish = _staged(array, read=True)
        return Request(self.comm.Ibcast(_bytes(memory), root), finish)

    def all_gather(self, array: Any, out: Any) -> Request:
        """Put the arrays of all ranks into `out`, in the order of ranks."""
        memory, _ = _staged(array, read=True)
        gathered, finish = _staged(out, read=False)
        return Request(self.comm.Iallgather(_bytes(memory), _bytes(gathered)), finish)

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Request:
        """Combine arrays of shape (size, *out.shape); rank r gets row r in `out`."""
        memory, _ = _staged(array, read=True)
        row, finish = _staged(out, read=False)
        request = self.comm.Ireduce_scatter_block(memory, row, self.operations[op])
        return Request(request, finish)

    def barrier(self) -> Request:
        """Complete once every rank has called this."""
        return Request(self.comm.Ibarrier())

    def split(self, ranks: Sequence[int]) -> MPITransport:
        """Return the transport of a group; only its ranks call this."""
        group = self.comm.Get_group().Incl(list(ranks))
        return MPITransport(self.comm.Create_group(group), crowded=self.crowded)

    def window(self, array: Any) -> MPIWindow:
        """Expose an array to one-sided operations."""
        return MPIWindow(self.mpi, self.comm, array)

    def pause(self, attempts: int) -> None:
        """Yield the core, then sleep up to a millisecond."""
        if attempts < EAGER_POLLS and not self.crowded:
            time.sleep(0)
        else:
            time.sleep(min(LONGEST_SLEEP, 2e-5 * (1 + attempts // 20)))

    def abort(self) -> None:
        """End all ranks of the program."""
        self.mpi.COMM_WORLD.Abort(1)


class MPIWindow:
    """One-sided access to an array of each rank, under a lock per operation.

    The lock orders whole operations: a reader sees an update that is complete.
    """

    def __init__(self, mpi: Any, comm: Any, array: Any) -> None:
        self.mpi, self.memory = mpi, array
        self.window = mpi.Win.Create(self.memory, self.memory.itemsize, comm=comm)

    def get(self, rank: int, out: Any) -> None:
        """Copy the array of a rank to `out`."""
        memory, finish = _staged(out, read=False)
        self.window.Lock(rank, self.mpi.LOCK_SHARED)
        self.window.Get(memory, rank)
        self.window.Unlock(rank)
        if finish is not None:
            finish()

    def put(self, array: Any, rank: int) -> None:
        """Write `array` over that of a rank."""
        self._update(array, rank, self.mpi.REPLACE)

    def accumulate(self, array: Any, rank: int) -> None:
        """Add `array` to that of a rank."""
        self._update(array, rank, self.mpi.SUM)

    def _update(self, array: Any, rank: int, op: Any) -> None:
        memory, _ = _staged(array, read=True)
        self.window.Lock(rank, self.mpi.LOCK_EXCLUSIVE)
        self.window.Accumulate(memory, rank, op=op)
        self.window.Unlock(rank)

    def close(self) -> None:
        """End the exposure."""
        self.window.Free()


def _staged(array: Any, *, read: bool) -> tuple[Any, Callable[[], object] | None]:
    """Return an array's memory on the host, and what copies that back to a GPU."""
    if isinstance(array, np.ndarray):
        return array, None
    host = getattr(array, "host", None)
    if isinstance(host, np.ndarray):
        return host, None
    pinned = cuda.pinned_array(array.shape, array.dtype)
    if read:
        array.copy_to_host(pinned)
    return pinned, lambda: array.copy_to_device(pinned)


def _bytes(memory: Any) -> Any:
    """Return the bytes of an array: a message may be of a dtype that MPI has no name for."""
    return launch.flatten("parallel", "array", memory).view(np.uint8)
