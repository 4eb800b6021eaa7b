"""The corpus: every bug is found with its kind and line; correct kernels have no findings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit.checked.finding import KINDS
from tests.bugs.corpus import BUGS, CORRECT, RACES, Bug, Correct, Race, checked, report_of
from tests.bugs.kernels import on_host

ORDERED = {race.ordered: race.ordered.__name__ for race in RACES.values()}

EVERY_BUG = pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
EVERY_RACE = pytest.mark.parametrize("race", RACES.values(), ids=RACES.keys())

# Examples of NVIDIA's compute-sanitizer manual by tool, the corresponding bug of the corpus, and
# the severity that the tool reports.
SANITIZER_EXAMPLES = {
    "memcheck, out of bounds": ("scale_unguarded-out-of-bounds", "error"),
    "memcheck, misaligned": ("parse_packet-misaligned", "error"),
    "racecheck, hazard in a block": ("sum_without_barrier-shared-race", "error"),
    "racecheck, hazard in a warp": ("sum_warp_synchronous-warp-race", "warning"),
    "initcheck, device memory without a value": ("accumulate_raw-uninitialised-global", "error"),
    "synccheck, divergent threads": ("sum_barrier_of_adders-barrier-divergence", "error"),
    "synccheck, caller not in its mask": ("exchange_lower_mask-warp-mask", "error"),
}


def findings_of(bug: Bug) -> list[Any]:
    """Return the findings at the marked lines of a bug."""
    report = report_of(bug.name)
    found = [f for f in report.findings if f.kind == bug.kind]
    at_mark = [f for f in found if {f.line, f.other_line} & bug.lines]
    assert at_mark, f"no {bug.kind} at {sorted(bug.lines)}, but {in_words(report.findings)}"
    return at_mark


def in_words(findings: list[Any]) -> list[str]:
    return [f"{f.kind} at {f.line} (and {f.other_line}): {f.message}" for f in findings]


@pytest.mark.corpus
@EVERY_BUG
def test_a_bug_is_found_with_its_kind_and_its_line(bug: Bug) -> None:
    for found in findings_of(bug):
        assert Path(found.file) == Path(bug.kernel.py_func.__code__.co_filename)


@pytest.mark.corpus
@pytest.mark.parametrize("correct", CORRECT.values(), ids=[c.name for c in CORRECT.values()])
def test_a_correct_kernel_has_no_finding_and_the_right_results(correct: Correct) -> None:
    arguments = correct.arguments()
    report = checked(correct.kernel, correct.launch, arguments)
    # A sum by atomics is correct, and the note about its order is true.
    allowed = {"not-reproducible"} - {bug.kind for bug in BUGS.values() if bug.correct is correct}
    assert in_words([f for f in report.findings if f.kind not in allowed]) == []
    wanted = correct.wanted()
    for left, right in zip(arguments[-len(wanted) :], wanted, strict=True):
        assert np.shape(left) == np.shape(right)
        np.testing.assert_allclose(on_host(left), right, rtol=1e-4, atol=1e-5)


@pytest.mark.corpus
@EVERY_RACE
def test_a_race_of_a_host_program_is_found_with_its_kind_and_both_lines(race: Race) -> None:
    report = gpukit.check(race.racing)()
    found = {(f.kind, f.line, f.other_line) for f in report.findings}
    pairs = {(line, other) for line in race.lines for other in race.lines}
    apart = {(line, other) for line, other in pairs if line != other or len(race.lines) == 1}
    assert {(kind, *lines) for kind, *lines in found} <= {(race.kind, *two) for two in apart}
    assert found, "no race at all"


@pytest.mark.corpus
@pytest.mark.parametrize("ordered", ORDERED, ids=ORDERED.values())
def test_an_ordered_host_program_has_no_finding(ordered: Any) -> None:
    assert in_words(gpukit.check(ordered)().findings) == []


@pytest.mark.corpus
@pytest.mark.parametrize("run", ORDERED, ids=ORDERED.values())
def test_an_ordered_host_program_computes_the_right_values_on_a_cpu(run: Any) -> None:
    np.testing.assert_allclose(*run(), rtol=1e-4)


@pytest.mark.corpus
@EVERY_RACE
def test_a_host_program_with_a_race_computes_the_right_values_on_a_cpu(race: Race) -> None:
    np.testing.assert_allclose(*race.racing(), rtol=1e-4)


@pytest.mark.parametrize("example", SANITIZER_EXAMPLES)
@pytest.mark.costly
@pytest.mark.slow
def test_an_example_of_compute_sanitizer_has_its_tool_and_severity(example: str) -> None:
    name, severity = SANITIZER_EXAMPLES[example]
    tool = example.partition(",")[0]
    assert {(f.tool, f.severity) for f in findings_of(BUGS[name])} == {(tool, severity)}


def test_the_corpus_has_at_least_180_bugs_of_all_kinds() -> None:
    """Every kind of finding has at least two bugs."""
    kinds = Counter(bug.kind for bug in (*BUGS.values(), *RACES.values()))
    assert len(BUGS) >= 180
    assert len(RACES) >= 12
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 2


def test_every_bug_marks_a_line() -> None:
    bugs = [*BUGS.items(), *RACES.items()]
    assert [name for name, bug in bugs if not bug.lines] == []


def test_every_bug_and_every_correct_kernel_has_a_one_line_description() -> None:
    texts = [(name, bug.sentence) for name, bug in (*BUGS.items(), *RACES.items())]
    texts += [(correct.name, correct.kernel.py_func.__doc__) for correct in CORRECT.values()]
    texts += [(name, ordered.__doc__) for ordered, name in ORDERED.items()]
    assert [name for name, text in texts if not text.endswith(".") or "\n" in text] == []
