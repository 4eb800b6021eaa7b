"""A cluster in slow motion: real messages and schedules, with stated times of links and devices.

    slow = parallel.SlowMotion(world, link=Link(latency=2e-3, bandwidth=100e6))
    with slow.compute(0.02, "forward 3"):
        out, saved = model.forward(x)
    slow.group.all_reduce(gradients)
    slow.timeline()

Every rank sleeps until the time that an operation should take has passed, so that eight ranks on
two cores show what eight devices would do. A process wakes up somewhat late; what it does next
begins at the time at which it should have, so that delays do not add up. Virtual ranks do not
sleep: each has a clock of its own, which computation and messages put forward, and their times are
exact.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from gpukit import launch
from gpukit.parallel.algorithms import ALGORITHMS, TAG, Running
from gpukit.parallel.links import Link
from gpukit.parallel.single import assign
from gpukit.parallel.transport import Pending, Transport, Window
from gpukit.parallel.world import Group

COLLECTIVES = 1024  # that may be in progress, each with a tag of its own
NAP = 0.001  # seconds after which a sleeping rank looks for messages again
LATE = 0.02  # seconds by which a rank may be late and still catch up


class Span(NamedTuple):
    """What a rank computed, from start to end in seconds since the beginning."""

    label: str
    start: float
    end: float


class Message(NamedTuple):
    """A message on the link of a rank, from start to end in seconds, and its bytes."""

    start: float
    end: float
    nbytes: int


class Clock(Protocol):
    """The time of a rank."""

    def now(self) -> float:
        """Return the time in seconds."""

    def wait(self, until: float | None) -> None:
        """Return at that time, or somewhat before; without a time at once."""

    def stated(self) -> float:
        """Return the time that it would be if no wait had ended late."""

    def reach(self, moment: float) -> None:
        """Note that what the rank may be waiting for should have happened at that moment."""


class RealClock:
    """The time of the machine, which all its processes share."""

    def __init__(self) -> None:
        self.late = 0.0  # seconds since the last wait should have ended
        self.waiting: float | None = None  # when that wait should end, by all that is known

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def wait(self, until: float | None) -> None:
        """Sleep, but not for long: a message may come."""
        if self.waiting is None:
            self.waiting = self.now() - self.late
        if until is not None:
            time.sleep(min(NAP, max(0.0, until - self.now())))

    def stated(self) -> float:
        """Return the time without the delay of the last wait: work between waits takes its time."""
        self.waiting = None
        return self.now() - self.late

    def reach(self, moment: float) -> None:
        """Note a moment that a wait should have ended at."""
        now = self.now()
        if self.waiting is None:
            self.late = min(self.late, now - moment)
        else:
            self.waiting = max(self.waiting, moment)
            self.late = min(now - self.waiting, LATE)


class VirtualClock:
    """A number that waiting puts forward."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        """Return the time in seconds."""
        return self.time

    def wait(self, until: float | None) -> None:
        """Go to that time."""
        self.time = max(self.time, until or 0.0)

    def stated(self) -> float:
        """Return the time in seconds."""
        return self.time

    def reach(self, moment: float) -> None:
        """Do nothing: nobody is late."""


class Paces:
    """The clock of a rank, the link it sends on, and for what times its operations wait."""

    def __init__(self, clock: Clock, link: Link) -> None:
        self.clock, self.link = clock, link
        self.free = clock.now()  # since when the link has nothing to send
        self.due: list[float] = []
        self.messages: list[Message] = []

    def occupy(self, nbytes: int) -> float:
        """Put a message into the link's queue; return when it arrives."""
        start = max(self.free, self.clock.stated())
        self.free = start + float(self.link.seconds(nbytes))
        self.messages.append(Message(start, self.free, nbytes))
        return self.free

    def reached(self, moment: float) -> bool:
        """Return whether it is time; if not, remember for `pause`."""
        if self.clock.now() >= moment:
            self.clock.reach(moment)
            return True
        self.due.append(moment)
        return False


