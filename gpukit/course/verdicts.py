"""Verdicts on the values of a launch: right, or why they are wrong and what that hints at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from gpukit.course import compare, explain, gaps
from gpukit.course.case import Array, Case, unwritten
from gpukit.course.catalogue import Exercise
from gpukit.course.compare import Mismatch
from gpukit.course.runner import Outcome

MANY = 16  # elements of a case in which a condition on values is not met by chance


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
    outputs_wrong: tuple[str, ...] = ()


def judge(exercise: Exercise, case: Case, outcome: Outcome, source: str) -> Row:
    """Turn the outcome of a launch into a verdict with its explanation."""
    if outcome.kind != "arrays":
        why = explain.outcome(outcome, source, exercise.slow)
        return Row(case.name, outcome.kind, why, case.sizes())
    missing = _unlike(case, outcome)
    if missing:
        return Row(case.name, "error", missing, case.sizes())
    changed = tuple(compare.changed_inputs(case, outcome.arrays))
    wrong = [n for n in case.expected if _is_wrong(exercise, case, n, outcome.arrays[n])]
    if wrong:
        mismatch = compare.compare(case, wrong[0], outcome.arrays[wrong[0]], exercise.ulps)
        assert mismatch is not None
        words = explain.mismatch(mismatch, case), case.sizes()
        hints, arrays = _hints(case, outcome, mismatch, source), outcome.arrays
        row = Row(case.name, "wrong", *words, hints, mismatch, case, arrays, changed)
        return replace(row, outputs_wrong=tuple(wrong))
    if changed:
        why = f"The outputs are right. {explain.changed(changed)}"
        return Row(case.name, "wrong", why, case.sizes())
    return Row(case.name, "right", sizes=case.sizes())


def _is_wrong(exercise: Exercise, case: Case, name: str, got: Array) -> bool:
    expected = case.expected[name]
    allowed = compare.tolerance(expected, case.scale.get(name), exercise.ulps)
    return bool(compare.wrong_elements(got, expected, allowed).any())


def hint(failed: list[Row]) -> str:
    """Return the likeliest hint that all rows give; one element alone has no pattern."""
    failed = [row for row in failed if row.mismatch and row.mismatch.total > 1] or failed
    likely = dict.fromkeys(hint for row in reversed(failed) for hint in row.hints)
    return next((hint for hint in likely if all(hint in row.hints for row in failed)), "")


def pattern(rows: list[Row]) -> str:
    """Return what the wrong elements are in most of the cases that have several."""
    found = [row.mismatch for row in rows if row.mismatch is not None]
    said = [mismatch.pattern for mismatch in found if mismatch.wrong > 1]
    return next((words for words in said if 2 * said.count(words) > len(said)), "")


def condition(rows: list[Row]) -> str:
    """Return which values the wrong elements have in most of the cases that have many elements.

    What holds in one of several cases alone does so by chance.
    """
    found = [row.mismatch for row in rows if row.mismatch is not None]
    said = [mismatch.condition for mismatch in found if mismatch.total >= MANY]
    said = said or [mismatch.condition for mismatch in found]
    kinds = [re.sub(r"[-+.\d]+", "", words) for words in said]  # bounds differ from case to case
    last = reversed([*zip(said, kinds, strict=True)])  # larger cases come last
    return next((words for words, k in last if words and 2 * kinds.count(k) > len(kinds)), "")


def condition_of_one(rows: list[Row]) -> str:
    """Say which values the wrong elements have in the largest case that has a condition."""
    found = [(r.mismatch.total, r) for r in rows if r.mismatch is not None and r.mismatch.condition]
    _, row = max(found, key=lambda one: one[0], default=(0, None))
    return f"With {row.sizes}: {row.mismatch.condition}" if row and row.mismatch else ""


def multiples(rows: list[Row], said: str) -> list[str]:
    """Return what all wrong elements of each case are, as multiples, where it is not yet said."""
    found = (row.mismatch.multiple for row in rows if row.mismatch is not None)
    return [words for words in found if words and words not in said]


def of_outputs(rows: list[Row]) -> str:
    """Say which of several outputs are right in all cases, where all cases gave values."""
    case = next((row.case for row in rows if row.case is not None), None)
    if case is None or any(row.status not in ("right", "wrong") for row in rows):
        return ""
    seen = {name for row in rows for name in row.outputs_wrong}
    wrong = [case.whole(name) for name in case.expected if name in seen]
    return explain.outputs(wrong, [case.whole(n) for n in case.expected if n not in seen])


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
        if not isinstance(got, np.ndarray) or (got.shape, got.dtype) != (sent.shape, sent.dtype):
            return f"The array {name} came back with a different shape or dtype."
    return ""
