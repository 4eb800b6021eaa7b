"""The messages and collective operations of every rank, recorded by a wrapper of its transport."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpukit.parallel.calls import Call, call
from gpukit.parallel.checker import memory
from gpukit.parallel.checker.findings import make, names_in_words, ranks_in_words
from gpukit.parallel.checker.memory import Host, Region
from gpukit.parallel.single import Done
from gpukit.parallel.transport import Pending, Transport, Window
from gpukit.parallel.virtual import VirtualTransport

if TYPE_CHECKING:
    from gpukit.parallel.checker.recording import Recorder, Trace

# What an operation in progress writes must not even be read.
WRITING = ("recv", "all_reduce", "broadcast", "all_gather", "reduce_scatter")
ORDER = (
    "Let all ranks of the group call the same collective operations in the same order: look for a "
    "call under a condition that depends on the rank, and for a loop that runs more often on one "
    "rank than on another."
)


class Stopped(BaseException):
    """Ends a rank after a mistake that makes everything later meaningless."""


@dataclass(eq=False)
class Operation:
    """One message or collective operation of a rank.

    `before` and `after` are its array at the start and when it was complete; `known` says whether
    the rank has learned that it is complete, by `wait` or `done`. `flat` are all gradients of the
    model at the start of a message with some of them, `names` the parameters that it concerns.
    """

    rank: int
    ranks: tuple[int, ...]
    call: Call
    number: int
    step: int
    array: Any
    out: Any
    ledger: Ledger
    before: Host | None = None
    after: Host | None = None
    region: Region | None = None
    names: str = ""
    flat: Host | None = None
    complete: bool = False
    known: bool = False
    accused: bool = False

    @property
    def file(self) -> str:
        """The file of the call."""
        return self.call.file

    @property
    def line(self) -> int:
        """The line of the call."""
        return self.call.line

    @property
    def form(self) -> tuple[Any, ...]:
        """What must be equal on all ranks of a collective operation."""
        made = self.call
        return made.operation, made.op, made.shape, made.dtype, made.peer

    @property
    def label(self) -> Any:
        """What the array is, for a comparison of the order; "" where that is not known."""
        return self.region or self.call.name

    def __str__(self) -> str:
        return str(self.call)

    @property
    def what(self) -> str:
        """The operation and its array, in a few words."""
        parts = [part for part in (self.call.name, self.names) if part]
        return f"`{self.call.operation}`" + (f" of {', '.join(parts)}" if parts else "")


class Ledger:
    """What the ranks of one group have called so far; ranks in keys are those of the group."""

    def __init__(self) -> None:
        self.collectives: list[dict[int, Operation]] = []
        self.counts: Counter[int] = Counter()
        self.sends: defaultdict[tuple[int, int, int], list[Operation]] = defaultdict(list)
        self.receives: defaultdict[tuple[int, int, int], list[Operation]] = defaultdict(list)

    def join(self, operation: Operation) -> dict[int, Operation]:
        """Return the calls of all ranks so far that belong to a new collective one, by rank."""
        number = self.counts[operation.rank]
        self.counts[operation.rank] += 1
        if number == len(self.collectives):
            self.collectives.append({})
        joined = self.collectives[number]
        joined[operation.rank] = operation
        return joined

    def of(self, operation: Operation) -> dict[int, Operation]:
        """Return the calls that belong to a collective operation, by rank."""
        return next(
            joined for joined in self.collectives if joined.get(operation.rank) is operation
        )

    def partner(self, operation: Operation, key: tuple[int, int, int]) -> Operation | None:
        """Note a message; return the call at its other end, if that was made already."""
        mine, others = self.sends, self.receives
        if operation.call.operation == "recv":
            mine, others = others, mine
        mine[key].append(operation)
        number = len(mine[key]) - 1
        return others[key][number] if number < len(others[key]) else None

    def unmatched(self) -> tuple[list[Operation], list[Operation]]:
        """Return the messages that no rank receives, and the receives without a message."""
        pairs = {*self.sends, *self.receives}
        return (
            [o for key in pairs for o in self.sends[key][len(self.receives[key]) :]],
            [o for key in pairs for o in self.receives[key][len(self.sends[key]) :]],
        )


class Followed:
    """An operation in progress whose completion is noted."""

    def __init__(self, recorded: Recorded, operation: Operation, pending: Pending) -> None:
        self.recorded, self.operation, self.pending = recorded, operation, pending

    def done(self) -> bool:
        """Return whether the operation is complete; note that the rank asked."""
        if not self.pending.done():
            self.recorded.trace.polled = self.operation
            return False
        if not self.operation.known:
            self.recorded.settle(self.operation)
        return True


class Recorded:
    """The transport of a virtual rank that records what it does, and looks for mistakes in it."""

    def __init__(
        self, recorder: Recorder, trace: Trace, inner: VirtualTransport, ranks: tuple[int, ...]
    ) -> None:
        self.recorder, self.trace, self.inner, self.ranks = recorder, trace, inner, ranks
        self.name, self.rank, self.size = inner.name, inner.rank, inner.size
        self.ledger = recorder.ledgers[inner.exchange]

    # --- What a transport does -------------------------------------------------------------------

    def send(self, array: Any, dest: int, tag: int) -> Pending:
        """Send an array to a rank."""
        operation = self._begin("send", array, None)
        return self._message(operation, (self.rank, dest, tag), self.inner.send, array, dest, tag)

    def recv(self, array: Any, source: int, tag: int) -> Pending:
        """Receive from a rank into an array."""
        operation = self._begin("recv", array, array)
        key = source, self.rank, tag
        return self._message(operation, key, self.inner.recv, array, source, tag)

    def all_reduce(self, array: Any, op: str) -> Pending:
        """Combine the arrays of all ranks, in place."""
        operation = self._begin("all_reduce", array, array)
        return self._collective(operation, self.inner.all_reduce, array, op)

    def broadcast(self, array: Any, root: int) -> Pending:
        """Copy the array of `root` into those of all ranks."""
        operation = self._begin("broadcast", array, array)
        return self._collective(operation, self.inner.broadcast, array, root)

    def all_gather(self, array: Any, out: Any) -> Pending:
        """Put the arrays of all ranks into `out`."""
        operation = self._begin("all_gather", array, out)
        return self._collective(operation, self.inner.all_gather, array, out)

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Pending:
        """Combine arrays of shape (size, *out.shape); rank r gets row r."""
        operation = self._begin("reduce_scatter", array, out)
        return self._collective(operation, self.inner.reduce_scatter, array, out, op)

    def barrier(self) -> Pending:
        """Complete once every rank has called this."""
        operation = self._begin("barrier", None, None)
        return self._collective(operation, self.inner.barrier)

    def window(self, array: Any) -> Window:
        """Expose an array to one-sided operations."""
        operation = self._begin("window", array, None)
        self.trace.polled = operation
        made: list[Window] = []

        def expose() -> Pending:
            made.append(self.inner.window(array))
            return Done()

        self._collective(operation, expose)
        self.settle(operation)
        return made[0]

    def split(self, ranks: Sequence[int]) -> Transport:
        """Return the transport of a group; only its ranks call this."""
        inner = self.inner.split(ranks)
        return Recorded(self.recorder, self.trace, inner, tuple(self.ranks[r] for r in ranks))

    def pause(self, attempts: int) -> None:
        """Let the other ranks run."""
        self.inner.pause(attempts)

    def abort(self) -> None:
        """Do nothing: the checker ends the other ranks."""

    # --- Recording -------------------------------------------------------------------------------

    def _begin(self, name: str, array: Any, out: Any) -> Operation:
        trace = self.trace
        made, trace.called = trace.called or call(name, array), None
        number = len(trace.operations)
        operation = Operation(
            trace.rank, self.ranks, made, number, trace.step, array, out, self.ledger
        )
        operation.known = array is None
        if array is not None:
            operation.before = memory.copied(array)
            operation.region = region = memory.region_of(array, trace.models)
            if region is not None and region.what == "grad" and made.operation in ("send", "recv"):
                operation.flat = memory.copied(trace.models[region.model].grad)
            if region is not None:
                names = self.recorder.names(operation)
                kind = "the gradient of " if region.what == "grad" else ""
                operation.names = f"{kind}{names_in_words(names)}" if names else ""
        trace.operations.append(operation)
        if not operation.known:
            trace.open.append(operation)
        return operation

    def _message(
        self,
        operation: Operation,
        key: tuple[int, int, int],
        start: Callable[..., Pending],
        *arguments: Any,
    ) -> Pending:
        other = self.ledger.partner(operation, key)
        if other is not None:
            self._same_message(operation, other, key)
            self._unchanged(other)
        pending = start(*arguments)
        if other is not None:
            self._completed([operation, other])
        return Followed(self, operation, pending)

    def _collective(
        self, operation: Operation, start: Callable[..., Pending], *arguments: Any
    ) -> Pending:
        joined = self.ledger.join(operation)
        self._same_collective(operation, joined)
        complete = len(joined) == self.size
        if complete:
            for other in joined.values():
                self._unchanged(other)
        pending = start(*arguments)
        if complete:
            self._completed(list(joined.values()))
        return Followed(self, operation, pending)

    def _completed(self, operations: list[Operation]) -> None:
        for operation in operations:
            operation.complete = True
            if operation.out is not None:
                operation.after = memory.copied(operation.out)

    def settle(self, operation: Operation) -> None:
        """Note that the rank has learned that an operation is complete."""
        operation.known = True
        self.trace.open.remove(operation)
        if operation.after is not None:
            if not memory.same_bits(operation.after, memory.copied(operation.out)):
                self.recorder.accuse(operation, "before `wait` was called")
        if operation.step > self.recorder.followed:
            operation.before = operation.after = None

    def _unchanged(self, operation: Operation) -> None:
        """Look whether an array has changed since its operation was started."""
        if operation.before is not None:
            if not memory.same_bits(operation.before, memory.copied(operation.array)):
                self.recorder.accuse(operation, "before all ranks have called it")

    def _same_message(
        self, operation: Operation, other: Operation, key: tuple[int, int, int]
    ) -> None:
        sent, received = operation, other
        if operation.call.operation == "recv":
            sent, received = other, operation
        forms = [(each.call.shape, each.call.dtype) for each in (sent, received)]
        if forms[0] == forms[1]:
            return
        shapes = [f"{shape} {dtype}" for shape, dtype in forms]
        earlier = len(self.ledger.sends[key]) > 1
        self.recorder.stop(
            make(
                "message-mismatch",
                f"Rank {sent.rank} sends {sent.call.name or 'an array'} of {shapes[0]} with tag "
                f"{sent.call.tag} in line {sent.line}, and rank {received.rank} receives it in "
                f"line {received.line} into {received.call.name or 'an array'} of {shapes[1]}.",
                "Receive into an array of the shape and dtype that is sent. Messages of one tag "
                "arrive in the order in which they were sent: "
                + ("check that both ranks go through them in the same order" if earlier else "")
                + ("" if earlier else "where there are several, give each kind its own tag")
                + ".",
                received,
                sent,
                ranks=(sent.rank, received.rank),
                step=sent.step,
                details={"tag": sent.call.tag},
            )
        )

    def _same_collective(self, operation: Operation, joined: dict[int, Operation]) -> None:
        other = next((o for o in joined.values() if o.form != operation.form), None)
        if other is None:
            return
        number = self.ledger.counts[operation.rank]
        first, second = sorted((operation, other), key=lambda each: each.rank)
        alike = first.call.operation == second.call.operation
        fix = ORDER
        if alike and first.call.peer != second.call.peer:
            fix = "Give the same root on all ranks."
        elif alike and first.call.op != second.call.op:
            fix = "Give the same `op` on all ranks."
        elif alike:
            fix = (
                "Give arrays of one shape and dtype on all ranks: pad the shorter ones, or send "
                f"them as messages. If these are different arrays: {ORDER[0].lower()}{ORDER[1:]}"
            )
        self.recorder.stop(
            make(
                "collective-mismatch",
                f"Collective operation {number} of {ranks_in_words([first.rank])} is {first}, "
                f"and that of {ranks_in_words([second.rank])} is {second}: they cannot be "
                "one operation. MPI would wait forever, crash or mix up the numbers.",
                fix,
                second,
                first,
                ranks=(first.rank, second.rank),
                step=min(first.step, second.step),
                details={"number": number},
            )
        )
