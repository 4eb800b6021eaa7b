"""The ranks of a parallel program, and how long they wait for each other.

    world = parallel.World()
    total = world.all_reduce(gradients)

The same program runs alone, under `gpukit train --ranks 4 script.py`, under `mpiexec -n 4 python -m
mpi4py script.py`, and on a cluster where a scheduler starts that line on every machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.errors import RankError
from gpukit.parallel import board, failure, selection
from gpukit.parallel.board import Entry, Records
from gpukit.parallel.calls import Call, call
from gpukit.parallel.single import SingleTransport
from gpukit.parallel.transport import COMBINE, REDUCED, Pending, Transport, Window

DEADLINE = 60.0  # seconds
# What a rank sent before it left may take this long to arrive. Virtual ranks wait without limit:
# they know when no rank can go on, and one of them may compute for long.
GRACE = 1.0
VARIABLE = "GPUKIT_DEADLINE"
# The world of a virtual rank (`virtual.py`), which `World()` returns there.
current: ContextVar[World | None] = ContextVar("world", default=None)
_process: list[World] = []  # the world of this process


class Work:
    """An operation in progress. Until it is complete its array must not be read or written."""

    def __init__(self, group: Group, call: Call, pending: Pending, result: Any) -> None:
        self.group, self.call, self.pending, self.result = group, call, pending, result

    def done(self) -> bool:
        """Make progress; return whether the operation is complete."""
        return self.pending.done()

    def wait(self) -> Any:
        """Return the array once the operation is complete.

        Raises RankError when the deadline passes, or a rank that the operation needs has left.
        """
        self.group.world.wait(self.group, self.call, self.pending)
        return self.result


class Group:
    """Ranks that exchange arrays among themselves.

    `rank` is the number of this one in the group, `size` how many there are, `ranks` their numbers
    in the world. Arrays are C-contiguous, of NumPy or on the device; `name` names one in errors.
    All ranks of a group call the same collective operations in the same order.

    `isend`, `iall_reduce` and so on start an operation and return a `Work` ("immediate", as in
    MPI); the forms without `i` wait until it is complete.
    """

    def __init__(self, world: World, transport: Transport, ranks: Sequence[int]) -> None:
        self.world, self.transport, self.ranks = world, transport, tuple(ranks)
        self.rank, self.size = transport.rank, transport.size

    # --- Between two ranks -----------------------------------------------------------------------

    def isend(self, array: Any, dest: int, *, tag: int = 0, name: str = "") -> Work:
        """Start to send an array to a rank."""
        peer = self._peer("send", "dest", dest)
        made = call("send", array, name, peer=peer, tag=tag)
        return self._start(made, array, lambda: self.transport.send(array, dest, tag))

    def irecv(self, array: Any, source: int, *, tag: int = 0, name: str = "") -> Work:
        """Start to receive from a rank into an array of the shape and dtype that it sends."""
        peer = self._peer("recv", "source", source)
        made = call("recv", array, name, peer=peer, tag=tag)
        return self._start(made, array, lambda: self.transport.recv(array, source, tag))

    def send(self, array: Any, dest: int, *, tag: int = 0, name: str = "") -> None:
        """Send an array to a rank; afterwards it may be changed."""
        self.isend(array, dest, tag=tag, name=name).wait()

    def recv(self, array: Any, source: int, *, tag: int = 0, name: str = "") -> Any:
        """Receive from a rank into an array, and return it."""
        return self.irecv(array, source, tag=tag, name=name).wait()

    # --- Among all ranks -------------------------------------------------------------------------

    def iall_reduce(self, array: Any, op: str = "sum", *, name: str = "") -> Work:
        """Start to combine the arrays of all ranks number by number, in place.

        op is "sum", "max" or "min"; the dtype is float32, float64, int32 or int64.
        """
        _check_reduced("all_reduce", array, op)
        made = call("all_reduce", array, name, op=op)
        return self._start(made, array, lambda: self.transport.all_reduce(array, op))

    def all_reduce(self, array: Any, op: str = "sum", *, name: str = "") -> Any:
        """Combine the arrays of all ranks in place, and return the array."""
        return self.iall_reduce(array, op, name=name).wait()

    def ibroadcast(self, array: Any, root: int = 0, *, name: str = "") -> Work:
        """Start to copy the array of rank `root` into those of all ranks."""
        made = call("broadcast", array, name, peer=self._peer("broadcast", "root", root))
        return self._start(made, array, lambda: self.transport.broadcast(array, root))

    def broadcast(self, array: Any, root: int = 0, *, name: str = "") -> Any:
        """Copy the array of rank `root` into those of all ranks, and return it."""
        return self.ibroadcast(array, root, name=name).wait()

    def iall_gather(self, array: Any, *, out: Any = None, name: str = "") -> Work:
        """Start to collect the arrays of all ranks in `out`, (size, *array.shape)."""
        out = self._rows(array, out)
        made = call("all_gather", array, name)
        return self._start(made, out, lambda: self.transport.all_gather(array, out))

    def all_gather(self, array: Any, *, out: Any = None, name: str = "") -> Any:
        """Return the arrays of all ranks in the order of the ranks, (size, *array.shape)."""
        return self.iall_gather(array, out=out, name=name).wait()

    def ireduce_scatter(self, array: Any, out: Any, op: str = "sum", *, name: str = "") -> Work:
        """Start to combine arrays of shape (size, *out.shape); rank r gets row r in `out`."""
        _check_reduced("reduce_scatter", array, op)
        expected = (self.size, *out.shape)
        if tuple(array.shape) != expected:
            raise ValueError(
                f"reduce_scatter: expected an array of shape {expected}, a row of the shape of out "
                f"for each rank, got {tuple(array.shape)}."
            )
        made = call("reduce_scatter", array, name, op=op)
        return self._start(made, out, lambda: self.transport.reduce_scatter(array, out, op))

    def reduce_scatter(self, array: Any, out: Any, op: str = "sum", *, name: str = "") -> Any:
        """Combine arrays of shape (size, *out.shape), and return row r on rank r."""
        return self.ireduce_scatter(array, out, op, name=name).wait()

    def barrier(self) -> None:
        """Wait until all ranks of the group have called this."""
        made = call("barrier")
        self._start(made, None, self.transport.barrier).wait()

    def window(self, array: Any) -> Window:
        """Expose a NumPy array to the other ranks, which read it and add to it at any time."""
        return self.transport.window(array)

    def split(self, ranks: Sequence[int]) -> Group:
        """Return the group of these ranks of this one. Each of them calls this, in this order."""
        if self.rank not in ranks or len(set(ranks)) != len(ranks):
            raise ValueError(
                f"split: expected different ranks, rank {self.rank} among them, got {list(ranks)}. "
                "Only the ranks of the new group call split."
            )
        inner = self.transport.split(ranks)
        return Group(self.world, inner, [self.ranks[rank] for rank in ranks])

    # --- What they share -------------------------------------------------------------------------

    def _start(self, made: Call, result: Any, start: Callable[[], Pending]) -> Work:
        if made.shape is not None and not launch.is_contiguous(result):
            raise ValueError(
                f"{made.operation}: expected an array in C order, got {made.name or 'one'} of "
                f"shape {made.shape} that is not. Send a copy, or a slice along its first axis."
            )
        if self.world.observer is not None:
            self.world.observer(self, made, result)
        return Work(self, made, start(), result)

    def _peer(self, function: str, argument: str, rank: int) -> int:
        if not 0 <= rank < self.size:
            raise ValueError(
                f"{function}: expected {argument} from 0 to {self.size - 1}, the ranks of this "
                f"group, got {rank}."
            )
        return self.ranks[rank]

    def _rows(self, array: Any, out: Any) -> Any:
        expected = (self.size, *array.shape)
        if out is None:
            if isinstance(array, np.ndarray):
                return np.empty(expected, array.dtype)
            return cuda.device_array(expected, array.dtype)
        if tuple(out.shape) != expected or out.dtype != array.dtype:
            raise ValueError(
                f"all_gather: expected out of shape {expected} and dtype {array.dtype}, got "
                f"{tuple(out.shape)} and {out.dtype}."
            )
        return out


class World(Group):
    """All ranks of the program. Every call of `World()` in a process returns the same object.

    No operation waits longer than `deadline` seconds, which GPUKIT_DEADLINE sets as well: then
    RankError says what every rank was doing. An error on one rank ends all of them. Messages about
    both name the training `step`, which trainers set.

    `name` is the transport ("single", "mpi", "nccl"), `reason` why it was chosen. Raises RankError
    where a launcher started several ranks and mpi4py is not installed.
    """

    name: str
    reason: str
    _step = 0
    deadline: float
    grace = GRACE
    records: Records
    observer: Callable[[Group, Call, Any], None] | None = None  # sees every call

    def __new__(cls, *, deadline: float | None = None) -> World:
        world = current.get() or (_process[0] if _process else None)
        if world is None:
            world = _begin(cls)
            _process.append(world)
        if deadline is not None:
            world.deadline = deadline
        return world

    def __init__(self, *, deadline: float | None = None) -> None:
        pass

    def __repr__(self) -> str:
        return f"<World: rank {self.rank} of {self.size}, {self.name}: {self.reason}>"

    @property
    def step(self) -> int:
        """The number of the training step, which every message about a failure names."""
        return self._step

    @step.setter
    def step(self, number: int) -> None:
        self._step = number
        self.note(board.COMPUTING)

    def totals(self, *numbers: float) -> tuple[float, ...]:
        """Return the sum over all ranks of each of a few numbers."""
        return tuple(self.all_reduce(np.array(numbers, np.float64), name="totals"))

    # --- Waiting ---------------------------------------------------------------------------------

    def wait(self, group: Group, call: Call, pending: Pending) -> None:
        """Return once an operation is complete; raise RankError where it never will be."""
        if pending.done():
            return
        self.note(board.WAITING, str(call))
        began, attempts = time.monotonic(), 0
        while not pending.done():
            waited = time.monotonic() - began
            if waited > self.deadline or (waited > self.grace and self._left(group, call)):
                raise RankError(self.stuck(group, call, waited))
            group.transport.pause(attempts)
            attempts += 1
        self.note(board.COMPUTING)

    def note(self, state: int, call: str = "") -> None:
        """Tell the other ranks what this one does."""
        self.records.write(self.rank, Entry(state, self.step, os.getpid(), call))

    def stuck(self, group: Group, call: Call, waited: float) -> str:
        """Return in words that an operation does not complete, and what the other ranks do."""
        others = (rank for rank in _needed(group, call) if rank != self.rank)
        doing = "; ".join(f"rank {rank} {self.records.read(rank)}" for rank in others)
        return (
            f"rank {self.rank} of {self.size} has waited {waited:.0f} s in step {self.step}, in "
            f"{call}: {doing or 'it waits for a message from itself'}"
        )

    def _left(self, group: Group, call: Call) -> bool:
        """Return whether a rank that an operation needs has left."""
        return any(self.records.read(rank).state == board.LEFT for rank in _needed(group, call))


def _needed(group: Group, call: Call) -> Sequence[int]:
    """Return the ranks without which an operation does not complete."""
    if call.peer is not None and call.operation in ("send", "recv"):
        return (call.peer,)
    return group.ranks


def build(cls: type[World], transport: Transport, records: Records, reason: str) -> World:
    """Return the world of one rank."""
    world = object.__new__(cls)
    Group.__init__(world, world, transport, range(transport.size))
    world.name, world.reason = transport.name, reason
    world.deadline = float(os.environ.get(VARIABLE) or DEADLINE)
    world.records = records
    world.note(board.COMPUTING)
    return world


def _begin(cls: type[World]) -> World:
    """Return the world of this process."""
    choice = selection.choose()
    if choice.missing:
        raise RankError(f"parallel.World: {choice.reason}, but {choice.missing}")
    if choice.name == "single":
        return build(cls, SingleTransport(), board.Memory(1), choice.reason)
    from gpukit.parallel.mpi import MPITransport

    mpi = MPITransport.start()
    transport: Transport = mpi
    if choice.name == "nccl":
        from gpukit.parallel import nccl

        transport = nccl.start(mpi)
    world = build(cls, transport, board.Board.begin(mpi), choice.reason)
    failure.install(world, mpi)
    return world


def _check_reduced(function: str, array: Any, op: str) -> None:
    if op not in COMBINE:
        raise ValueError(f"{function}: expected op to be one of {', '.join(COMBINE)}, got {op!r}.")
    if array.dtype not in REDUCED:
        names = ", ".join(str(dtype) for dtype in REDUCED)
        raise TypeError(
            f"{function}: expected one of the dtypes {names}, got {array.dtype}. Convert the array."
        )
