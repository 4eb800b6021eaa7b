"""The ranks of a run, compared with each other and with one process, update by update."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit.checked.finding import ERROR
from gpukit.parallel.checker import activations, averages, cases, explanations, values
from gpukit.parallel.checker.findings import Finding
from gpukit.parallel.checker.memory import Slot
from gpukit.parallel.checker.recording import Recorder, Trace

# A gradient this much smaller than the largest of a model is compared as if it were larger.
SMALLEST = 0.01


@dataclass
class Pairing:
    """Which parameters of the ranks and of one process are the same.

    `slots` has, by name, where each rank holds the parameter; `axis` is the one along which it is
    split over the ranks, None for copies. `alone` is the trace of one process, if there is one to
    compare with.
    """

    traces: list[Trace]
    alone: Trace | None
    slots: dict[str, dict[int, Slot]] = field(default_factory=dict)
    own: dict[str, Slot] = field(default_factory=dict)
    axis: dict[str, int | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def updates(self, trace: Trace) -> int:
        """Return how many updates of a rank are followed, of its model with the most."""
        held = [s[trace.rank] for s in self.slots.values() if trace.rank in s]
        if trace is self.alone:
            held = list(self.own.values())
        return max((len(cases.history(trace, slot.model)) for slot in held), default=0)


def pair(recorder: Recorder, alone: Trace | None) -> Pairing:
    """Return which parameters belong together."""
    made = Pairing(recorder.traces, alone)
    held: dict[str, dict[int, Slot]] = {}
    for trace in recorder.traces:
        for slot in trace.slots():
            if slot.learned:
                held.setdefault(slot.name, {})[trace.rank] = slot
    own = {slot.name: slot for slot in alone.slots() if slot.learned} if alone else {}
    skipped = []
    for name, slots in held.items():
        axis = _axis([slot.shape for slot in slots.values()], own.get(name), len(recorder.traces))
        if axis == "unknown":
            skipped.append(name)
            continue
        made.slots[name], made.axis[name] = slots, None if axis is None else int(axis)
        if name in own:
            made.own[name] = own[name]
    if skipped:
        made.notes.append(
            f"Not compared: {', '.join(skipped)}, whose shapes on the ranks are neither that of "
            "one process nor parts of it along one axis. Return a mapping from the names that the "
            "parameters have in one process to each rank's own."
        )
    return made


def _axis(shapes: list[tuple[int, ...]], own: Slot | None, ranks: int) -> Any:
    """Return the axis along which shapes are parts of one, None for copies, or "unknown"."""
    whole = own.shape if own is not None else shapes[0]
    if all(shape == whole for shape in shapes):
        return None
    if own is None or len(shapes) != ranks or any(len(s) != len(whole) for s in shapes):
        return "unknown"
    for axis, size in enumerate(whole):
        others = [shape[:axis] + shape[axis + 1 :] for shape in shapes]
        if all(each == whole[:axis] + whole[axis + 1 :] for each in others):
            if sum(shape[axis] for shape in shapes) == size:
                return axis
    return "unknown"


def find(recorder: Recorder, alone: Trace | None) -> tuple[list[Finding], list[str]]:
    """Return what is wrong with gradients and parameters, and notes on what was not compared."""
    pairing = pair(recorder, alone)
    found = averages.statistics(pairing)
    _comparable(pairing, bool(found), recorder.whole)
    found += values.start(pairing)
    if any(finding.kind == "different-start" for finding in found):
        return found, pairing.notes
    averaging = averages.find(pairing)
    if averaging is not None:
        return found + averaging, pairing.notes
    held = [trace for trace in pairing.traces if pairing.updates(trace)]
    counts = [pairing.updates(trace) for trace in held]
    for step in range(min(counts, default=0)):
        wrong = _gradients(pairing, step)
        if not any(finding.severity == ERROR for finding in wrong):
            after = values.after(pairing, step)
            if not after:
                found += wrong
                continue
            wrong += after
        return found + wrong, pairing.notes  # what comes later follows from this
    if recorder.whole:
        found += values.at_end(pairing)
    return found, pairing.notes


def _comparable(pairing: Pairing, statistics: bool, whole: bool) -> None:
    """Leave out one process where its numbers must be other ones; say why."""
    alone = pairing.alone
    if alone is None:
        return
    reason = ""
    counts = {pairing.updates(trace) for trace in pairing.traces if pairing.updates(trace)}
    made = pairing.updates(alone)
    if statistics:
        reason = (
            "normalizes with the statistics of the whole batch, each rank with those of its part"
        )
    elif whole and len(counts) == 1 and counts != {made}:
        reason = (
            f"makes {made} updates, each rank {counts.pop()}: the batch of one process is not that "
            "of all ranks together. Pass alone=function, one that trains on the whole batch"
        )
    elif not values.same_start(pairing):
        reason = (
            "starts from other parameters than the ranks. Initialize the whole model with one seed "
            "and let each rank take its part"
        )
    if reason:
        pairing.notes.append(
            f"Gradients were not compared with those of one process, only between ranks: one "
            f"process {reason}."
        )
        pairing.alone, pairing.own = None, {}
        pairing.slots = {n: s for n, s in pairing.slots.items() if pairing.axis[n] is None}


def _gradients(pairing: Pairing, step: int) -> list[Finding]:
    found: list[Finding] = []
    vague: list[Finding] = []
    made = [_case(pairing, name, slots, step) for name, slots in pairing.slots.items()]
    known = [case for case in made if case is not None]
    floor = SMALLEST * max((case.scale for case in known), default=0.0)
    for case in known:
        if case.expected is None and len(case.ranks) < 2:
            continue
        case.floor = floor
        finding = explanations.diagnose(case)
        if finding is not None:
            (vague if finding.kind == "different-gradient" else found).append(finding)
    if vague and pairing.alone is not None:
        bias = activations.repeated_bias(pairing.traces, pairing.alone, pairing.own, step)
        if bias is not None:
            return [bias]
    return found or vague


def _case(pairing: Pairing, name: str, slots: dict[int, Slot], step: int) -> cases.Case | None:
    if any(len(cases.history(pairing.traces[r], s.model)) <= step for r, s in slots.items()):
        return None
    expected = None
    if pairing.alone is not None and name in pairing.own:
        own = pairing.own[name]
        made = cases.history(pairing.alone, own.model)
        if step < len(made) and made[step].grad is not None:
            expected = own.of(np.asarray(made[step].grad))
    return cases.case(name, step, slots, pairing.traces, expected, pairing.axis[name])
