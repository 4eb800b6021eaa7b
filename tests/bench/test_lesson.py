"""`bench.against`: the one line that a lesson shows under a kernel."""

import numpy as np
import pytest

from gpukit import bench
from gpukit.bench.lesson import Line
from gpukit.bench.timing import Timing


def test_the_line_says_both_times_the_ratio_and_its_spread():
    line = Line(Timing(1e-3, 2e-3, 40, 0.1, 1.8, 2.25), "cpu")
    assert repr(line) == (
        "right; kernel 1 ms on the cpu target, NumPy 2 ms: 2.0 times faster "
        "(1.8 to 2.2 times NumPy's speed in most of 40 rounds)"
    )


def test_times_that_vary_too_much_claim_no_ratio():
    line = Line(Timing(1e-3, 2e-3, 40, 0.3, 1.0, 3.0), "cpu")
    assert "no ratio, the times vary too much" in repr(line)
    assert "faster" not in repr(line)


def test_a_wrong_answer_is_not_timed():
    x = np.ones(5, np.float32)
    wrong = x.copy()
    wrong[3] = np.nan
    with pytest.raises(bench.WrongAnswer, match=r"1 of 5 values are wrong, the first at \(3,\)"):
        bench.against(lambda: wrong, lambda: x)


def test_a_right_answer_is_timed():
    x = np.ones(5, np.float32)
    line = bench.against(lambda: x + x, lambda: 2 * x, seconds=0.01)
    assert line.timing.rounds >= 5
    assert line.timing.low <= line.timing.high
