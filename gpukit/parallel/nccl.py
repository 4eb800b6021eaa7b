"""Collective operations from GPU to GPU by NCCL (nccl4py); all else by MPI.

NCCL works on device arrays, in a stream of its own: it waits for the kernels launched before, and
an operation is complete when its event is. Messages between two ranks have tags, which NCCL does
not know, and go through pinned host memory by MPI, as host arrays and windows do.

Source: NVIDIA, "NCCL User Guide" and "NCCL4Py", version 0.6
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpukit import cuda, launch
from gpukit.parallel.mpi import MPITransport
from gpukit.parallel.transport import Pending, Transport, Window


class Recorded:
    """What was put into a stream before an event: complete when the event is."""

    def __init__(self, event: Any) -> None:
        self.event = event

    def done(self) -> bool:
        """Return whether the GPU has reached the event."""
        return bool(self.event.query())


def start(mpi: MPITransport) -> Transport:
    """Return the transport of all ranks, each of which gets a GPU of its machine.

    Where a machine has fewer GPUs than ranks, these share them, which NCCL refuses: then all goes
    by MPI.
    """
    node = mpi.node()
    number, here = node.Get_rank(), node.Get_size()
    node.Free()
    gpus = len(cuda.gpus)
    cuda.select_device(number % gpus)
    shared = mpi.comm.allreduce(int(here > gpus))
    return mpi if shared else NCCLTransport(mpi)


class NCCLTransport:
    """A group of ranks with a GPU each."""

    name = "nccl"

    def __init__(self, mpi: MPITransport) -> None:
        from nccl import core

        self.nccl, self.mpi, self.rank, self.size = core, mpi, mpi.rank, mpi.size
        unique = mpi.comm.bcast(core.get_unique_id() if mpi.rank == 0 else None)
        self.comm = core.Communicator.init(self.size, self.rank, unique)
        self.operations = {
            "sum": core.NcclRedOp.SUM,
            "max": core.NcclRedOp.MAX,
            "min": core.NcclRedOp.MIN,
        }
        self.stream = cuda.stream()

    def send(self, array: Any, dest: int, tag: int) -> Pending:
        """Send an array to a rank."""
        return self.mpi.send(array, dest, tag)

    def recv(self, array: Any, source: int, tag: int) -> Pending:
        """Receive from a rank into an array."""
        return self.mpi.recv(array, source, tag)

    def all_reduce(self, array: Any, op: str) -> Pending:
        """Combine the arrays of all ranks number by number, in place."""
        if not launch.is_device_array(array):
            return self.mpi.all_reduce(array, op)
        operation = self.operations[op]
        return self._enqueue(lambda s: self.comm.allreduce(array, array, operation, stream=s))

    def broadcast(self, array: Any, root: int) -> Pending:
        """Copy the array of `root` into those of all ranks."""
        if not launch.is_device_array(array):
            return self.mpi.broadcast(array, root)
        return self._enqueue(lambda s: self.comm.broadcast(array, array, root, stream=s))

    def all_gather(self, array: Any, out: Any) -> Pending:
        """Put the arrays of all ranks into `out`, in the order of ranks."""
        if not launch.is_device_array(array):
            return self.mpi.all_gather(array, out)
        return self._enqueue(lambda s: self.comm.allgather(array, out, stream=s))

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Pending:
        """Combine arrays of shape (size, *out.shape); rank r gets row r in `out`."""
        if not launch.is_device_array(array):
            return self.mpi.reduce_scatter(array, out, op)
        operation = self.operations[op]
        return self._enqueue(lambda s: self.comm.reduce_scatter(array, out, operation, stream=s))

    def barrier(self) -> Pending:
        """Complete once every rank has called this."""
        return self.mpi.barrier()

    def split(self, ranks: Sequence[int]) -> Transport:
        """Return the transport of a group; only its ranks call this."""
        return NCCLTransport(self.mpi.split(ranks))

    def window(self, array: Any) -> Window:
        """Expose an array to one-sided operations."""
        return self.mpi.window(array)

    def pause(self, attempts: int) -> None:
        """Yield the core."""
        self.mpi.pause(attempts)

    def abort(self) -> None:
        """End all ranks of the program."""
        self.mpi.abort()

    def _enqueue(self, operation: Callable[[int], object]) -> Recorded:
        """Put an operation into the stream, behind the kernels launched so far."""
        before, after = cuda.event(timing=False), cuda.event(timing=False)
        before.record(cuda.default_stream())
        before.wait(self.stream)
        operation(int(self.stream))
        after.record(self.stream)
        return Recorded(after)
