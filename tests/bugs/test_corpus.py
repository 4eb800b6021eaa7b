"""The corpus: every bug is found with its kind and its line, and no fixed twin is accused."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit.checked.finding import KINDS
from tests.bugs.case import CASES, Case, Launch, on_host
from tests.bugs.pair import PAIRS, Pair

for _file in sorted(Path(__file__).resolve().parent.glob("*.py")):
    if _file.stem != "case" and not _file.stem.startswith("test_"):
        importlib.import_module(f"tests.bugs.{_file.stem}")

BUGS = pytest.mark.parametrize("bug", CASES.values(), ids=CASES.keys())
PROGRAMS = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())

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


def checked(kernel: Any, launch: Launch, arguments: tuple[Any, ...]) -> Any:
    return gpukit.check(kernel)[launch.grid, launch.block, 0, launch.shared](*arguments)


def findings_of(bug: Case) -> list[Any]:
    """Check the kernel with the bug, and return what was found at the marked lines."""
    report = checked(bug.buggy, bug.launch, bug.arguments())
    found = [f for f in report.findings if f.kind == bug.kind]
    at_mark = [f for f in found if {f.line, f.other_line} & bug.lines]
    assert at_mark, f"no {bug.kind} at {sorted(bug.lines)}, but {in_words(report.findings)}"
    return at_mark


def in_words(findings: list[Any]) -> list[str]:
    return [f"{f.kind} at {f.line} (and {f.other_line}): {f.message}" for f in findings]


@pytest.mark.corpus
@BUGS
def test_a_bug_is_found_with_its_kind_and_its_line(bug: Case) -> None:
    for found in findings_of(bug):
        assert Path(found.file) == Path(bug.buggy.py_func.__code__.co_filename)


@pytest.mark.corpus
@BUGS
def test_a_fixed_twin_gives_no_finding_and_the_right_answer(bug: Case) -> None:
    arguments = bug.fixed_arguments()
    report = checked(bug.fixed, bug.fixed_launch, arguments)
    # A sum by atomics is no mistake: the note says what is true of it.
    found = [f for f in report.findings if f.kind != "not-reproducible" or f.kind == bug.kind]
    assert in_words(found) == []
    wanted = bug.wanted()
    for left, right in zip(arguments[-len(wanted) :], wanted, strict=True):
        assert np.shape(left) == np.shape(right)
        np.testing.assert_allclose(on_host(left), right, rtol=1e-4, atol=1e-5)


@pytest.mark.corpus
@PROGRAMS
def test_a_race_of_a_host_program_is_found_with_its_kind_and_both_lines(pair: Pair) -> None:
    report = gpukit.check(pair.racing)()
    found = {(f.kind, f.line, f.other_line) for f in report.findings}
    pairs = {(line, other) for line in pair.lines for other in pair.lines}
    apart = {(line, other) for line, other in pairs if line != other or len(pair.lines) == 1}
    assert {(kind, *lines) for kind, *lines in found} <= {(pair.kind, *two) for two in apart}
    assert found, "no race at all"


@pytest.mark.corpus
@PROGRAMS
def test_the_fixed_twin_of_a_host_program_has_no_finding(pair: Pair) -> None:
    assert in_words(gpukit.check(pair.ordered)().findings) == []


@pytest.mark.corpus
@PROGRAMS
def test_a_host_program_and_its_twin_compute_the_same_on_a_cpu(pair: Pair) -> None:
    for run in (pair.racing, pair.ordered):
        np.testing.assert_allclose(*run(), rtol=1e-4)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.costly
def test_a_situation_of_the_sanitizer_has_its_tool_and_severity(situation: str) -> None:
    name, severity = SITUATIONS[situation]
    tool = situation.partition(",")[0]
    assert {(f.tool, f.severity) for f in findings_of(CASES[name])} == {(tool, severity)}


def test_the_corpus_has_at_least_180_bugs_of_all_classes() -> None:
    """Every class of findings has a bug, and no class has only one."""
    classes = Counter(bug.kind for bug in (*CASES.values(), *PAIRS.values()))
    assert len(CASES) >= 180
    assert len(PAIRS) >= 12
    assert set(classes) == set(KINDS)
    assert min(classes.values()) >= 2


def test_every_bug_marks_a_line() -> None:
    bugs = [*CASES.values(), *PAIRS.values()]
    assert [bug.name for bug in bugs if not bug.lines] == []


def test_every_bug_and_its_fixed_twin_say_in_one_line_what_they_do() -> None:
    texts = [
        (kernel.py_func.__name__, kernel.py_func.__doc__)
        for bug in CASES.values()
        for kernel in (bug.buggy, bug.fixed)
    ]
    texts += [(f.__name__, f.__doc__) for p in PAIRS.values() for f in (p.racing, p.ordered)]
    assert [name for name, text in texts if not text.endswith(".") or "\n" in text] == []
