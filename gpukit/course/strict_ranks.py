"""Run an answer on virtual ranks that do no more than MPI promises.

    results = strict_ranks.run(lambda group: answer(group, rows[group.rank].copy()), ranks=3)

MPI may read the array of a send until the send is complete, and fill that of a receive or a
collective operation at any time until then. So an answer that changes a send buffer too early, or
reads a receive buffer too early, is right on one machine and wrong on the next. Here it always
fails: what was received appears only when the operation is complete, over NaNs until then, a
changed send buffer raises, and so does an operation that nobody has waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gpukit.course.case import poison
from gpukit.errors import RankError
from gpukit.parallel import virtual
from gpukit.parallel.transport import Pending
from gpukit.parallel.world import Group, World

Result = TypeVar("Result")
_WAIT = (
    "Call wait() on everything that isend, irecv and the other functions with i return: only then "
    "is the operation complete."
)


class _Operation:
    """An operation that is complete when somebody has waited for it."""

    def __init__(self, name: str, pending: Pending, finish: Callable[[], None]) -> None:
        self.name, self.pending, self.finish = name, pending, finish
        self.completed = False

    def done(self) -> bool:
        if not self.completed and self.pending.done():
            self.completed = True
            self.finish()
        return self.completed


class StrictTransport:
    """A group of virtual ranks whose operations use arrays at the worst time that MPI allows."""

    def __init__(self, inner: Any, collectives: list[tuple[int, str]]) -> None:
        self.inner, self.name, self.rank, self.size = inner, inner.name, inner.rank, inner.size
        self.started: list[_Operation] = []
        self.collectives = collectives  # of all ranks: who has called it first, and what
        self.called = 0

    def send(self, array: Any, dest: int, tag: int) -> Pending:
        """Send an array, which must be the same until the send is complete."""
        sent = array.copy()

        def unchanged() -> None:
            if not np.array_equal(array, sent, equal_nan=True):
                raise RankError(
                    "the array of a send was changed before the send was complete. MPI may read "
                    "it until then: wait for the send first, or send a copy"
                )

        return self._start("send", self.inner.send(sent, dest, tag), unchanged)

    def recv(self, array: Any, source: int, tag: int) -> Pending:
        """Receive into an array, which holds NaNs until the receive is complete."""
        got = array.copy()
        _blank(array)
        pending = self.inner.recv(got, source, tag)
        return self._start("receive", pending, lambda: np.copyto(array, got))

    def all_reduce(self, array: Any, op: str) -> Pending:
        """Combine arrays, which hold NaNs until that is complete."""
        self._same("all_reduce", array, f"op {op}")
        return self._collective(array, lambda own: self.inner.all_reduce(own, op))

    def broadcast(self, array: Any, root: int) -> Pending:
        """Copy the array of a rank, which the others have when that is complete."""
        self._same("broadcast", array, f"root {root}")
        return self._collective(array, lambda own: self.inner.broadcast(own, root))

    def all_gather(self, array: Any, out: Any) -> Pending:
        """Collect arrays in `out`, which has them when that is complete."""
        self._same("all_gather", array)
        sent = array.copy()
        return self._collective(out, lambda own: self.inner.all_gather(sent, own))

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Pending:
        """Combine arrays; each rank has its row in `out` when that is complete."""
        self._same("reduce_scatter", array, f"op {op}")
        sent = array.copy()
        return self._collective(out, lambda own: self.inner.reduce_scatter(sent, own, op))

    def barrier(self) -> Pending:
        """Complete once every rank has called this."""
        self._same("barrier")
        return self._start("barrier", self.inner.barrier(), lambda: None)

    def _same(self, operation: str, array: Any = None, *details: str) -> None:
        """Raise unless all ranks call this as their next collective operation."""
        form = [] if array is None else [f"of {tuple(array.shape)} {array.dtype}"]
        mine, number = " ".join((operation, *form, *details)), self.called
        self.called += 1
        if number == len(self.collectives):
            self.collectives.append((self.rank, mine))
        rank, other = self.collectives[number]
        if other != mine:
            raise RankError(
                f"rank {self.rank} calls {mine}, but rank {rank} calls {other}: all ranks must "
                "call the same collective operations in the same order, with arrays of the same "
                "shape and dtype"
            )

    def _collective(self, array: Any, start: Callable[[Any], Pending]) -> Pending:
        own = array.copy()
        pending = start(own)
        _blank(array)
        return self._start("collective operation", pending, lambda: np.copyto(array, own))

    def _start(self, name: str, pending: Pending, finish: Callable[[], None]) -> Pending:
        self.started.append(_Operation(name, pending, finish))
        return self.started[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)  # what completes at once


def _blank(array: Any) -> None:
    """Fill an array with what nobody computes; NaN is not what `poison` puts into outputs."""
    array[...] = np.nan if array.dtype.kind == "f" else poison(array.shape, array.dtype)


def _check_numbers(rank: int, result: Any) -> None:
    """Raise where a rank returns NaN, which no exercise of ranks asks for."""
    for part in result if isinstance(result, tuple | list) else (result,):
        if isinstance(part, np.ndarray) and part.dtype.kind == "f" and np.isnan(part).any():
            raise RankError(
                f"rank {rank} has returned NaN. The array of a receive or of a collective "
                "operation holds NaN here until that is complete: read it after wait() has "
                "returned. Memory of np.empty may hold NaN, too"
            )


def run(function: Callable[[Group], Result], ranks: int) -> list[Result]:
    """Call `function(group)` on so many virtual ranks; return what each of them returned."""

    collectives: list[tuple[int, str]] = []

    def body(world: World) -> Result:
        transport = StrictTransport(world.transport, collectives)
        result = function(Group(world, transport, world.ranks))
        for operation in transport.started:
            if not operation.completed:
                raise RankError(
                    f"rank {world.rank} has returned without waiting for a {operation.name} that "
                    f"it had started. {_WAIT}"
                )
        _check_numbers(world.rank, result)
        return result

    return virtual.run(body, ranks)
