"""Averages of parameters over the ranks, and running averages of batch normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpukit.parallel.checker import cases, memory, values
from gpukit.parallel.checker.findings import Finding, Place, make
from gpukit.parallel.checker.memory import Slot
from gpukit.parallel.checker.operations import Operation
from gpukit.parallel.checker.values import apart, copies, differs

if TYPE_CHECKING:
    from gpukit.parallel.checker.comparison import Pairing


def find(pairing: Pairing) -> list[Finding] | None:
    """Return what is wrong with averages of parameters; None for a program without any."""
    if any(o.call.operation == "window" for trace in pairing.traces for o in trace.operations):
        pairing.notes.append(
            "Gradients and updates were not compared: ranks that exchange parameters through a "
            "window, without waiting for each other, differ from one process by design."
        )
        return values.at_end(pairing)
    for name, slots in copies(pairing):
        first = min(slots)
        made = _averaging(pairing, slots[first], first)
        if made:
            return _averaged(pairing, name, slots, made)
    return None


def _averaging(pairing: Pairing, slot: Slot, rank: int) -> list[Operation]:
    return [
        o
        for o in pairing.traces[rank].operations
        if o.region is not None
        and o.call.operation == "all_reduce"
        and o.region.holds(slot.grad._replace(what="value"))
    ]


def _averaged(
    pairing: Pairing, name: str, slots: dict[int, Slot], made: list[Operation]
) -> list[Finding]:
    """Return a wrong factor of the first average, or copies that differ at the end."""
    mark, states, last = made[0].number, {}, {}
    for rank, slot in slots.items():
        trace = pairing.traces[rank]
        done = [u for u in trace.updates[slot.model] if u.mark <= mark and u.after is not None]
        following = [u for u in trace.updates[slot.model] if u.mark > mark]
        following += trace.ends[slot.model : slot.model + 1]
        if not done or not following or following[0].before is None:
            return []
        last[rank] = slot.of(np.asarray(done[-1].after))
        states[rank] = slot.of(following[0].before)
    mean = np.mean(list(last.values()), axis=0)
    found, place = states[min(states)], made[0]
    facts: dict[str, Any] = {"parameters": (name,), "ranks": tuple(slots), "step": made[0].step}
    c, n = memory.factor(found, mean), len(slots)
    scale = float(np.abs(mean).max(initial=0))
    ends = {
        rank: slot.of(np.asarray(pairing.traces[rank].ends[slot.model].after))
        for rank, slot in slots.items()
        if pairing.traces[rank].ends
    }
    if apart(states) is not None:
        return [
            make(
                "lost-result",
                f"`{name}` differs between ranks after the average in line {place.line}: "
                f"{differs(states)}.",
                "Use the result on every rank: `all_reduce` works in place, and a copy must be "
                "copied back.",
                place,
                **facts,
            )
        ]
    if not memory.close(found, mean, scale, cases.TOLERANCE):
        kind = "averaged" if c < 1 else "summed"
        kind = kind if memory.close(found, c * mean, scale * max(c, 1), 0.01) else "scaled"
        return [
            make(
                kind,
                f"`{name}` after the average in line {place.line} is {c:.3g} times the mean of the "
                f"{n} ranks.",
                "Divide the sum of the parameters by `world.size` once.",
                place,
                **facts,
            )
        ]
    if ends and apart(ends) is not None:
        return [
            make(
                "drift",
                f"`{name}` differs between ranks at the end: {differs(ends)}; the last average, "
                f"in line {made[-1].line}, came before the last updates.",
                "Average once more after the last update.",
                made[-1],
                **facts,
            )
        ]
    return []


def statistics(pairing: Pairing) -> list[Finding]:
    """Return the running averages that differ between ranks."""
    found: dict[str, None] = {}
    traces = [trace for trace in pairing.traces if trace.buffers]
    if len(traces) < len(pairing.traces):
        return []
    for trace in traces[1:]:
        for mine, first in zip(trace.buffers, traces[0].buffers, strict=False):
            for name, numbers in mine.items():
                other = first.get(name)
                if other is not None and numbers.dtype.kind == "f":
                    if not memory.same_bits(numbers, other):
                        found[name] = None
    if not found:
        return []
    return [
        make(
            "local-statistics",
            f"The running averages `{'`, `'.join(found)}` differ between ranks: each has those of "
            "its own examples.",
            "Save and evaluate the model of one rank, or average them over the ranks before. "
            "Batch normalization with the statistics of all ranks exchanges them in `forward`.",
            Place(),
            parameters=tuple(found),
            ranks=tuple(trace.rank for trace in traces),
        )
    ]
