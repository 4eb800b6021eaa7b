"""Grade one file: run it, compare with NumPy, look for races, count what it asks of memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpukit.course import attempt, compare, contracts, explain, shrink
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise
from gpukit.course.runner import Child, Outcome

if TYPE_CHECKING:
    from gpukit.checked.finding import Finding

# Findings that are warnings in general and make an answer wrong: it may be right by luck.
WRONG_BY_LUCK = {"warp-race", "shuffle-source", "block-order"}
# Findings that do no harm here and would do elsewhere.
DOUBTFUL = {"negative-index", "barrier-after-return"}
# Findings that are no fault by themselves and say why a value is wrong.
TELLING = {"negative-index"}


@dataclass(frozen=True)
class Row:
    """One thing that was tried: how it went, why it failed, what that says about the mistake."""

    name: str
    status: str
    why: str = ""
    sizes: str = ""
    hint: str = ""
    strange: bool = False  # a NaN or an infinity came out


@dataclass(frozen=True)
class Report:
    """What grading a file found out.

    `status` is right, but (right, but a contract is broken) or wrong; or what kept it from being
    graded: error, timeout, died, missing, protocol, syntax, untouched. `failed` is the smallest
    case that fails, where there is one.
    """

    exercise: str
    file: Path
    status: str
    why: str = ""
    rows: list[Row] = field(default_factory=list)
    failed: Case | None = None
    printed: str = ""

    @property
    def passed(self) -> bool:
        """Whether every case is right, no finding is in the way and every contract is kept."""
        return self.status == "right"


Watcher = Callable[[Row], None]


def nobody(row: Row) -> None:
    """Watch nothing."""


def run(exercise: Exercise, file: Path, watch: Watcher = nobody) -> Report:
    """Grade `file` as an answer to `exercise`, calling `watch` after each thing tried."""
    source, problem = attempt.look(exercise, file)
    if problem is not None:
        return Report(exercise.name, file, problem.status, problem.why)
    with Child(file, exercise.entry) as child:
        loaded = child.loaded()
        if loaded.kind == "ready":
            report = _Grading(exercise, file, source, child, watch).report()
        else:
            why = explain.outcome(loaded, source)
            report = Report(exercise.name, file, loaded.kind, why)
        return replace(report, printed=child.printed())


def judge(exercise: Exercise, case: Case, outcome: Outcome, source: str) -> Row:
    """Turn the outcome of a plain launch into a verdict with its explanation."""
    if outcome.kind != "arrays":
        return Row(case.name, outcome.kind, explain.outcome(outcome, source), case.sizes())
    missing = _unlike(case, outcome)
    if missing:
        return Row(case.name, "error", missing, case.sizes())
    for name in case.expected:
        mismatch = compare.compare(case, name, outcome.arrays[name], exercise.ulps)
        if mismatch is not None:
            known = compare.mistake(case, outcome.arrays, exercise.ulps)
            hint = known or explain.hint(mismatch)
            words = explain.mismatch(mismatch), case.sizes(), hint, mismatch.strange
            return Row(case.name, "wrong", *words)
    changed = compare.changed_inputs(case, outcome.arrays)
    if changed:
        return Row(case.name, "wrong", explain.changed(changed), case.sizes())
    return Row(case.name, "right", sizes=case.sizes())


def _unlike(case: Case, outcome: Outcome) -> str:
    """Refuse arrays of another shape or type than were sent."""
    for name, sent in case.args.items():
        if not isinstance(sent, np.ndarray):
            continue
        got = outcome.arrays.get(name)
        if got is None or (got.shape, got.dtype) != (sent.shape, sent.dtype):
            return f"The array {name} did not come back as it was sent."
    return ""


@dataclass
class _Grading:
    """One answer on its way through the three stages: values, findings, contracts."""

    exercise: Exercise
    file: Path
    source: str
    child: Child
    watch: Watcher
    rows: list[Row] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)

    def report(self) -> Report:
        for stage in (self._values, self._findings, self._contracts):
            report = stage()
            if report is not None:
                return report
        return self._made("right", "")

    def _made(self, status: str, why: str, failed: Case | None = None) -> Report:
        return Report(self.exercise.name, self.file, status, why, self.rows, failed)

    def _tried(self, row: Row) -> None:
        self.rows.append(row)
        self.watch(row)

    # ---- values: every case launched plainly ------------------------------------------------

    def _values(self) -> Report | None:
        failed: tuple[str, tuple[int, ...]] | None = None
        for name, shape in self.exercise.shapes.items():
            row, goes_on = self._launched(self.exercise.case(shape, name=name))
            self._tried(row)
            if row.status != "right" and failed is None:
                failed = row.status, shape
            if not goes_on:
                return self._made(row.status, row.why)
        return self._explained(*failed) if failed else None

    def _launched(self, case: Case) -> tuple[Row, bool]:
        outcome = self.child.launch(case, self.exercise.seconds)
        return judge(self.exercise, case, outcome, self.source), outcome.goes_on

    def _explained(self, status: str, shape: tuple[int, ...]) -> Report:
        """Shrink a failure, and let the checker speak before any number."""
        axes = zip(*self.exercise.shapes.values(), strict=True)
        least = tuple(max(1, min(extents)) for extents in axes)  # nothing is seen in an empty case

        def fails(smaller: tuple[int, ...]) -> bool:
            row, goes_on = self._launched(self.exercise.case(smaller))
            return goes_on and row.status == status

        case = self.exercise.case(shrink.smallest(shape, least, fails), name="smallest")
        row, _ = self._launched(case)
        found = [f for f in self._checked(case) if _is_wrong(f) or f.kind in TELLING]
        origin = self.child.origin(case, self.exercise.seconds).text if row.strange else ""
        if found:
            first = explain.finding(found[0])
        elif origin:
            first = origin
        else:  # a large case shows more of a pattern than the smallest
            hints = [r.hint for r in (row, *self.rows) if r.hint]
            first = hints[-1] if hints else ""
        values = row.why if row.status == "wrong" or not found else ""
        return self._made(row.status, "\n\n".join(filter(None, [first, values])), case)

    # ---- findings: every case under the checker ---------------------------------------------

    def _findings(self) -> Report | None:
        for case in self.exercise.cases():
            found = self._checked(case)
            wrong = [finding for finding in found if _is_wrong(finding)]
            if wrong:
                why = explain.finding(wrong[0])
                self._tried(Row("checked: " + case.name, "wrong", why, case.sizes()))
                luck = "The numbers came out right this time, by luck."
                return self._made("wrong", f"{why}\n\n{luck}", case)
            if case.name == self.exercise.measured:
                self.warnings = found
        self._tried(Row("checked: no races, nothing read before it is written", "right"))
        return None

    def _checked(self, case: Case) -> list[Finding]:
        """Return what `gpukit.check` finds, the worst first."""
        from gpukit.checked.report import Report as Found

        outcome = self.child.check(case, self.exercise.seconds)
        return Found.from_json(outcome.text).findings if outcome.kind == "text" else []

    # ---- contracts: one case counted --------------------------------------------------------

    def _contracts(self) -> Report | None:
        case = self.exercise.case(self.exercise.shapes[self.exercise.measured])
        outcome = self.child.profile(case, self.exercise.seconds)
        if outcome.kind != "text":
            return self._made(outcome.kind, explain.outcome(outcome, self.source))
        counts, broken = json.loads(outcome.text), ""
        for contract in contracts.of(self.exercise.contracts, case):
            counted = contracts.count(contract, case, counts)
            kept = contract.is_kept(counted)
            words = f"{contract}: {contracts.number(counted)}, asked {contract.asked}"
            self._tried(Row(words, "right" if kept else "but"))
            if not kept and not broken:
                busiest = contracts.accesses(contract, case, counts)[:1]
                literals = [f for f in self.warnings if f.kind == contract.measure]
                broken = explain.contract(contract, counted, case, busiest, self.source, literals)
        if not broken:
            broken = next((explain.finding(f) for f in self.warnings if f.kind in DOUBTFUL), "")
        return self._made("but", broken, case) if broken else None


def _is_wrong(finding: Finding) -> bool:
    return finding.severity == "error" or finding.kind in WRONG_BY_LUCK
