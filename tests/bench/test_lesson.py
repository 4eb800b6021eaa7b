"""`bench.against`: the one-line comparison that lessons show."""

import numpy as np
import pytest

import gpukit
from gpukit import bench, errors
from gpukit.bench.estimated import GpuTime
from gpukit.bench.lesson import Line
from gpukit.bench.recorded import Record
from gpukit.bench.timing import Spread, Timing


def test_line_shows_both_times_the_ratio_and_its_spread():
    line = Line(Timing(1e-3, 2e-3, 40, 0.1, 1.8, 2.25), "cpu")
    assert repr(line) == ("right; kernel (cpu) 1 ms, NumPy 2 ms: 2.0x faster (mostly 1.80 to 2.2)")


def test_spread_of_a_slower_kernel_is_given_as_times_slower():
    line = Line(Timing(2e-3, 1e-3, 40, 0.1, 0.4, 0.625), "cpu")
    assert "2.0x slower (mostly 1.60 to 2.5)" in repr(line)


BUSY = Timing(
    2e-3,
    3e-3,
    40,
    0.9,
    0.5,
    3.0,
    1.5,
    (Spread(2e-3, 9e-4, 2.7e-3, 40), Spread(3e-3, 1e-3, 4e-3, 40)),
)
QUIET = Record("a CPU", "copy", "1,000", 1e-3, 2e-3)


def test_times_that_vary_too_much_are_ranges_and_so_is_their_ratio():
    first, second = repr(Line(BUSY, "cpu")).splitlines()
    assert first == "right; kernel (cpu) 900 us to 2.7 ms, NumPy 1 to 4 ms"
    assert second.strip() == "busy: 2.0x slower to 3.0x faster"


def test_a_busy_machine_s_times_have_recorded_ones_below_them():
    line = Line(BUSY, "cpu", recorded=QUIET)
    assert repr(line).splitlines()[2].strip() == ("recorded on a CPU: 1 ms, NumPy 2 ms at 1,000")


def test_steady_times_are_shown_without_recorded_ones():
    assert "recorded" not in repr(Line(Timing(1e-3, 2e-3, 40), "cpu", recorded=QUIET))


def test_ratio_is_the_median_of_ratios_which_lies_within_the_spread():
    line = Line(Timing(1.41e-3, 1e-3, 11, 0.1, 1 / 1.36, 1 / 1.21, 1 / 1.3), "cpu")
    assert "1.30x slower (mostly 1.21 to 1.36)" in repr(line)


@pytest.mark.parametrize("varied", [0.1, 0.3])
def test_the_longest_line_fits_a_page_of_88_columns(varied):
    sides = Spread(1e-3, 999e-6, 12.3e-3, 9), Spread(1e-3, 999e-6, 45.6e-3, 9)
    found = Timing(12.3e-3, 45.6e-3, 1000, varied, 1 / 12.3, 12.3, 1.21, sides)
    gpu = GpuTime("RTX 3060 Laptop", why="it copies to shared memory asynchronously (cp.async)")
    line = Line(found, "checked", gpu, QUIET)
    assert max(map(len, repr(line).splitlines())) <= 88


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
    assert line.timing.sides is not None


def test_a_call_that_launches_nothing_has_no_gpu_time():
    x = np.ones(5, np.float32)
    assert bench.against(lambda: x + x, lambda: 2 * x, seconds=0.01).gpu is None


@pytest.mark.cpu
def test_a_call_that_launches_a_kernel_has_the_readers_gpu_below_it(monkeypatch):
    monkeypatch.setenv("GPUKIT_GPU", "v100")
    x = np.ones(50_000, np.float32)
    line = bench.against(lambda: gpukit.saxpy(2, x, x), lambda: 2 * x + x, seconds=0.01)
    last = repr(line).splitlines()[-1].strip()
    assert last.startswith("V100, estimated: likely ")
    assert "(floor " in last
    assert ", worst " in last


def test_an_unknown_gpu_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setenv("GPUKIT_GPU", "RTX 3081")
    with pytest.raises(errors.GpukitError, match=r"GPUKIT_GPU: .* Did you mean 'RTX 3080'"):
        bench.against(lambda: pytest.fail("it ran"), lambda: 1)
