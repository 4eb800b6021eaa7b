"""The size that separates wrong cases from right ones."""

import numpy as np
import pytest

from gpukit.course import Case, sizes

RIGHT = "In the cases tried, the answer is right"


def of(*shapes, step=1):
    return [Case({"x": np.zeros(shape), "step": step}, 1, 32, {}) for shape in shapes]


def test_the_smallest_wrong_size_is_named():
    words = sizes.telling(of((4, 17), (9, 31)), of((4, 16), (9, 3)))
    assert words == f"{RIGHT} where x.shape[1] is at most 16, and wrong where it is 17 or more."


def test_a_scalar_argument_is_named():
    words = sizes.telling(of((4, 17), (9, 31), step=2), of((4, 17), (9, 3)))
    assert words == f"{RIGHT} where step is 1, and wrong where it is 2 or more."


def test_the_size_with_the_narrowest_gap_is_named():
    assert "x.shape[1] is at most 16" in sizes.telling(of((9, 17), (8, 31)), of((2, 16), (1, 3)))


def test_multiples_that_are_right_are_named():
    words = sizes.telling(of((4, 17), (9, 31)), of((4, 16), (9, 48)))
    assert words == f"{RIGHT} where x.shape[1] is a multiple of 16, and wrong elsewhere."


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ([(4, 17), (9, 3)], [(4, 16), (9, 21)]),
        ([(4, 17)], [(4, 16), (4, 3)]),
        ([(2,), (3,)], []),
        ([(127,), (99,)], [(1,), (1,)]),
    ],
)
def test_sizes_that_do_not_separate_the_cases_are_not_named(wrong, right):
    assert sizes.telling(of(*wrong), of(*right)) == ""
