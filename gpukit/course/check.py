"""Test one file against an exercise: look at it, run it, compare, and keep what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gpukit.course import attempt, compare, explain, runner
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise


@dataclass(frozen=True)
class CaseResult:
    """One case: its name, its sizes, and why it failed (empty when it passed)."""

    name: str
    sizes: str
    status: str
    why: str = ""


@dataclass(frozen=True)
class Report:
    """What `gpukit test` found out.

    `status` is one of: passed, wrong, error, timeout, died, missing, syntax, untouched, rule.
    """

    exercise: str
    file: Path
    status: str
    why: str = ""
    cases: list[CaseResult] = field(default_factory=list)
    printed: str = ""

    @property
    def passed(self) -> bool:
        """Whether every case passed and the rules of the exercise were kept."""
        return self.status == "passed"


Watcher = Callable[[CaseResult], None]


def judge(exercise: Exercise, outcome: runner.Outcome, source: str) -> CaseResult:
    """Turn the outcome of one case into a verdict with its explanation."""
    case = outcome.case
    assert case is not None
    if outcome.kind != "arrays":
        status = "error" if outcome.kind == "protocol" else outcome.kind
        return CaseResult(case.name, case.sizes(), status, explain.outcome(outcome, source))
    missing = _unlike(case, outcome)
    if missing:
        return CaseResult(case.name, case.sizes(), "error", missing)
    for name in case.expected:
        mismatch = compare.compare(case, name, outcome.arrays[name], exercise.ulps)
        if mismatch is not None:
            return CaseResult(case.name, case.sizes(), "wrong", explain.mismatch(mismatch))
    changed = compare.changed_inputs(case, outcome.arrays)
    if changed:
        return CaseResult(case.name, case.sizes(), "wrong", explain.changed(changed))
    return CaseResult(case.name, case.sizes(), "passed")


def _unlike(case: Case, outcome: runner.Outcome) -> str:
    """Refuse arrays of another shape or type than were sent."""
    for name, sent in case.args.items():
        if not isinstance(sent, np.ndarray):
            continue
        got = outcome.arrays.get(name)
        if got is None or (got.shape, got.dtype) != (sent.shape, sent.dtype):
            return f"The array {name} did not come back as it was sent."
    return ""


def _results(exercise: Exercise, file: Path, source: str) -> Iterator[tuple[CaseResult, str]]:
    cases = exercise.cases()
    for outcome, printed in runner.run(exercise, file, cases):
        if outcome.case is None:
            status = "error" if outcome.kind == "protocol" else outcome.kind
            yield CaseResult("", "", status, explain.outcome(outcome, source)), printed
            return
        yield judge(exercise, outcome, source), printed


def _nobody(result: CaseResult) -> None:
    """Watch nothing."""


def run(exercise: Exercise, file: Path, watch: Watcher = _nobody) -> Report:
    """Run the cases of `exercise` on `file`, calling `watch` after each."""
    source, problem = attempt.look(exercise, file)
    if problem is not None:
        return Report(exercise.name, file, problem.status, problem.why)
    results: list[CaseResult] = []
    printed = ""
    for result, printed in _results(exercise, file, source):
        if not result.name:
            return Report(exercise.name, file, result.status, result.why, [], printed)
        results.append(result)
        watch(result)
    failed = [result for result in results if result.status != "passed"]
    if failed:
        return Report(exercise.name, file, failed[0].status, failed[0].why, results, printed)
    broken = attempt.rules(exercise, source)
    status = "rule" if broken else "passed"
    return Report(exercise.name, file, status, broken, results, printed)
