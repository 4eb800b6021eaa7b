"""The checker of parallel programs: every mistake of the corpus is found, no right program accused."""

import functools
import json
from collections import Counter

import numpy as np
import pytest

from gpukit import cuda, nn, parallel
from gpukit.parallel.checker.findings import KINDS
from tests.parallel import parallel_programs
from tests.parallel.mistakes import MISTAKES

def in_words(report):
    return [f"{f.kind} at {f.line} (and {f.other_line}): {f.message}" for f in report.findings]


@functools.cache
def report_of(name):
    """Return the report of a mistake, which is checked once."""
    wrong = MISTAKES[name]
    return parallel.check(wrong.program, wrong.size, alone=wrong.alone)


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("program", parallel_programs.ALL, ids=lambda each: each.__name__)
def test_right_program_has_no_finding(program, ranks):
    report = parallel.check(program, ranks)
    assert (in_words(report), report.notes) == ([], [])


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_found_with_its_kind_parameters_ranks_and_line(name):
    wrong = MISTAKES[name]
    report = report_of(name)
    found = [f for f in report.findings if f.kind == wrong.kind]
    assert found, in_words(report)
    assert {*wrong.parameters} <= {name for f in found for name in f.parameters}
    assert {rank for f in found for rank in f.ranks} == {*wrong.ranks}
    if wrong.lines:
        assert all({f.line, f.other_line} & wrong.lines for f in found), in_words(report)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_gives_findings_of_its_own_kind_only(name):
    wrong = MISTAKES[name]
    report = report_of(name)
    assert {f.kind for f in report.findings} == {wrong.kind}, in_words(report)
