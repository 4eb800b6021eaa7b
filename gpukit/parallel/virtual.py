"""Virtual ranks: threads of one process that take turns, for the checker, lessons and exercises.

One rank runs at a time, until it waits for another one or ends; then the next one in order goes on.
So a program does the same in every run, and a deadlock is known as soon as it is there: every rank
waits, and none of their operations can complete.

A send completes when the receive that matches it has been posted, as MPI permits: a program that
relies on MPI to buffer its messages deadlocks here.
"""

from __future__ import annotations

import contextvars
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from gpukit import launch
from gpukit.errors import Deadlock
from gpukit.parallel import board
from gpukit.parallel.single import LocalWindow, assign
from gpukit.parallel.transport import COMBINE, Transport
from gpukit.parallel.world import World, build, current

Result = TypeVar("Result")
REASON = "virtual ranks, which take turns in one process"


@dataclass
class _Message:
    """A send or a receive that was posted."""

    array: Any
    matched: bool = False

    def done(self) -> bool:
        return self.matched


@dataclass
class _Meeting:
    """A collective operation: the arrays of the ranks that have called it so far."""

    arrays: dict[int, Any] = field(default_factory=dict)
    outputs: dict[int, Any] = field(default_factory=dict)
    complete: bool = False

    def done(self) -> bool:
        return self.complete


class Turns:
    """Lets one thread run at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.alive = set(range(size))
        self.gates = [threading.Semaphore(0) for _ in range(size)]
        self.idle = 0  # turns since something last changed
        self.ended = False  # because a rank failed
        self.over = threading.Event()

    def changed(self) -> None:
        """Note that an operation has been started or completed: somebody may go on."""
        self.idle = 0

    def start(self) -> None:
        """Let the first rank run."""
        self.gates[0].release()

    def wait(self, rank: int) -> None:
        """Wait for this rank's first turn."""
        self.gates[rank].acquire()

    def pass_on(self, rank: int) -> None:
        """Let the other ranks run until it is this rank's turn again."""
        self.idle += 1
        if self.idle <= 2 * len(self.alive):
            following = self._next(rank)
            if following != rank:
                self.gates[following].release()
                self.gates[rank].acquire()
        if self.ended or self.idle > 2 * len(self.alive):
            raise Deadlock

    def leave(self, rank: int) -> None:
        """Let the other ranks run; this one has ended."""
        self.alive.discard(rank)
        self.changed()
        if self.alive:
            self.gates[self._next(rank)].release()
        else:
            self.over.set()

    def _next(self, rank: int) -> int:
        order = [(rank + k) % self.size for k in range(1, self.size + 1)]
        return next(other for other in order if other in self.alive)


