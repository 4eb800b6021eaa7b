"""The three stages in which an answer is graded: values, findings of the checker, contracts."""

from __future__ import annotations

import functools
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit.course import catalogue, contracts, explain, frames, shrink, sizes, verdicts
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise
from gpukit.course.launches import Launches, Tried, found_in
from gpukit.course.mistakes import Tries
from gpukit.course.report import Observer, Report
from gpukit.course.runner import Child, Outcome
from gpukit.course.verdicts import Row

if TYPE_CHECKING:
    from gpukit.checked.finding import Finding

# Findings that are warnings in general and make an answer wrong: it may be right by luck.
WRONG_BY_LUCK = {"warp-race", "shuffle-source", "block-order"}
# Findings that do no harm here and would do elsewhere.
DOUBTFUL = {"barrier-after-return", "same-value-race"}
BARRIERS = {"barrier-divergence", "barrier-after-return"}
# Findings that are no fault by themselves and say why a value is wrong.
TELLING = {"negative-index", "lost-value", "no-effect", "barrier-after-return"}
# What solutions of a class are compared by: the counters of a profile that each adds up.
_OPERATIONS = ("load", "store", "atomic")
RANKED = {
    "global_bytes": ("global_bytes_moved",),
    "shared_wavefronts": tuple(f"shared_{operation}_wavefronts" for operation in _OPERATIONS),
    "barriers": ("barriers",),
}


