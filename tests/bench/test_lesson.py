"""`bench.against`: the one line that a lesson shows under a kernel."""

import numpy as np
import pytest

from gpukit import bench
from gpukit.bench.lesson import Line
from gpukit.bench.timing import Timing


def test_the_line_says_both_times_the_ratio_and_its_spread():
    line = Line(Timing(1e-3, 2e-3, 40, 0.1, 1.8, 2.25), "cpu")
    assert repr(line) == (
        "right; kernel (cpu) 1 ms, NumPy 2 ms: 2.0 times faster (1.80 to 2.2 in most of 40 rounds)"
    )


def test_the_spread_of_a_slower_kernel_is_told_as_its_ratio_is():
    line = Line(Timing(2e-3, 1e-3, 40, 0.1, 0.4, 0.625), "cpu")
    assert "2.0 times slower (1.60 to 2.5 in most of 40 rounds)" in repr(line)


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
