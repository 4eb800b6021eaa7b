"""Timing arithmetic on a fake clock: no test depends on real time."""

import numpy as np
import pytest

from gpukit.bench import timing
from gpukit.launch import Cost


class Clock:
    """A clock that advances only during work."""

    def __init__(self):
        self.now = 0.0
        self.order = []

    def __call__(self):
        return self.now

    def work(self, name, *seconds):
        """Return work that takes these times in turn, then the last one repeatedly."""
        left = list(seconds)

        def run():
            self.order.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


def test_the_medians_of_both_implementations_are_returned():
    clock = Clock()
    found = timing.compare(
        clock.work("ours", 9, 1, 1, 1, 5, 1, 1), clock.work("numpy", 3), seconds=1, clock=clock
    )
    assert (found.ours, found.numpy, found.speedup) == (1, 3, 3)


def test_the_ratio_is_the_median_of_the_ratios_per_round():
    clock = Clock()
    found = timing.compare(
        clock.work("ours", 1, 1, 1, 2, 4, 8, 8),
        clock.work("numpy", 1, 1, 3, 6, 8, 8, 4),
        seconds=1,
        clock=clock,
    )
    assert (found.ours, found.numpy) == (4, 6)
    assert (found.low, found.speedup, found.high) == (1, 2, 3)


def test_the_first_call_is_not_counted():
    clock = Clock()
    found = timing.compare(clock.work("a", 1000, 1), clock.work("b", 1), seconds=1, clock=clock)
    assert found.ours == 1


def test_implementations_alternate_and_swap_their_order():
    clock = Clock()
    timing.compare(clock.work("a", 1), clock.work("b", 1), seconds=1, clock=clock)
    assert "".join(clock.order[4:]) == "abbaabbaab"


def test_rounds_continue_until_the_time_budget_is_spent():
    clock = Clock()
    found = timing.compare(clock.work("a", 0.01), clock.work("b", 0.01), seconds=1, clock=clock)
    assert 48 <= found.rounds <= 52


def test_slow_work_is_still_measured_a_few_times():
    clock = Clock()
    found = timing.compare(clock.work("a", 60), clock.work("b", 60), seconds=1, clock=clock)
    assert found.rounds == timing.LEAST_ROUNDS


def test_short_work_is_repeated_within_a_sample():
    clock = Clock()
    timing.compare(clock.work("a", 1e-6), clock.work("b", 1), seconds=0, clock=clock)
    assert clock.order.count("a") >= 200 * timing.LEAST_ROUNDS
    assert clock.order.count("b") == 2 + timing.LEAST_ROUNDS


def test_the_larger_relative_spread_of_the_two_is_returned():
    clock = Clock()
    ours = clock.work("ours", 1, 1, *[1, 1, 1, 2, 2] * 2, 1)
    found = timing.compare(ours, clock.work("numpy", 3), seconds=40, clock=clock)
    assert found.varied == pytest.approx(1.0)


def test_occasional_outliers_do_not_count_as_variation():
    assert timing.Spread.of([1.0] * 9 + [50.0]).varied == 0


def test_a_ratio_to_zero_time_is_infinite():
    assert timing.Timing(0.0, 1.0, 5).speedup == float("inf")


def comparison(got, expected, terms=1):
    return timing.Comparison(
        name="n",
        group="f",
        size="s",
        ours=lambda: None,
        work=lambda _: None,
        given=(),
        result=lambda: got,
        expected=lambda: expected,
        cost=Cost(0, 0),
        terms=terms,
    )


def test_a_correct_result_has_no_mistake():
    assert timing.mistake(comparison(np.ones(3, np.float32), np.ones(3))) == ""


def test_a_wrong_element_is_named():
    got = np.ones((2, 3), np.float32)
    got[1, 2] = 5
    assert "the first at (1, 2): expected 1, got 5" in timing.mistake(
        comparison(got, np.ones((2, 3)))
    )


def test_a_nan_is_a_mistake():
    assert timing.mistake(comparison(np.full(3, np.nan, np.float32), np.ones(3)))


def test_a_different_shape_is_a_mistake():
    assert "shape" in timing.mistake(comparison(np.ones(3, np.float32), np.ones(4)))


def test_more_terms_allow_more_rounding():
    got = np.full(3, 1 + 1e-5, np.float32)
    assert timing.mistake(comparison(got, np.ones(3)))
    assert not timing.mistake(comparison(got, np.ones(3), terms=1_000_000))


def test_a_wrong_result_is_not_timed():
    result = timing.run(comparison(np.zeros(3, np.float32), np.ones(3)), seconds=0)
    assert (result.right, result.timing) == (False, None)


def test_an_exception_is_reported_and_not_raised():
    def fail():
        raise ValueError("no such luck")

    broken = timing.Comparison("n", "f", "s", fail, fail, (), fail, fail, Cost(0, 0))
    assert timing.run(broken, seconds=0).error == "ValueError: no such luck"


@pytest.mark.parametrize("terms", [0, 1, 100])
def test_integers_must_be_exact(terms):
    assert timing.allowed(np.ones(3), np.dtype(np.int32), terms) == 0.0
