"""Verdicts on the values of a launch: right, or why they are wrong and what that hints at."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpukit.course import compare, explain, gaps
from gpukit.course.case import Array, Case, unwritten
from gpukit.course.catalogue import Exercise
from gpukit.course.compare import Mismatch
from gpukit.course.runner import Outcome


@dataclass(frozen=True)
class Row:
    """One thing that was tried: how it went and why it failed.

    `hints` are what the wrong values say about the mistake behind them, the likeliest first;
    `case` and `outputs` are there where values are wrong.
    """

    name: str
    status: str
    why: str = ""
    sizes: str = ""
    hints: tuple[str, ...] = ()
    mismatch: Mismatch | None = None
    case: Case | None = None
    outputs: dict[str, Array] = field(default_factory=dict, repr=False, compare=False)
    changed: tuple[str, ...] = ()  # inputs that the kernel wrote to


def judge(exercise: Exercise, case: Case, outcome: Outcome, source: str) -> Row:
    """Turn the outcome of a plain launch into a verdict with its explanation."""
    if outcome.kind != "arrays":
        why = explain.outcome(outcome, source, exercise.slow)
        return Row(case.name, outcome.kind, why, case.sizes())
    missing = _unlike(case, outcome)
    if missing:
        return Row(case.name, "error", missing, case.sizes())
    changed = tuple(compare.changed_inputs(case, outcome.arrays))
    for name in case.expected:
        mismatch = compare.compare(case, name, outcome.arrays[name], exercise.ulps)
        if mismatch is not None:
            words = explain.mismatch(mismatch, case), case.sizes()
            hints, arrays = _hints(case, outcome, mismatch, source), outcome.arrays
            return Row(case.name, "wrong", *words, hints, mismatch, case, arrays, changed)
    if changed:
        why = f"The outputs are right. {explain.changed(changed)}"
        return Row(case.name, "wrong", why, case.sizes())
    return Row(case.name, "right", sizes=case.sizes())


def _hints(case: Case, outcome: Outcome, mismatch: Mismatch, source: str) -> tuple[str, ...]:
    found: list[str] = []
    if mismatch.unwritten == mismatch.wrong:
        found += gaps.sentences(case, ~unwritten(outcome.arrays[mismatch.output]), source)
    return tuple(filter(None, [*found, explain.hint(mismatch)]))


def _unlike(case: Case, outcome: Outcome) -> str:
    """Refuse arrays of another shape or type than were sent."""
    for name, sent in case.args.items():
        if not isinstance(sent, np.ndarray):
            continue
        got = outcome.arrays.get(name)
        if got is None or (got.shape, got.dtype) != (sent.shape, sent.dtype):
            return f"The array {name} came back with a different shape or dtype."
    return ""
