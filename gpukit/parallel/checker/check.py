"""`parallel.check`: run a program on virtual ranks and report what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpukit import status
from gpukit.parallel.checker import comparison, masks, waiting
from gpukit.parallel.checker.findings import RanksReport
from gpukit.parallel.checker.recording import FOLLOWED, Trace, record
from gpukit.parallel.world import World

MOST = 8
# After these, what the ranks compute means nothing.
_CONFUSED = {"in-flight", "not-waited", "collective-order", "message-order"}


def check(
    program: Callable[[World], Any],
    ranks: int = 2,
    *,
    alone: Callable[[World], Any] | bool = True,
    updates: int = FOLLOWED,
) -> RanksReport:
    """Run a program on 2 to 8 virtual ranks and return what is wrong with it.

        def train(world):
            model = nn.Sequential(...)
            parameters = nn.Parameters(model, seed=0)
            ...

        print(parallel.check(train, ranks=4))

    `program(world)` is called by each rank, and once more in one process: gradients, updates and
    parameters of the ranks must be those of one process on the whole batch, and those of several
    ranks must be the same. Nothing needs to be returned: every `nn.Parameters`, every optimizer,
    message and collective operation is recorded, of `nn.fit` and of loops by hand. Where ranks hold
    different parts of a model, the program returns a mapping from the names that the parameters
    have in one process to each rank's own `nn.Parameter`; a slice along an axis is recognized by
    its shape. Arrays in that mapping are compared as results.

    `alone` is the program for one process if that is another one; with False the ranks are only
    compared with each other. The first `updates` updates are compared. Dropout is left out where
    ranks are compared with one process, whose masks are other ones.

    Needs neither MPI nor several processes. Kernels run on the CPU target. Whatever the program
    writes to files it writes once per run: let it write no checkpoint.
    """
    if not 2 <= ranks <= MOST:
        raise ValueError(f"check: expected 2 to {MOST} ranks, got {ranks}.")
    name = getattr(program, "__name__", "the program")
    with status.doing(f"check {name} on {ranks} ranks"):
        recorder = record(program, ranks, followed=updates)
        findings = [*recorder.findings, *waiting.find(recorder), *masks.find(recorder)]
        notes: list[str] = []
        if any(finding.kind in _CONFUSED for finding in findings):
            notes.append("Gradients and parameters were not compared: correct this first.")
        else:
            one, compared = _one(program if alone is True else alone, notes, updates), recorder
            if one is not None and any(_drops(trace) for trace in recorder.traces):
                compared = record(program, ranks, dropout=False, followed=updates)
            found, more = comparison.find(compared, one)
            same_batch = any(finding.kind == "same-batch" for finding in found)
            findings = [f for f in findings if not (same_batch and f.kind == "different-masks")]
            findings += found
            notes += more
    if not any(trace.operations for trace in recorder.traces):
        notes.append("The ranks exchanged nothing: each of them did the same on its own.")
    operations = sum(len(trace.operations) for trace in recorder.traces)
    steps = max((len(u) for t in recorder.traces for u in t.updates.values()), default=0)
    return RanksReport(findings, f"`{name}`", ranks, operations, steps, notes)


def _drops(trace: Trace) -> bool:
    return any(0 < draw.p < 1 for draw in trace.draws)


def _one(program: Callable[[World], Any] | bool, notes: list[str], updates: int) -> Trace | None:
    """Return the trace of one process, None if there is none."""
    if not callable(program):
        return None
    one = record(program, 1, dropout=False, followed=updates)
    (trace,) = one.traces
    if one.whole:
        return trace
    what = "does not end" if trace.error is None else f"raises {trace.error!r}"
    notes.append(
        f"Nothing was compared with one process, where the program {what}. Pass alone=function, "
        "one that trains on the whole batch, or alone=False."
    )
    return None
