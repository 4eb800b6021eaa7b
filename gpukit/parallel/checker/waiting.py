"""Why ranks wait forever, and which messages and operations were left at the end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gpukit.checked.messages.phrases import some
from gpukit.parallel.calls import PACKAGE
from gpukit.parallel.checker.findings import Finding, Place, make
from gpukit.parallel.checker.operations import ORDER, Ledger, Operation
from gpukit.parallel.checker.recording import Recorder, Trace


def find(recorder: Recorder) -> list[Finding]:
    """Return what is wrong with the messages and collective operations of a run."""
    found = [_raised(trace) for trace in recorder.traces if trace.error is not None]
    if not (found or recorder.findings or recorder.whole):
        found += _stuck(recorder)
    for ledger in recorder.ledgers.values():
        found += _orders(recorder, ledger)
        if recorder.whole:
            found += _unmatched(ledger)
    if recorder.whole:
        found += _not_waited(recorder)
    return found


def _raised(trace: Trace) -> Finding:
    """Return the finding for an exception, at the deepest line of the program itself."""
    error = trace.error
    assert error is not None
    place, frame = Place(), error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            place = Place(file, frame.tb_lineno)
        frame = frame.tb_next
    return make(
        "raised",
        f"Rank {trace.rank} raised {type(error).__name__}: {error}",
        "Correct what the exception names. An exception on one rank ends all of them under "
        "`gpukit train`; without it the others wait forever.",
        place,
        ranks=(trace.rank,),
        step=trace.step,
    )


# --- Ranks that wait forever ---------------------------------------------------------------------


def _stuck(recorder: Recorder) -> list[Finding]:
    """Return why no rank could go on."""
    waits = {trace.rank: trace.stuck for trace in recorder.traces if trace.stuck is not None}
    needs = {rank: _needed(operation) for rank, operation in waits.items()}
    found = [_tag(operation) for operation in waits.values()]
    mistagged = [finding for finding in found if finding is not None]
    if mistagged:
        return mistagged
    left = [
        _left(recorder, waits[rank], other)
        for rank, others in needs.items()
        for other in others
        if recorder.traces[other].returned
    ]
    return left or [_cycle(waits, _circle(needs))]


def _needed(operation: Operation) -> list[int]:
    """Return the ranks that an operation waits for."""
    if operation.call.operation in ("send", "recv"):
        assert operation.call.peer is not None
        return [operation.call.peer]
    joined = operation.ledger.of(operation)
    return [rank for rank in operation.ranks if rank not in joined]


def _tag(operation: Operation) -> Finding | None:
    """Return the finding for a message that waits under another tag than the receive."""
    if operation.call.operation != "recv":
        return None
    made, (sends, _) = operation.call, operation.ledger.unmatched()
    other = next((s for s in sends if (s.rank, s.call.peer) == (made.peer, operation.rank)), None)
    if other is None or other.call.tag == made.tag:
        return None
    return make(
        "message-mismatch",
        f"Rank {operation.rank} waits in line {operation.line} for a message with tag {made.tag} "
        f"from rank {made.peer}, which has sent it one with tag {other.call.tag} in line "
        f"{other.line}.",
        "Give the send and the receive of one message the same tag.",
        operation,
        other,
        ranks=(other.rank, operation.rank),
        step=operation.step,
        details={"tag": made.tag, "sent": other.call.tag},
    )


def _left(recorder: Recorder, operation: Operation, other: int) -> Finding:
    trace = recorder.traces[other]
    last = trace.operations[-1] if trace.operations else None
    done = f"its last operation was {last}" if last else "it has called no operation at all"
    updates = [max(map(len, t.updates.values()), default=0) for t in recorder.traces]
    made = ""
    if updates[other] != updates[operation.rank]:
        made = (
            f" Rank {other} has made {some(updates[other], 'update')}, rank {operation.rank} "
            f"{updates[operation.rank]}."
        )
    message = operation.call.operation in ("send", "recv")
    fix = (
        "Every message needs its send and its receive: look for the other one under a condition "
        "or in a loop that ends early."
        if message
        else "Give all ranks the same number of steps: a loop that ends early on one rank, a "
        "`continue`, `break` or `return` under a condition, or parts of the data with different "
        "numbers of batches leave the others alone."
    )
    return make(
        "rank-left",
        f"Rank {operation.rank} waits forever in {operation.call} for rank {other}, which has "
        f"ended: {done}.{made}",
        fix,
        operation,
        last,
        ranks=(other, operation.rank),
        step=operation.step,
    )


def _circle(needs: dict[int, list[int]]) -> list[int]:
    """Return ranks of which each waits for the next one, and the last for the first."""
    path = [min(needs)]
    while True:
        following = next(rank for rank in needs[path[-1]] if rank in needs)
        if following in path:
            return path[path.index(following) :]
        path.append(following)


def _cycle(waits: dict[int, Operation], circle: Sequence[int]) -> Finding:
    first = waits[circle[0]]
    if len(circle) == 1:
        return make(
            "deadlock",
            f"Rank {circle[0]} waits for a message from itself, in {first.call}.",
            "Start the send with `isend` before the receive, or leave out a message of a rank to "
            "itself.",
            first,
            ranks=tuple(circle),
            step=first.step,
        )
    pairs = pairwise([*circle, circle[0]])
    words = "; ".join(f"rank {a} waits for rank {b} in {waits[a].call}" for a, b in pairs)
    kinds = {waits[rank].call.operation for rank in circle}
    if kinds == {"send"}:
        fix = (
            "Start the sends with `isend`, receive, and `wait()` for the sends afterwards; or let "
            "every second rank receive first. `send` may wait until the message is received."
        )
    elif kinds == {"recv"}:
        fix = "Send before you receive: start each send with `isend`, then receive."
    elif kinds <= {"send", "recv"}:
        fix = (
            "Go through the messages in one order on both sides, or start all sends and receives "
            "with `isend` and `irecv` and wait for them together."
        )
    else:
        fix = ORDER
    other = next((waits[r] for r in circle if waits[r].line != first.line), None)
    return make(
        "deadlock",
        f"No rank can go on: {words}.",
        fix,
        first,
        other,
        ranks=tuple(sorted(circle)),
        step=first.step,
        details={"cycle": list(circle)},
    )


# --- What is left at the end ---------------------------------------------------------------------


def _unmatched(ledger: Ledger) -> list[Finding]:
    sends, receives = ledger.unmatched()
    return [
        make(
            "never-received",
            f"Rank {o.rank} sends a message in {o.call} with tag {o.call.tag}, and rank "
            f"{o.call.peer} never receives it.",
            "Receive it, or do not send it. A message left over is received by the next `recv` "
            "with this tag, as the wrong one.",
            o,
            ranks=(o.rank, o.call.peer),
            step=o.step,
        )
        for o in sends
    ] + [
        make(
            "never-sent",
            f"Rank {o.rank} starts a receive in {o.call} with tag {o.call.tag}, and rank "
            f"{o.call.peer} never sends that message.",
            "Send it, or do not receive it.",
            o,
            ranks=(o.call.peer, o.rank),
            step=o.step,
        )
        for o in receives
    ]


def _not_waited(recorder: Recorder) -> list[Finding]:
    return [
        make(
            "not-waited",
            f"{o.what} on rank {o.rank}, started in line {o.line}, is never waited for: "
            "its array may hold the old numbers or the new ones.",
            "Keep what the call returns and call its `wait()` before the array is used.",
            o,
            parameters=recorder.names(o),
            ranks=(o.rank,),
            step=o.step,
        )
        for trace in recorder.traces
        for o in trace.open
        if o.complete and not o.accused
    ]


# --- The order, by what the arrays are -----------------------------------------------------------


def _orders(recorder: Recorder, ledger: Ledger) -> list[Finding]:
    """Return where ranks call the same operations for their arrays in different orders."""
    found = [_collective_order(recorder, ledger)]
    for key in ledger.sends:
        found.append(_message_order(ledger.sends[key], ledger.receives[key]))
    return [finding for finding in found if finding is not None]


def _collective_order(recorder: Recorder, ledger: Ledger) -> Finding | None:
    labels = [{rank: o.label for rank, o in joined.items()} for joined in ledger.collectives]
    for joined, here in zip(ledger.collectives, labels, strict=True):
        first, *others = sorted(joined.values(), key=lambda o: o.rank)
        for other in others:
            mine, its = here[first.rank], here[other.rank]
            if not (mine and its) or mine == its:
                continue
            if any(each.get(other.rank) == mine for each in labels):
                if any(each.get(first.rank) == its for each in labels):
                    return _wrong_order("collective-order", recorder, first, other)
    return None


def _wrong_order(kind: str, recorder: Recorder, a: Operation, b: Operation) -> Finding:
    names = [recorder.names(each) for each in (a, b)]
    whats = [each[0] if each else o.call.name for each, o in zip(names, (a, b), strict=True)]
    return make(
        kind,
        f"Where rank {a.rank} calls `{a.call.operation}` for `{whats[0]}` (line {a.line}), rank "
        f"{b.rank} calls it for `{whats[1]}` (line {b.line}): the numbers of different arrays are "
        "combined, and both have the same shape, so that nothing fails.",
        "Go through the arrays in one order on all ranks: that of `parameters.names`, never that "
        "of a set or of what was ready first.",
        b,
        a,
        parameters=tuple(dict.fromkeys(names[0] + names[1])),
        ranks=(a.rank, b.rank),
        step=a.step,
    )


def _message_order(sends: Sequence[Operation], receives: Sequence[Operation]) -> Finding | None:
    for sent, received in zip(sends, receives, strict=False):
        mine, its = sent.call.name, received.call.name
        if mine and its and mine != its:
            later = {o.call.name for o in receives}, {o.call.name for o in sends}
            if mine in later[0] and its in later[1]:
                return make(
                    "message-order",
                    f"Rank {received.rank} receives the message `{mine}`, which rank {sent.rank} "
                    f"sends in line {sent.line}, as `{its}` in line {received.line}.",
                    "Messages of one tag arrive in the order in which they were sent: receive them "
                    "in that order, or give each its own tag.",
                    received,
                    sent,
                    ranks=(sent.rank, received.rank),
                    step=sent.step,
                )
    return None