class Sent:
    """A message that leaves the link at a stated time."""

    def __init__(self, pending: Pending, leaves: float, paces: Paces) -> None:
        self.pending, self.leaves, self.paces = pending, leaves, paces

    def done(self) -> bool:
        """Return whether it has left."""
        return self.pending.done() and self.paces.reached(self.leaves)


class Received:
    """A message that is there once it has come, at the time that it carries."""

    def __init__(self, pending: Pending, memory: Any, array: Any, paces: Paces) -> None:
        self.pending, self.memory, self.array, self.paces = pending, memory, array, paces
        self.completed = False

    def done(self) -> bool:
        """Return whether it has arrived."""
        if not self.completed and self.pending.done():
            arrives = float(self.memory[:8].view(np.float64)[0])
            if self.paces.reached(arrives):
                data = self.memory[8:].view(self.array.dtype)
                assign(self.array, data.reshape(self.array.shape))
                self.completed = True
        return self.completed


class SlowTransport:
    """A group of ranks whose messages take the time of a link, and collectives that of theirs."""

    def __init__(self, inner: Transport, paces: Paces, algorithm: str) -> None:
        self.inner, self.paces, self.algorithm = inner, paces, algorithm
        self.name, self.rank, self.size = f"{inner.name}, in slow motion", inner.rank, inner.size
        self.started = 0

    def send(self, array: Any, dest: int, tag: int) -> Sent:
        """Send an array and the time at which it arrives."""
        data = np.ascontiguousarray(launch.to_host(array)).reshape(-1).view(np.uint8)
        arrives = self.paces.occupy(data.nbytes)
        memory = np.concatenate([np.array([arrives]).view(np.uint8), data])
        return Sent(self.inner.send(memory, dest, tag), arrives, self.paces)

    def recv(self, array: Any, source: int, tag: int) -> Received:
        """Receive from a rank into an array."""
        self.paces.clock.stated()  # what came before it is no part of the wait
        memory = np.empty(8 + array.size * array.dtype.itemsize, np.uint8)
        return Received(self.inner.recv(memory, source, tag), memory, array, self.paces)

    def all_reduce(self, array: Any, op: str) -> Running:
        """Combine the arrays of all ranks in place, by messages."""
        return Running(ALGORITHMS[self.algorithm](self, array, op, self._tag()))

    def broadcast(self, array: Any, root: int) -> Running:
        """Copy the array of `root` into those of all ranks, by a binomial tree."""
        return Running(self._broadcast(array, root, self._tag()))

    def all_gather(self, array: Any, out: Any) -> Running:
        """Put the arrays of all ranks into `out`, around a ring."""
        return Running(self._all_gather(array, out, self._tag()))

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Running:
        """Combine arrays of shape (size, *out.shape); rank r gets row r in `out`."""
        return Running(self._reduce_scatter(array, out, op))

    def barrier(self) -> Running:
        """Complete once every rank has called this: an all-reduce of one byte."""
        return self.all_reduce(np.zeros(1, np.uint8), "max")

    def split(self, ranks: Sequence[int]) -> SlowTransport:
        """Return the transport of a group, whose messages use the same link of this rank."""
        return SlowTransport(self.inner.split(ranks), self.paces, self.algorithm)

    def window(self, array: Any) -> Window:
        """Expose an array to one-sided operations, which take no stated time."""
        return self.inner.window(array)

    def pause(self, attempts: int) -> None:
        """Wait for the first of the times that operations wait for; else let others run."""
        due, self.paces.due = self.paces.due, []
        self.paces.clock.wait(min(due, default=None))
        if not due:
            self.inner.pause(attempts)

    def abort(self) -> None:
        """End all ranks of the program."""
        self.inner.abort()

    def _tag(self) -> int:
        self.started += 1
        return TAG - COLLECTIVES + self.started % COLLECTIVES

    def _broadcast(self, array: Any, root: int, tag: int) -> Iterator[Pending]:
        p, rank = self.size, (self.rank - root) % self.size
        for k in reversed(range((p - 1).bit_length())):
            distance = 1 << k
            if rank % (2 * distance) == distance:
                yield self.recv(array, (rank - distance + root) % p, tag)
            elif rank % (2 * distance) == 0 and rank + distance < p:
                yield self.send(array, (rank + distance + root) % p, tag)

    def _all_gather(self, array: Any, out: Any, tag: int) -> Iterator[Pending]:
        p, rank = self.size, self.rank
        rows = np.empty((p, *array.shape), array.dtype)
        rows[rank] = launch.to_host(array)
        for step in range(p - 1):
            sending = self.send(rows[(rank - step) % p], (rank + 1) % p, tag)
            yield self.recv(rows[(rank - step - 1) % p], (rank - 1) % p, tag)
            yield sending
        assign(out, rows)

    def _reduce_scatter(self, array: Any, out: Any, op: str) -> Iterator[Pending]:
        total = launch.to_host(array).copy()
        yield self.all_reduce(total, op)
        assign(out, total[self.rank])


