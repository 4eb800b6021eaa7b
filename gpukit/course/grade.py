"""Grade one file: run it, compare with NumPy, look for races, count what it asks of memory."""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpukit import target
from gpukit.checked.report import Report as Found
from gpukit.course import attempt, compare, contracts, explain, gaps, mistakes, shrink, sizes
from gpukit.course.case import Array, Case, unwritten
from gpukit.course.catalogue import Exercise
from gpukit.course.compare import Mismatch
from gpukit.course.guard import Guard
from gpukit.course.mistakes import Tries
from gpukit.course.runner import Child, Outcome

if TYPE_CHECKING:
    from gpukit.checked.finding import Finding

# Findings that are warnings in general and make an answer wrong: it may be right by luck.
WRONG_BY_LUCK = {"warp-race", "shuffle-source", "block-order"}
# Findings that stop a launch which is not checked: an error, or a refusal.
STOPS = {"out-of-bounds", "barrier-divergence", "cooperative-misuse", "endless-wait", "raised"}
REFUSED = {"launch-refused", "returned-local"}
# Findings that do no harm here and would do elsewhere.
DOUBTFUL = {"barrier-after-return", "same-value-race"}
# Findings that are no fault by themselves and say why a value is wrong.
TELLING = {"negative-index", "lost-value", "no-effect", "barrier-after-return"}


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
    about: str = ""  # the kind of the finding, or the measure of the contract, that `why` explains

    @property
    def passed(self) -> bool:
        """Whether every case is right, no finding is in the way and every contract is kept."""
        return self.status == "right"


Observer = Callable[[Row], None]


def nobody(row: Row) -> None:
    """Watch nothing."""


def run(
    exercise: Exercise,
    file: Path,
    watch: Observer = nobody,
    notice: Callable[[str], None] = lambda _: None,
) -> Report:
    """Grade `file` as an answer to `exercise`, calling `watch` after each thing tried.

    `notice` is called with what takes long when it begins, and with "" when it is over.
    """
    asked, known = _asked(exercise), mistakes.of(exercise)  # before any of the student's code runs
    source, problem = attempt.look(exercise, file)
    if problem is not None:
        return Report(exercise.name, file, problem.status, problem.why)
    guard = Guard(exercise)
    try:
        report = _graded(exercise, file, source, asked, known, watch, notice, guard.trail)
    finally:
        changed = guard.put_back()
    if not changed:
        return report
    status = "error" if report.status in ("right", "but") else report.status
    return replace(report, status=status, why=f"{changed}\n\n{report.why}".strip())


def _graded(
    exercise: Exercise,
    file: Path,
    source: str,
    asked: list[str],
    known: dict[str, str],
    watch: Observer,
    notice: Callable[[str], None],
    trail: Path,
) -> Report:
    """Run the file in a process of its own and judge what it does."""
    notice("starting Python and Numba")
    with Child(file, exercise.entry, exercise.driver, notice, trail) as child:
        loaded = child.loaded()
        notice("")
        mine = loaded.facts.get("parameters", asked)
        if loaded.kind != "ready":
            report = Report(exercise.name, file, loaded.kind, explain.outcome(loaded, source))
        elif _are_others(mine, asked):
            why = explain.parameters(exercise.entry, asked, mine)
            report = Report(exercise.name, file, "error", why)
        else:
            with Tries(exercise, known, notice) as tries:
                report = _Grading(exercise, file, source, child, tries, watch).report()
    return replace(report, printed=child.printed())


def _asked(exercise: Exercise) -> list[str]:
    """Return the parameters that the task asks for."""
    arguments = list(exercise.case(next(iter(exercise.shapes.values()))).args)
    return attempt.parameters(exercise) if exercise.driver else arguments


def _are_others(mine: list[str], asked: list[str]) -> bool:
    """Tell whether parameters are in another order or number; names are the learner's own."""
    return len(mine) != len(asked) or (mine != asked and set(mine) == set(asked))


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
            hints, arrays = _hints(case, outcome, mismatch), outcome.arrays
            return Row(case.name, "wrong", *words, hints, mismatch, case, arrays, changed)
    if changed:
        why = f"The outputs are right. {explain.changed(changed)}"
        return Row(case.name, "wrong", why, case.sizes())
    return Row(case.name, "right", sizes=case.sizes())


