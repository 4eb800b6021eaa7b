"""`bench.against`: the one-line comparison that lessons show."""

import numpy as np
import pytest

from gpukit import bench
from gpukit.bench.lesson import Line
from gpukit.bench.timing import Timing


def test_line_shows_both_times_the_ratio_and_its_spread():
    line = Line(Timing(1e-3, 2e-3, 40, 0.1, 1.8, 2.25), "cpu")
    assert repr(line) == (
        "right; kernel (cpu) 1 ms, NumPy 2 ms: 2.0 times faster (mostly 1.80 to 2.2)"
    )


def test_spread_of_a_slower_kernel_is_given_as_times_slower():
    line = Line(Timing(2e-3, 1e-3, 40, 0.1, 0.4, 0.625), "cpu")
    assert "2.0 times slower (mostly 1.60 to 2.5)" in repr(line)


def test_times_that_vary_too_much_give_no_ratio():
    line = Line(Timing(1e-3, 2e-3, 40, 0.3, 1.0, 3.0), "cpu")
    assert "no ratio, the times vary too much" in repr(line)
    assert "faster" not in repr(line)


def test_ratio_is_the_median_of_ratios_which_lies_within_the_spread():
    line = Line(Timing(1.41e-3, 1e-3, 11, 0.1, 1 / 1.36, 1 / 1.21, 1 / 1.3), "cpu")
    assert "1.30 times slower (mostly 1.21 to 1.36)" in repr(line)


@pytest.mark.parametrize("varied", [0.1, 0.3])
def test_the_longest_line_fits_a_page_of_88_columns(varied):
    line = Line(Timing(12.3e-3, 45.6e-3, 1000, varied, 1.14, 1.26, 1.21), "checked")
    assert len(repr(line)) <= 88


def test_a_wrong_result_is_not_timed():
    x = np.ones(5, np.float32)
    wrong = x.copy()
    wrong[3] = np.nan
    with pytest.raises(bench.WrongAnswer, match=r"1 of 5 values are wrong, the first at \(3,\)"):
        bench.against(lambda: wrong, lambda: x)


def test_a_correct_result_is_timed():
    x = np.ones(5, np.float32)
    line = bench.against(lambda: x + x, lambda: 2 * x, seconds=0.01)
    assert line.timing.rounds >= 5
    assert line.timing.low <= line.timing.high
