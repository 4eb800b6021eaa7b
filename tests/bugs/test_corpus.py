"""The corpus: every bug is found with its kind and its line, and no correct kernel is accused."""

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

# What NVIDIA's manual of compute-sanitizer shows each tool with, a bug of the corpus that is in
# the same situation, and the severity that the tool gives it.
SITUATIONS = {
    "memcheck, out of bounds": ("scale_unguarded-out-of-bounds", "error"),
    "memcheck, misaligned": ("parse_packet-misaligned", "error"),
    "racecheck, hazard in a block": ("sum_without_barrier-shared-race", "error"),
    "racecheck, hazard in a warp": ("sum_warp_synchronous-warp-race", "warning"),
    "initcheck, device memory without a value": ("accumulate_raw-uninitialised-global", "error"),
    "synccheck, divergent threads": ("sum_barrier_of_adders-barrier-divergence", "error"),
    "synccheck, caller not in its mask": ("exchange_lower_mask-warp-mask", "error"),
}


def findings_of(bug: Bug) -> list[Any]:
    """Check the kernel with the bug, and return what was found at the marked lines."""
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
@pytest.mark.parametrize("whole", CORRECT.values(), ids=[c.name for c in CORRECT.values()])
def test_a_correct_kernel_gives_no_finding_and_the_right_answer(whole: Correct) -> None:
    arguments = whole.arguments()
    report = checked(whole.kernel, whole.launch, arguments)
    # A sum by atomics is no mistake: the note says what is true of it.
    allowed = {"not-reproducible"} - {bug.kind for bug in BUGS.values() if bug.correct is whole}
    assert in_words([f for f in report.findings if f.kind not in allowed]) == []
    wanted = whole.wanted()
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


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.costly
@pytest.mark.slow
def test_a_situation_of_the_sanitizer_has_its_tool_and_severity(situation: str) -> None:
    name, severity = SITUATIONS[situation]
    tool = situation.partition(",")[0]
    assert {(f.tool, f.severity) for f in findings_of(BUGS[name])} == {(tool, severity)}


def test_the_corpus_has_at_least_180_bugs_of_all_classes() -> None:
    """Every class of findings has a bug, and no class has only one."""
    classes = Counter(bug.kind for bug in (*BUGS.values(), *RACES.values()))
    assert len(BUGS) >= 180
    assert len(RACES) >= 12
    assert set(classes) == set(KINDS)
    assert min(classes.values()) >= 2


def test_every_bug_marks_a_line() -> None:
    bugs = [*BUGS.items(), *RACES.items()]
    assert [name for name, bug in bugs if not bug.lines] == []


def test_every_bug_and_every_correct_kernel_say_in_one_line_what_they_do() -> None:
    texts = [(name, bug.sentence) for name, bug in (*BUGS.items(), *RACES.items())]
    texts += [(whole.name, whole.kernel.py_func.__doc__) for whole in CORRECT.values()]
    texts += [(name, ordered.__doc__) for ordered, name in ORDERED.items()]
    assert [name for name, text in texts if not text.endswith(".") or "\n" in text] == []