def _hints(case: Case, outcome: Outcome, mismatch: Mismatch) -> tuple[str, ...]:
    found: list[str] = []
    if mismatch.unwritten == mismatch.wrong:
        found += gaps.sentences(case, ~unwritten(outcome.arrays[mismatch.output]))
    return tuple(filter(None, [*found, explain.hint(mismatch)]))


def _unlike(case: Case, outcome: Outcome) -> str:
    """Refuse arrays of another shape or type than were sent."""
    for name, sent in case.args.items():
        if not isinstance(sent, np.ndarray):
            continue
        got = outcome.arrays.get(name)
        if got is None or (got.shape, got.dtype) != (sent.shape, sent.dtype):
            return f"The array {name} did not come back as it was sent."
    return ""


@dataclass(frozen=True)
class _Tried:
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


@dataclass
class _Grading:
    """One answer on its way through the three stages: values, findings, contracts.

    On a CPU each case is launched once, under the checker, so that one compiled form gives values
    and findings. On a GPU the launch is a plain one, and the checker runs the kernel again.
    """

    exercise: Exercise
    file: Path
    source: str
    child: Child
    tries: Tries
    watch: Observer
    rows: list[Row] = field(default_factory=list)
    tried: list[_Tried] = field(default_factory=list)  # the exercise's own cases
    doubtful: list[Finding] = field(default_factory=list)  # of all cases
    idle_warps: int = 0
    about: str = ""

    def report(self) -> Report:
        for stage in (self._values, self._findings, self._contracts):
            report = stage()
            if report is not None:
                return report
        return self._made("right", "")

    def _made(self, status: str, why: str, failed: Case | None = None) -> Report:
        name = self.exercise.name
        return Report(name, self.file, status, why, self.rows, failed, about=self.about)

    def _of(self, finding: Finding) -> str:
        """Explain a finding, which the report is about then."""
        self.about = finding.kind
        return explain.finding(finding)

    def _tell(self, row: Row) -> None:
        self.rows.append(row)
        self.watch(row)

    @functools.cached_property
    def _measured(self) -> Case:
        """The case whose accesses are counted."""
        return self._case(self.exercise.measured)

    def _case(self, name: str) -> Case:
        return self.exercise.case(self.exercise.shapes[name])

    # ---- values: every case ----------------------------------------------------------------

    def _values(self) -> Report | None:
        failed: tuple[str, tuple[int, ...]] | None = None
        drawn = {"sizes that were drawn": self.exercise.drawn(zlib.crc32(self.source.encode()))}
        for name, shape in (self.exercise.shapes | drawn).items():
            tried = self._launched(self.exercise.case(shape, name=name))
            self._tell(tried.row)
            if name not in drawn:
                self.tried.append(tried)
            if tried.row.status != "right" and failed is None:
                failed = tried.row.status, shape
            if not tried.goes_on:
                return self._made(tried.row.status, tried.row.why)
        return self._explained(*failed) if failed else None

    def _launched(self, case: Case) -> _Tried:
        """Launch a case: under the checker, but on a GPU."""
        if self._is_on_a_gpu():
            return self._judged(case, self._outcome(case))
        checked = self._checked(case)
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
        launch = self.child.launch if self._is_on_a_gpu() else self.child.check
        return launch(case, self.exercise.seconds)

    def _is_on_a_gpu(self) -> bool:
        return self.exercise.driver is None and target.active().name == "cuda"

    def _checked(self, case: Case) -> _Tried:
        """Launch a case under the checker."""
        outcome = self.child.check(case, self.exercise.seconds)
        tried = self._judged(case, outcome)
        if outcome.kind != "arrays":
            return tried
        return replace(tried, found=_read(outcome.text))

    def _judged(self, case: Case, outcome: Outcome) -> _Tried:
        goes_on = outcome.goes_on and not outcome.is_refused
        return _Tried(case, judge(self.exercise, case, outcome, self.source), goes_on)

    def _explained(self, status: str, shape: tuple[int, ...]) -> Report:
        """Shrink a failure, and let the checker speak before any number."""
        axes = zip(*self.exercise.shapes.values(), strict=True)
        least = tuple(max(1, min(extents)) for extents in axes)  # nothing is seen in an empty case

        def fails(smaller: tuple[int, ...]) -> bool:
            tried = self._launched(self.exercise.case(smaller))
            return tried.goes_on and tried.row.status == status

        case = self.exercise.case(shrink.smallest(shape, least, fails), name="smallest")
        tried = self._launched(case)
        row = self._with_before(case, tried.row)
        checked = (tried if tried.found else self._checked(case)).findings
        if any(f.kind == "warp-race" for f in checked):  # in a larger case warps may meet, too
            checked = self._checked(self.exercise.case(shape)).findings or checked
        cause = self._cause(case, row, checked)
        changed = explain.changed(row.changed) if row.changed else ""
        values = self._values_of(row) if row.status == "wrong" or not cause else ""
        why = "\n\n".join(filter(None, [changed, cause, values]))
        return self._made(row.status, why, case)

    def _cause(self, case: Case, row: Row, checked: list[Finding]) -> str:
        """Return what explains a failure: the checker speaks first.

        Only where several threads write to one element of an output, a mistake that leaves just
        these values says more than the race that comes of it.
        """
        for found in sorted(checked, key=lambda found: found.kind != "barrier-after-return"):
            if _is_wrong(found) or found.kind in TELLING:
                collides = found.kind == "global-race" and found.array in case.expected
                mistake = self._mistake() if collides else ""
                return mistake or self._of(_fixed(found, case))
        if row.mismatch is not None and row.mismatch.source:
            return explain.kept(row.mismatch.output, row.mismatch.source)
        if certain := self._mistake(certain=True):
            return certain
        if row.mismatch is not None and row.mismatch.strange and not self.exercise.driver:
            origin = self.child.origin(case, self.exercise.seconds).text
            if origin:
                return origin
        same = (_fixed(found, case) for found in checked if found.kind == "same-value-race")
        if row.mismatch is not None and row.mismatch.unwritten:
            same = (replace(found, fix=explain.OVERLAP) for found in same)
        return (
            self._mistake()
            or next(map(self._of, same), "")
            or self._elsewhere()
            or self._condition()
        )

    def _elsewhere(self) -> str:
        """Return what the checker found in a case other than the smallest that fails."""
        for tried in self.tried:
            for found in tried.findings:
                if _is_wrong(found) or found.kind == "barrier-after-return":
                    return f"With {tried.case.sizes()}:\n{self._of(_fixed(found, tried.case))}"
        return ""

    def _condition(self) -> str:
        """Return what the wrong elements, or the wrong cases, have in common.

        Of elements it is that of the largest case that tells.
        """
        told = [r.mismatch for r in self.rows if r.mismatch is not None and r.mismatch.condition]
        if told:
            return max(told, key=lambda found: found.total).condition
        wrong = [tried.case for tried in self.tried if tried.row.status == "wrong"]
        right = [tried.case for tried in self.tried if tried.row.status == "right"]
        return sizes.telling(wrong, right)

    def _with_before(self, case: Case, row: Row) -> Row:
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

    def _mistake(self, certain: bool = False) -> str:
        """Return the likeliest mistake that would explain each case that fails.

        A `certain` one is known and explains all values, the NaNs too. A NaN out of memory that
        nobody wrote hides what else is wrong in a case.
        """
        wrong = [row for row in self.rows if row.mismatch is not None]
        finite = [row for row in wrong if row.mismatch and not row.mismatch.strange]
        failed = wrong if certain else finite or wrong
        known = self.tries.fitting([(row.case, row.outputs) for row in failed if row.case])
        if known or certain:
            return known
        likely = dict.fromkeys(hint for row in reversed(failed) for hint in row.hints)
        return next((hint for hint in likely if all(hint in row.hints for row in failed)), "")

    def _values_of(self, row: Row) -> str:
        """Explain the smallest case; a larger one shows more of where the wrong elements lie."""
        failed = [(r.mismatch, r.sizes) for r in self.rows if r.mismatch is not None]
        if row.mismatch is None or not failed:
            return row.why
        largest, sizes = max(failed, key=lambda f: f[0].total)
        if largest.total <= row.mismatch.total:
            return row.why
        return f"{row.why}\n{explain.elsewhere(largest, sizes)}"

    # ---- findings: every case under the checker ---------------------------------------------

    def _findings(self) -> Report | None:
        launches = 0
        for case, tried in ((tried.case, self._found(tried)) for tried in self.tried):
            row = tried.row
            if row.status not in ("right", "wrong") or tried.found is None:
                self._tell(replace(row, name=f"checked: {row.name}"))
                return self._made(row.status, row.why, case)
            launches += tried.found.launches
            wrong = [finding for finding in tried.findings if _is_wrong(finding)]
            if wrong:
                why = self._of(_fixed(wrong[0], case))
                self._tell(Row("checked: " + case.name, "wrong", why, case.sizes()))
                luck = "The numbers came out right this time, by luck."
                return self._made("wrong", f"{why}\n\n{luck}", case)
            if row.status == "wrong":  # what was launched plainly was another kernel
                self._tell(replace(row, name=f"checked: {row.name}"))
                return self._made("wrong", f"Under gpukit.check it is wrong. {row.why}", case)
            self.doubtful += [f for f in tried.findings if f.kind in DOUBTFUL]
            if case.name == self.exercise.measured or (case.is_full and self._measured.is_full):
                self.idle_warps = max(self.idle_warps, tried.found.idle_warps)
        if launches:
            self._tell(Row("checked: no races, nothing read before it is written", "right"))
        return None

    def _found(self, tried: _Tried) -> _Tried:
        """Return a case with what the checker finds, which a launch on a GPU does not say."""
        return tried if tried.found else self._checked(tried.case)

    # ---- contracts: one case counted --------------------------------------------------------

    def _contracts(self) -> Report | None:
        failed, broken = self._measured, ""
        counted: dict[str, contracts.Counts] = {}
        for contract in contracts.of(self.exercise.contracts, self._measured):
            case = self._case(contract.case) if contract.case else self._measured
            if contract.case not in counted:
                outcome = self.child.profile(case, self.exercise.seconds)
                if outcome.kind != "arrays":
                    return self._made(outcome.kind, explain.outcome(outcome, self.source))
                idle = {"idle_warps": self.idle_warps}
                counted[contract.case] = json.loads(outcome.text) | idle
            counts = counted[contract.case]
            literals = self._doubles(case) if contract.measure == "float64" else []
            # A comparison is no operation that is counted, but takes a unit of float64 as well.
            value = max(contracts.count(contract, case, counts), len(literals))
            kept = contract.is_kept(value)
            words = f"{contract}: {contracts.number(value)}, asked {contract.asked}"
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

    def _doubles(self, case: Case) -> list[Finding]:
        """Return what is float64 by accident, which a check in grading does not look for."""
        outcome = self.child.doubles(case, self.exercise.seconds)
        return _read(outcome.text).findings if outcome.kind == "arrays" else []


def _fixed(finding: Finding, case: Case) -> Finding:
    """Return a finding with another advice where threads race in an input, which none may write."""
    is_input = finding.array in case.args and finding.array not in case.expected
    if finding.kind.endswith("race") and is_input:
        return replace(finding, fix=explain.input_race(finding.array))
    return finding


def _read(text: str) -> Found:
    """Return the report that a child has sent; an empty one where nothing was launched."""
    return Found.from_json(text) if text else Found([], launches=0)


def _is_wrong(finding: Finding) -> bool:
    return finding.severity == "error" or finding.kind in WRONG_BY_LUCK
