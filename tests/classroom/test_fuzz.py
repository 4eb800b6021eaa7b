"""Bytes that nobody has thought of are read or refused, and never end the grader."""

import pytest

from benchmarks import classroom_fuzz


@pytest.mark.parametrize(
    ("fuzz", "count"),
    [
        (classroom_fuzz.frames, 3000),
        pytest.param(classroom_fuzz.frames, 300_000, marks=pytest.mark.exhaustive),
        (classroom_fuzz.submissions, 200),
        pytest.param(classroom_fuzz.submissions, 10_000, marks=pytest.mark.exhaustive),
    ],
)
def test_mutated_bytes_are_read_or_refused(fuzz, count):
    outcomes = fuzz(count)["outcomes"]
    assert [what for what in outcomes if what.startswith("CRASH")] == []
    assert sum(outcomes.values()) == count
