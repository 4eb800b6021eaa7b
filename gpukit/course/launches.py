"""Launch cases of an exercise in the answer's process, and judge the values that come back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpukit import target
from gpukit.checked.report import Report as Found
from gpukit.course import explain, frames, verdicts
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise
from gpukit.course.compare import Mismatch
from gpukit.course.runner import Child, Outcome
from gpukit.course.verdicts import Row

if TYPE_CHECKING:
    from gpukit.checked.finding import Finding

# Findings that stop a launch which is not checked: an error, or a refusal.
STOPS = {"out-of-bounds", "barrier-divergence", "cooperative-misuse", "endless-wait", "raised"}
REFUSED = {"launch-refused", "returned-local"}


@dataclass(frozen=True)
class Tried:
    """A case that was launched: the verdict on its values, and what the checker found.

    `found` is None where the launch was a plain one, and where none was made.
    """

    case: Case
    row: Row
    goes_on: bool
    found: Found | None = None

    @property
    def findings(self) -> list[Finding]:
        return self.found.findings if self.found else []


@dataclass(frozen=True)
class Launches:
    """Launches of an answer, each judged by its values.

    On a CPU a case is launched once, under the checker, so that one compiled form gives values and
    findings. On a GPU the launch is a plain one, and the checker runs the kernel again.
    """

    exercise: Exercise
    source: str
    child: Child

    def launched(self, case: Case) -> Tried:
        """Launch a case: under the checker, but on a GPU."""
        if self._is_on_a_gpu():
            return self._judged(case, self._outcome(case))
        checked = self.checked(case)
        kinds = {finding.kind for finding in checked.findings}
        if kinds & REFUSED:  # a plain launch says why
            plain = self._judged(case, self.child.launch(case, self.exercise.seconds))
            return replace(plain, found=checked.found)
        if checked.row.status in ("right", "wrong") and kinds & STOPS:
            stop = next(f for f in checked.findings if f.kind in STOPS)
            row = Row(case.name, "error", explain.finding(stop), case.sizes())
            return replace(checked, row=row)
        return checked

    def _outcome(self, case: Case) -> Outcome:
        run = self.child.launch if self._is_on_a_gpu() else self.child.check
        return run(case, self.exercise.seconds)

    def _is_on_a_gpu(self) -> bool:
        return self.exercise.driver is None and target.active().name == "cuda"

    def checked(self, case: Case) -> Tried:
        """Launch a case under the checker."""
        outcome = self.child.check(case, self.exercise.seconds)
        tried = self._judged(case, outcome)
        return replace(tried, found=found_in(outcome.text)) if outcome.kind == "arrays" else tried

    def _judged(self, case: Case, outcome: Outcome) -> Tried:
        goes_on = outcome.goes_on and not outcome.is_refused
        return Tried(case, verdicts.judge(self.exercise, case, outcome, self.source), goes_on)

    def with_before(self, case: Case, row: Row) -> Row:
        """Find out what was made of what stood in an output before the launch, and in which.

        An element that was never written looks the same where nothing is greater than a NaN:
        launched again on other numbers, only what is made of them changes.
        """
        found = row.mismatch
        if found is None:
            return row
        if found.added and found.got != found.got:
            names = (n for n in case.expected if case.expected[n].dtype.kind == "f")
            source = next((n for n in names if not self._again(case, found, n, 0.0)[1]), "")
            other = source if source != found.output else ""  # else `explain.hint` says it
            return replace(row, mismatch=replace(found, source=other))
        if not found.first_unwritten or case.expected[found.output].dtype.kind != "f":
            return row
        if any(self._again(case, found, found.output, before)[0] for before in (-1e30, 1e30)):
            kept = replace(found, kept=True, source=found.output)
            return replace(row, mismatch=kept, why=explain.mismatch(kept, case))
        return row

    def _again(self, case: Case, found: Mismatch, name: str, before: float) -> tuple[bool, bool]:
        """Launch a case on an output full of other numbers.

        Tell whether the first wrong element is none of them, and whether it is made of NaNs still.
        """
        filled = np.full_like(case.args[name], before)
        again = self._outcome(replace(case, args={**case.args, name: filled}))
        if again.kind != "arrays":
            return False, True
        got = again.arrays[found.output][found.index]
        return bool(got != filled.dtype.type(before)), bool(got != got)


def found_in(text: str) -> Found:
    """Return the report that a child has sent; an empty one where nothing was launched.

    Raises ProtocolError where the text is no report: it comes from the answer's process.
    """
    with frames.believing_nothing("report of the checker"):
        return Found.from_json(text) if text else Found([], launches=0)