@dataclass
class Grading:
    """One answer on its way through the three stages: values, findings, contracts."""

    exercise: Exercise
    file: Path
    source: str
    child: Child
    tries: Tries
    watch: Observer
    rows: list[Row] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)  # the exercise's own cases
    extra: list[Tried] = field(default_factory=list)  # of random sizes
    doubtful: list[Finding] = field(default_factory=list)  # of all cases
    idle_warps: int = 0
    about: str = ""
    mistake: str = ""
    counters: dict[str, int] = field(default_factory=dict)

    def report(self) -> Report:
        try:
            stages = (stage() for stage in (self._values, self._findings, self._contracts))
            return next((report for report in stages if report), None) or self._made("right", "")
        except frames.ProtocolError as error:
            broken = Outcome("protocol", facts={"message": str(error)})
            return self._made("protocol", explain.outcome(broken, self.source))

    def _made(self, status: str, why: str, failed: Case | None = None) -> Report:
        name = self.exercise.name
        report = Report(name, self.file, status, why, self.rows, failed)
        return replace(report, about=self.about, mistake=self.mistake, counters=dict(self.counters))

    def _fixed(self, finding: Finding, case: Case) -> Finding:
        """Return a finding with the advice that fits the task: about inputs, needless barriers."""
        is_input = finding.array in case.args and finding.array not in case.expected
        if finding.kind.endswith("race") and is_input:
            return replace(finding, fix=explain.input_race(finding.array))
        shares = self.exercise.may_need_barrier or "cuda.shared.array" in catalogue.calls(
            self.source
        )
        if finding.kind in BARRIERS and not shares:
            return replace(finding, fix=explain.NO_BARRIER)
        return finding

    def _of(self, finding: Finding) -> str:
        """Explain a finding, which the report is about then."""
        self.about = finding.kind
        return explain.finding(finding)

    def _tell(self, row: Row) -> None:
        self.rows.append(row)
        self.watch(row)

    @functools.cached_property
    def launches(self) -> Launches:
        """The launches of the answer."""
        return Launches(self.exercise, self.source, self.child)

    @functools.cached_property
    def _measured(self) -> Case:
        """The case whose accesses are counted."""
        return self._case(self.exercise.measured)

    def _case(self, name: str) -> Case:
        return self.exercise.case(self.exercise.shapes[name], name=name)

    # ---- values: every case ----------------------------------------------------------------

    def _drawn(self) -> tuple[int, ...]:
        """Return the sizes that are drawn from the answer's text, and the exercise's seed."""
        return self.exercise.drawn(zlib.crc32(self.source.encode(), self.exercise.seed))

    def _values(self) -> Report | None:
        failed: tuple[Tried, tuple[int, ...]] | None = None
        drawn = {"random sizes": self._drawn()}
        for name, shape in (self.exercise.shapes | drawn).items():
            tried = self.launches.launched(self.exercise.case(shape, name=name))
            self._tell(tried.row)
            (self.extra if name in drawn else self.tried).append(tried)
            if tried.row.status != "right" and failed is None:
                failed = tried, shape
            if not tried.goes_on:
                return self._made(tried.row.status, tried.row.why)
        return self._explained(*failed) if failed else None

    def _explained(self, failed: Tried, shape: tuple[int, ...]) -> Report:
        """Shrink a failure, and let the checker speak before any number.

        The smallest launch that failed is explained: another one might be right by chance.
        """
        axes = zip(*self.exercise.shapes.values(), strict=True)
        least = tuple(max(1, min(extents)) for extents in axes)  # nothing is seen in an empty case

        smallest = failed

        def fails(smaller: tuple[int, ...]) -> bool:
            nonlocal smallest
            tried = self.launches.launched(self.exercise.case(smaller, name="smallest"))
            if tried.goes_on and tried.row.status == failed.row.status:
                smallest = tried
            return smallest is tried

        shrink.smallest(shape, least, fails)
        case = smallest.case
        row = self.launches.with_before(case, smallest.row)
        checked = (smallest if smallest.found else self.launches.checked(case)).findings
        of = case
        if any(f.kind == "warp-race" for f in checked):  # in a larger case warps may meet, too
            larger = self.launches.checked(self.exercise.case(shape))
            checked, of = (larger.findings, larger.case) if larger.findings else (checked, of)
        cause = self._cause(case, row, checked, of)
        lead = "" if cause else self._lead(row)
        changed = explain.changed(row.changed) if row.changed else ""
        values = self._values_of(row, cause, lead) if row.status == "wrong" or not cause else ""
        why = "\n\n".join(filter(None, [changed, cause, lead, values]))
        return self._made(row.status, why, case)

    def _cause(self, case: Case, row: Row, checked: list[Finding], of: Case) -> str:
        """Return what explains a failure: the checker, of the case `of`, speaks first.

        Only where several threads write to one element of an output, a mistake that leaves just
        these values says more than the race that comes of it; and where nobody wrote an element of
        shared memory, it says why.
        """
        for found in sorted(checked, key=lambda found: found.kind != "barrier-after-return"):
            if _is_wrong(found) or found.kind in TELLING:
                collides = found.kind == "global-race" and found.array in case.expected
                mistake = self._mistake() if collides else ""
                where = "" if of is case else f"With {of.sizes()}:\n"
                said = mistake or where + self._of(self._fixed(found, case))
                unset = found.kind == "uninitialised-shared"
                more = self._mistake(certain=True) or self._variation(row) if unset else ""
                return "\n\n".join(filter(None, [said, more]))
        if row.mismatch is not None and row.mismatch.source:
            return explain.kept(row.mismatch.output, row.mismatch.source)
        if certain := self._mistake(certain=True):
            return certain
        varied = self._variation(row)
        if row.mismatch is not None and row.mismatch.strange and not self.exercise.driver:
            origin = self.child.origin(case, self.exercise.seconds).text
            if origin:
                return "\n\n".join(filter(None, [origin, varied]))
        same = (self._fixed(f, case) for f in checked if f.kind == "same-value-race")
        if row.mismatch is not None and row.mismatch.unwritten:
            same = (replace(found, fix=explain.OVERLAP) for found in same)
        return varied or self._mistake() or next(map(self._of, same), "") or self._elsewhere()

    def _elsewhere(self) -> str:
        """Return what the checker found in a case other than the smallest that fails."""
        for tried in self.tried:
            for found in tried.findings:
                if _is_wrong(found) or found.kind == "barrier-after-return":
                    return f"With {tried.case.sizes()}:\n{self._of(self._fixed(found, tried.case))}"
        return ""

    def _lead(self, row: Row) -> str:
        """Return what the wrong elements, or the wrong cases, have in common.

        Of elements it is that of the largest case that tells.
        """
        start = explain.start(row.mismatch, self.source) if row.mismatch else ""
        return " ".join(filter(None, [start, self._where(), verdicts.pattern(self.rows)]))

    def _where(self) -> str:
        """Return which values of an input, or which sizes, the wrong elements have in common."""
        if told := verdicts.condition(self.rows):
            return told
        wrong = [tried.case for tried in self.tried if tried.row.status == "wrong"]
        right = [tried.case for tried in self.tried if tried.row.status == "right"]
        return sizes.telling(wrong, right) or verdicts.condition_of_one(self.rows)

    @property
    def _passed(self) -> list[Case]:
        return [tried.case for tried in self.tried if tried.row.status == "right"]

    def _variation(self, smallest: Row) -> str:
        """Return the small change of the solution that would explain each case that fails."""
        failed = [row for row in self.rows if row.mismatch is not None]
        missed = any(
            row.mismatch and (row.mismatch.unwritten or row.mismatch.added) for row in failed
        )
        if missed and verdicts.hint(failed):
            return ""
        outputs = [(row.case, row.outputs) for row in (smallest, *failed) if row.case]
        return explain.varied(self.tries.varied(outputs, self._passed), self.source)

    def _mistake(self, certain: bool = False) -> str:
        """Return the likeliest mistake that would explain each case that fails.

        A `certain` one is known and explains all values, the NaNs too. A NaN out of memory that
        nobody wrote hides what else is wrong in a case.
        """
        wrong = [row for row in self.rows if row.mismatch is not None]
        finite = [row for row in wrong if row.mismatch and not row.mismatch.strange]
        failed = wrong if certain else finite or wrong
        outputs = [(row.case, row.outputs) for row in failed if row.case]
        self.mistake = self.tries.fitting(outputs, self._passed)
        return self.mistake if self.mistake or certain else verdicts.hint(failed)

    def _values_of(self, row: Row, cause: str, lead: str) -> str:
        """Explain the smallest case; a larger one shows more of where the wrong elements lie.

        Without a cause all that the values tell is said, of several outputs which are right.
        """
        if row.mismatch is None:
            return row.why
        around = "" if cause or lead or not row.case else explain.around(row.mismatch, row.case)
        lines = [verdicts.of_outputs(self.rows), row.why, around]
        lines += [] if cause else verdicts.multiples([row], lead)
        same = row.mismatch.output
        failed = [(r.mismatch, r) for r in self.rows if r.mismatch and r.mismatch.output == same]
        largest, of = max(failed, key=lambda f: f[0].total, default=(row.mismatch, row))
        if largest.total > row.mismatch.total:
            lines.append(explain.elsewhere(largest, of.sizes))
            lines += [] if cause else verdicts.multiples([of], lead)
        return "\n".join(filter(None, lines))

    # ---- findings: every case under the checker ---------------------------------------------

    def _findings(self) -> Report | None:
        launches = 0
        for case, tried in ((t.case, self._found(t)) for t in (*self.tried, *self.extra)):
            row = tried.row
            if row.status not in ("right", "wrong") or tried.found is None:
                self._tell(replace(row, name=f"checked: {row.name}"))
                return self._made(row.status, row.why, case)
            launches += tried.found.launches
            wrong = [finding for finding in tried.findings if _is_wrong(finding)]
            if wrong:
                why = self._of(self._fixed(wrong[0], case))
                self._tell(Row("checked: " + case.name, "wrong", why, case.sizes()))
                luck = "The results were right this time only by luck."
                return self._made("wrong", f"{why}\n\n{luck}", case)
            if row.status == "wrong":  # what was launched plainly was another kernel
                self._tell(replace(row, name=f"checked: {row.name}"))
                why = f"Under gpukit.check the results are wrong. {row.why}"
                return self._made("wrong", why, case)
            self.doubtful += [f for f in tried.findings if f.kind in DOUBTFUL]
            if case.name == self.exercise.measured or (case.is_full and self._measured.is_full):
                self.idle_warps = max(self.idle_warps, tried.found.idle_warps)
        if launches:
            self._tell(Row("checked: no races, no uninitialized reads", "right"))
        return None

    def _found(self, tried: Tried) -> Tried:
        """Return a case with what the checker finds, which a launch on a GPU does not say."""
        return tried if tried.found else self.launches.checked(tried.case)

    # ---- contracts: one case counted --------------------------------------------------------

    def _contracts(self) -> Report | None:
        failed, broken = self._measured, ""
        counted: dict[str, contracts.Counts] = {}
        listed = contracts.of(self.exercise.contracts, self._measured)
        for contract in listed:
            case = self._case(contract.case) if contract.case else self._measured
            if contract.case not in counted:
                outcome = self.child.profile(case, self.exercise.seconds)
                if outcome.kind != "arrays":
                    return self._made(outcome.kind, explain.outcome(outcome, self.source))
                counted[contract.case] = self._counts(outcome.text, contract.case)
            counts = counted[contract.case]
            literals = self._doubles(case) if contract.measure == "float64" else []
            with frames.believing_nothing("profile"):
                # A comparison is no operation that is counted, but takes a unit of float64 as well.
                value = max(contracts.count(contract, case, counts), len(literals))
            kept = contract.is_kept(value)
            what = f"{contract}{contracts.which(contract, listed, case)}"
            words = f"{what}: {contracts.number(value)}, required: {contract.required}"
            self._tell(Row(words, "right" if kept else "but"))
            if not kept and not broken:
                self.about, failed = contract.measure, case
                busiest = contracts.accesses(contract, case, counts)[:1]
                line = contracts.line(contract, counts)
                broken = explain.contract(
                    contract, value, case, busiest, self.source, literals, line
                )
        if not broken:
            broken = next(map(self._of, self.doubtful), "")
        return self._made("but", broken, failed) if broken else None

    def _counts(self, text: str, case: str) -> contracts.Counts:
        """Return what the answer's process has counted in a case; "" is the measured one."""
        with frames.believing_nothing("profile"):
            counts: contracts.Counts = frames.parse(text) | {"idle_warps": self.idle_warps}
            if not case and not self.exercise.driver:
                total = counts["total"]
                self.counters = {n: sum(int(total[c]) for c in of) for n, of in RANKED.items()}
            return counts

    def _doubles(self, case: Case) -> list[Finding]:
        """Return what is float64 by accident, which a check in grading does not look for."""
        outcome = self.child.doubles(case, self.exercise.seconds)
        return found_in(outcome.text).findings if outcome.kind == "arrays" else []


def _is_wrong(finding: Finding) -> bool:
    return finding.severity == "error" or finding.kind in WRONG_BY_LUCK