class Exchange:
    """What the ranks of one group have sent and called, by their ranks in the group."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.sends: defaultdict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self.receives: defaultdict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self.meetings: list[_Meeting] = []
        self.calls: defaultdict[int, int] = defaultdict(int)
        self.groups: dict[tuple[int, tuple[int, ...]], Exchange] = {}
        self.splits: defaultdict[tuple[int, ...], defaultdict[int, int]] = defaultdict(
            lambda: defaultdict(int)
        )

    def match(self, key: tuple[int, int, int]) -> None:
        """Copy the oldest message sent to the oldest receive, if both are there."""
        self.turns.changed()
        if self.sends[key] and self.receives[key]:
            sent, received = self.sends[key].popleft(), self.receives[key].popleft()
            _check_message(sent.array, received.array, *key)
            assign(received.array, launch.to_host(sent.array))
            sent.matched = received.matched = True

    def meet(
        self, rank: int, size: int, array: Any, out: Any, finish: Callable[[_Meeting], None]
    ) -> _Meeting:
        """Join the next collective operation of this rank; the last one to join completes it."""
        self.turns.changed()
        number = self.calls[rank]
        self.calls[rank] += 1
        if number == len(self.meetings):
            self.meetings.append(_Meeting())
        meeting = self.meetings[number]
        meeting.arrays[rank], meeting.outputs[rank] = array, out
        if len(meeting.arrays) == size:
            finish(meeting)
            meeting.complete = True
            meeting.arrays, meeting.outputs = {}, {}
        return meeting

    def group(self, rank: int, ranks: tuple[int, ...]) -> Exchange:
        """Return the exchange of a group that these ranks split off; each calls this once."""
        number = self.splits[ranks][rank]
        self.splits[ranks][rank] += 1
        return self.groups.setdefault((number, ranks), Exchange(self.turns))


def _check_message(sent: Any, received: Any, source: int, dest: int, tag: int) -> None:
    forms = [f"{tuple(array.shape)} {array.dtype}" for array in (sent, received)]
    if forms[0] != forms[1]:
        raise ValueError(
            f"recv: rank {source} has sent {forms[0]} with tag {tag}, but rank {dest} receives it "
            f"into {forms[1]}. Both must have the same shape and dtype."
        )


class VirtualTransport:
    """A group of virtual ranks."""

    name = "virtual"

    def __init__(self, exchange: Exchange, own: int, rank: int, size: int) -> None:
        self.exchange, self.own, self.rank, self.size = exchange, own, rank, size

    def send(self, array: Any, dest: int, tag: int) -> _Message:
        """Send an array to a rank."""
        message, key = _Message(array), (self.rank, dest, tag)
        self.exchange.sends[key].append(message)
        self.exchange.match(key)
        return message

    def recv(self, array: Any, source: int, tag: int) -> _Message:
        """Receive from a rank into an array."""
        message, key = _Message(array), (source, self.rank, tag)
        self.exchange.receives[key].append(message)
        self.exchange.match(key)
        return message

    def all_reduce(self, array: Any, op: str) -> _Meeting:
        """Combine the arrays of all ranks in place, in the order of the ranks."""

        def finish(meeting: _Meeting) -> None:
            total = _combined(meeting, op)
            for each in meeting.arrays.values():
                assign(each, total)

        return self._meet(array, None, finish)

    def broadcast(self, array: Any, root: int) -> _Meeting:
        """Copy the array of `root` into those of all ranks."""

        def finish(meeting: _Meeting) -> None:
            sent = launch.to_host(meeting.arrays[root]).copy()
            for each in meeting.arrays.values():
                assign(each, sent)

        return self._meet(array, None, finish)

    def all_gather(self, array: Any, out: Any) -> _Meeting:
        """Put the arrays of all ranks into `out`, in the order of ranks."""

        def finish(meeting: _Meeting) -> None:
            rows = np.stack(_in_order(meeting))
            for each in meeting.outputs.values():
                assign(each, rows)

        return self._meet(array, out, finish)

    def reduce_scatter(self, array: Any, out: Any, op: str) -> _Meeting:
        """Combine arrays of shape (size, *out.shape); rank r gets row r in `out`."""

        def finish(meeting: _Meeting) -> None:
            total = _combined(meeting, op)
            for rank, each in meeting.outputs.items():
                assign(each, total[rank])

        return self._meet(array, out, finish)

    def barrier(self) -> _Meeting:
        """Complete once every rank has called this."""
        return self._meet(None, None, lambda _: None)

    def split(self, ranks: Sequence[int]) -> VirtualTransport:
        """Return the transport of a group; only its ranks call this."""
        exchange = self.exchange.group(self.rank, tuple(ranks))
        return VirtualTransport(exchange, self.own, list(ranks).index(self.rank), len(ranks))

    def window(self, array: Any) -> LocalWindow:
        """Expose an array to one-sided operations, once every rank has called this."""
        window = LocalWindow([])

        def finish(meeting: _Meeting) -> None:
            arrays = [meeting.arrays[rank] for rank in range(self.size)]
            for each in meeting.outputs.values():
                each.arrays = arrays

        meeting = self._meet(array, window, finish)
        while not meeting.done():
            self.pause(0)
        return window

    def pause(self, attempts: int) -> None:
        """Let the other ranks run, however often it was asked."""
        self.exchange.turns.pass_on(self.own)

    def let_others_run(self) -> None:
        """Let the other ranks run, although this one does not wait."""
        self.exchange.turns.changed()
        self.exchange.turns.pass_on(self.own)

    def abort(self) -> None:
        """Do nothing: `run` ends the other ranks."""

    def _meet(self, array: Any, out: Any, finish: Callable[[_Meeting], None]) -> _Meeting:
        return self.exchange.meet(self.rank, self.size, array, out, finish)


def _in_order(meeting: _Meeting) -> list[Any]:
    return [launch.to_host(meeting.arrays[rank]) for rank in sorted(meeting.arrays)]


def _combined(meeting: _Meeting, op: str) -> Any:
    total, *others = _in_order(meeting)
    total = total.copy()
    for array in others:
        total = COMBINE[op](total, array)
    return total


def run(
    function: Callable[[World], Result],
    ranks: int,
    *,
    wrap: Callable[[VirtualTransport], Transport] = lambda transport: transport,
) -> list[Result]:
    """Call `function(world)` on so many virtual ranks; return what each of them returned.

    `World()` inside it is the same world, with the transport that `wrap` returns. Raises the error
    of the first rank that fails; where every rank waits, Deadlock says in which call each of them
    does.
    """
    turns = Turns(ranks)
    exchange, records = Exchange(turns), board.Memory(ranks)
    results: list[Any] = [None] * ranks
    errors: list[tuple[int, BaseException]] = []

    def body(rank: int) -> None:
        turns.wait(rank)
        transport = wrap(VirtualTransport(exchange, rank, rank, ranks))
        world = build(World, transport, records, REASON)
        world.deadline = world.grace = float("inf")
        current.set(world)
        try:
            if not errors:
                results[rank] = function(world)
            world.note(board.LEFT)
        except Deadlock as error:
            if not errors:
                deadlock = Deadlock(_deadlock(records, ranks))
                errors.append((rank, deadlock.with_traceback(error.__traceback__)))
        except BaseException as error:
            world.note(board.FAILED)
            errors.append((rank, error))
        finally:
            turns.ended = bool(errors)
            turns.leave(rank)

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(body, rank), daemon=True)
        for rank in range(ranks)
    ]
    for thread in threads:
        thread.start()
    turns.start()
    try:
        turns.over.wait()
    finally:
        turns.ended = True  # Ctrl-C: the rank that runs stops when it next waits
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0][1]
    return results


def _deadlock(records: board.Memory, ranks: int) -> str:
    doing = "; ".join(f"rank {rank} {records.read(rank)}" for rank in range(ranks))
    return f"no rank can go on: {doing}"