class SlowMotion:
    """The ranks of a group in slow motion: `group` is the same group with links of a stated speed.

    Each rank sends over a link of its own, one message after the other, and receives from any
    number of links at once. `algorithm` is that of all-reduce, "ring" or "tree".
    """

    def __init__(self, group: Group, *, link: Link, algorithm: str = "ring") -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(
                f"SlowMotion: expected algorithm to be one of {', '.join(ALGORITHMS)}, got "
                f"{algorithm!r}."
            )
        # Virtual ranks have it: they take turns, and no time of the machine's.
        self.let_others_run = getattr(group.transport, "let_others_run", None)
        self.clock: Clock = RealClock() if self.let_others_run is None else VirtualClock()
        self.paces = Paces(self.clock, link)
        self.group = Group(
            group.world, SlowTransport(group.transport, self.paces, algorithm), group.ranks
        )
        self.spans: list[Span] = []
        group.barrier()
        self.begun = self.clock.now()

    def now(self) -> float:
        """Return the seconds since the beginning."""
        return self.clock.now() - self.begun

    @property
    def sent(self) -> list[Message]:
        """What this rank has sent, with times since the beginning."""
        return [
            Message(start - self.begun, end - self.begun, nbytes)
            for start, end, nbytes in self.paces.messages
        ]

    @contextmanager
    def compute(self, seconds: float, label: str = "") -> Iterator[None]:
        """Let the body of a `with` block take so many seconds of this rank's time."""
        start = self.clock.stated()
        yield
        while self.clock.now() < start + seconds:
            self.clock.wait(start + seconds)
        self.clock.reach(start + seconds)
        # A virtual rank takes no time to compute: the others must get theirs to send meanwhile.
        if self.let_others_run is not None:
            self.let_others_run()
        self.spans.append(Span(label, start - self.begun, self.clock.stated() - self.begun))

    def timeline(self) -> list[list[Span]]:
        """Return what every rank has computed so far, on all ranks; each of them calls this.

        Between its spans a rank waited.
        """
        counts = self.group.world.all_gather(np.array([len(self.spans)]))[:, 0]
        most = int(counts.max())
        rows = np.zeros((most, 2 + _LABEL // 8))
        for row, span in zip(rows, self.spans, strict=False):
            row[:2] = span.start, span.end
            text = span.label.encode()[:_LABEL]
            row[2:].view(np.uint8)[: len(text)] = np.frombuffer(text, np.uint8)
        gathered = self.group.world.all_gather(rows)
        return [
            [_span(row) for row in rows[:count]]
            for rows, count in zip(gathered, counts, strict=True)
        ]


_LABEL = 64  # bytes of a label


def _span(row: Any) -> Span:
    text = bytes(row[2:].view(np.uint8)).rstrip(b"\0").decode(errors="ignore")
    return Span(text, float(row[0]), float(row[1]))


def idle_fraction(timeline: list[list[Span]]) -> float:
    """Return the mean fraction of the time, from the first start to the last end, without work."""
    start = min(span.start for spans in timeline for span in spans)
    end = max(span.end for spans in timeline for span in spans)
    busy = [sum(span.end - span.start for span in spans) for spans in timeline]
    return 1 - sum(busy) / len(busy) / (end - start)
