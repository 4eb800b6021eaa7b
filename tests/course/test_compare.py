"""Wrong elements are found, counted and described in terms a learner can act on."""

import numpy as np
import pytest

from gpukit.course import compare, explain
from gpukit.course.case import Case, poison

BLOCK = 128


def launch(expected, got, *, grid=0, block=BLOCK, per="thread", **inputs):
    """Return a case that expects `expected` in `out`, by default with a grid that covers it."""
    sizes = np.atleast_1d(block)
    covering = tuple(-(-n // int(b)) for n, b in zip(expected.shape[::-1], sizes, strict=False))
    arguments = {**inputs, "out": got}
    return Case(arguments, grid or covering, block=block, expected={"out": expected}, per=per)


def one(expected, got, *, grid=0, block=BLOCK, per="thread", ulps=4.0):
    """Compare one output of a launch with blocks of `block` threads."""
    return compare.compare(launch(expected, got, grid=grid, block=block, per=per), "out", got, ulps)


def words_for(expected, got, **inputs):
    """Return the explanation of one wrong output."""
    return explain.mismatch(one(expected, got), launch(expected, got, **inputs))


def ramp(*shape):
    """Return distinct nonzero numbers."""
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def test_equal_arrays_have_no_mismatch():
    assert one(ramp(300), ramp(300)) is None


def test_an_empty_output_has_no_mismatch():
    assert one(ramp(0), ramp(0)) is None


def test_rounding_within_the_tolerance_passes():
    assert one(ramp(300), ramp(300) * np.float32(1 + 1e-7)) is None


def test_rounding_beyond_the_tolerance_fails():
    assert one(ramp(300), ramp(300) * np.float32(1 + 1e-5)) is not None


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_the_tolerance_is_relative_to_each_element(size):
    expected = ramp(300) * np.float32(size)
    got = expected.copy()
    got[0] *= np.float32(1.01)  # far less than the rounding of the last element allows
    assert one(expected, got, ulps=40_000).index == (0,)


def test_a_nan_never_passes():
    got = ramp(300)
    got[7] = np.nan
    assert one(ramp(300), got, ulps=1e30).index == (7,)


def test_an_infinity_never_passes():
    got = ramp(300)
    got[7] = np.inf
    assert one(ramp(300), got).wrong == 1


def test_integers_must_be_equal():
    expected = np.arange(10)
    assert one(expected, expected + (expected == 3)).index == (3,)


def test_the_first_wrong_element_is_named_with_both_values():
    got = ramp(4, 5)
    got[2, 3] = -1
    found = one(ramp(4, 5), got, block=(16, 16))
    assert (found.index, found.expected, found.got) == ((2, 3), 14, -1)


AT = np.arange(300)
WHERE = {
    ": all of them": np.ones(300, bool),
    ": every element from 128 on: all but the first block": AT >= 128,
    ": every element from 256 on: the last block, which is only partly filled": AT >= 256,
    ": every element from 256 on: block 2 and later": np.arange(512) >= 256,
    ": every element from 100 on": AT >= 100,
    ": the last element only": AT == 299,
    ": the first element only": AT == 0,
    ": element 44 only": AT == 44,
    ": element 128 only, the first of block 1": AT == 128,
    ": elements 4 to 9": (AT >= 4) & (AT <= 9),
    ": element 0 of every block of 128": AT % 128 == 0,
    ": every second element, from 1 on": AT % 2 == 1,
    ": every third element, from 0 on": AT % 3 == 0,
    ": every 12th element, from 0 on": AT % 12 == 0,
    ": every 33rd element, from 5 on": AT % 33 == 5,
    ", scattered over elements 1 to 7": np.isin(AT, [1, 2, 7]),
}


@pytest.mark.parametrize("words", WHERE)
def test_where_describes_the_wrong_elements_of_a_vector(words):
    assert compare.where(WHERE[words], (BLOCK,)) == words


ROW, COL = np.mgrid[0:40, 0:50]
WHERE_2D = {
    ": every row from 32 on: the last block, which is only partly filled": ROW >= 32,
    ": every column from 16 on: all but the first block": COL >= 16,
    ": the last column only": COL == 49,
    ": all outside the first 16 rows and 16 columns (the first block)": (ROW >= 16) | (COL >= 16),
    ": all outside the first 39 rows and 49 columns": (ROW >= 39) | (COL >= 49),
    ", in 2 of 40 rows and 2 of 50 columns": (ROW == COL) & ((ROW == 3) | (ROW == 20)),
    ": all of row 0 and all of column 7": (ROW == 0) | (COL == 7),
    ": all of 2 rows and all of column 49": (ROW % 30 == 5) | (COL == 49),
    ": those on the diagonal": ROW == COL,
    ": all but those on the diagonal": ROW != COL,
    ": 3 of 40 rows, from 1 to 30": np.isin(ROW, [1, 5, 30]),
}


@pytest.mark.parametrize("words", WHERE_2D)
def test_where_describes_the_wrong_elements_of_a_matrix(words):
    assert compare.where(WHERE_2D[words], (16, 16)) == words


def test_the_block_of_a_matrix_has_x_along_the_columns():
    got = ramp(64, 64)
    got[:, 32:] = 0
    found = one(ramp(64, 64), got, block=(32, 8))
    assert found.where == ": every column from 32 on: all but the first block"


def test_elements_of_a_grid_stride_loop_are_not_described_by_blocks():
    got = ramp(64)
    got[16:] = 0
    assert one(ramp(64), got, grid=2, block=8).where == ": every element from 16 on"


def test_outputs_per_block_are_not_described_by_blocks():
    got = ramp(8)
    got[4:] = 0
    assert one(ramp(8), got, per="block").where == ": every element from 4 on"


def test_unwritten_elements_are_counted_and_named():
    got = poison(300)
    got[:128] = ramp(300)[:128]
    found = one(ramp(300), got)
    assert (found.wrong, found.unwritten, found.first_unwritten) == (172, 172, True)
    words = words_for(ramp(300), got)
    assert "expected 129.0, got nothing: it was never written" in words
    assert "no thread stored to them" in words


def test_unwritten_and_wrong_elements_are_distinguished():
    got = poison(4)
    got[:2] = 7
    words = words_for(ramp(4), got)
    assert "2 of them were never written" in words


def test_a_count_of_wrong_elements_has_separators_and_is_given_once():
    right, rows = ramp(104, 152), np.arange(104)[:, None]
    got = np.where((rows + np.arange(152)) % 2, poison(right.shape), right)
    got[0, 0] = -7
    words = words_for(right, got)
    head = "7,905 of 15,808 elements of out are wrong, in 104 of 104 rows and 152 of 152 columns."
    assert words.startswith(head)
    assert "7,904 of them were never written" in words


def test_the_only_element_is_not_called_one_of_one():
    assert words_for(ramp(1), ramp(1) + 1).startswith("The only element of out")


def test_the_inputs_of_the_first_wrong_element_are_shown():
    words = words_for(ramp(3), ramp(3) + 1, x=ramp(3) / 2, factor=np.float32(3), other=ramp(9))
    assert "expected 1.0, got 2.0 (x[0] = 0.5, factor = 3.0)." in words


def test_adding_to_a_poisoned_output_is_distinguished_from_not_writing():
    got = poison(5)
    with np.errstate(invalid="ignore"):
        got += 1
    found = one(ramp(5), got)
    assert (found.unwritten, found.strange) == (0, False)
    assert "store with `=`, not with `+=`" in explain.hint(found)


def test_elements_shifted_by_one_are_recognised():
    got = ramp(4, 7)
    got[:, 1:] = ramp(4, 7)[:, :-1]
    assert "one position after its own" in explain.hint(one(ramp(4, 7), got))


RESEMBLES = {
    "rows and columns are swapped": lambda right: right.T.copy(),
    "every value is twice what it should be": lambda right: right * 2,
    "every value is half what it should be": lambda right: right / 2,
    "every value has the opposite sign": lambda right: -right,
    "in reverse order": lambda right: right[::-1].copy(),
}


@pytest.mark.parametrize("words", RESEMBLES)
def test_a_common_mistake_is_recognised(words):
    right = ramp(8, 8)
    assert words in explain.hint(one(right, RESEMBLES[words](right), block=(8, 8)))


def test_a_modified_input_is_named():
    x, out = ramp(4), ramp(4)
    case = Case({"x": x, "out": out}, grid=1, block=4, expected={"out": out})
    assert compare.changed_inputs(case, {"x": x + 1, "out": out}) == ["x"]
    assert compare.changed_inputs(case, {"x": x.copy(), "out": out}) == []


def test_equal_infinities_are_equal():
    expected = np.array([1, -np.inf, 3], np.float32)
    assert one(expected, expected.copy()) is None
    assert one(expected, -expected).wrong == 3


def test_a_condition_common_to_all_wrong_elements_is_found():
    x = np.linspace(-5, 5, 50, dtype=np.float32)
    got = np.where(x > 0, x, 0)
    found = compare.compare(launch(x, got, x=x), "out", got, 4.0)
    words = "Exactly the elements where x is below 0 are wrong."
    assert found.condition == words


def test_a_condition_may_be_limited_to_nonzero_elements():
    x, slope = np.resize([1, -1], 42).astype(np.float32), np.resize([0, 1, 2, -3, -1], 42)
    got = np.maximum(x, 0) * slope
    found = compare.compare(launch(x * slope, got, x=x), "out", got, 4.0)
    words = "Of those that should not be 0, exactly the elements where x is -1 are wrong."
    assert found.condition.startswith(words)


def test_elements_that_no_input_distinguishes_have_no_condition():
    x, got = ramp(40), ramp(40)
    got[::2] += 1
    assert compare.compare(launch(x, got, y=np.resize(x[:7], 40)), "out", got, 4.0).condition == ""


def test_elements_that_are_wrong_beyond_bounds_only_are_told_from_those_between():
    x = np.linspace(-50, 50, 601, dtype=np.float32)
    got = np.where((np.abs(x) > 20) & (np.arange(601) % 3 > 0), 0, x)
    found = compare.compare(launch(x, got, y=x), "out", got, 4.0)
    assert found.condition.startswith("All wrong elements lie where y is below -20 or above 20,")


def condition(x, is_wrong):
    got = np.where(is_wrong, np.float32(1e9), x)
    return compare.compare(launch(x, got, x=x), "out", got, 4.0).condition


def test_a_bound_between_drawn_numbers_that_is_not_round_is_no_lead():
    x = np.append(np.linspace(-9, 2.2, 50), np.linspace(3.7, 9, 40)).astype(np.float32)
    assert condition(x, x > 3) == ""
    assert condition(x * np.float32(1e6), x > 5.3) == ""


def test_a_bound_between_near_numbers_has_the_digits_that_part_them():
    x = np.linspace(-90, 90, 901, dtype=np.float32)
    words = "where x lies between about -85.3 and about -21.3 are wrong"
    assert words in condition(x, (x > -85.3) & (x < -21.3))


def test_values_beside_an_infinity_have_no_bound():
    x = np.linspace(1, 9, 50).astype(np.float32)
    x[::2] = np.inf
    x[1::4] = -np.inf
    assert condition(x, np.isinf(x)) == ""


@pytest.mark.parametrize("bound", [0, 0.5, 1, 128, 255, -20])
def test_a_round_bound_is_named(bound):
    x = np.linspace(bound - 30, bound + 30, 6001, dtype=np.float32)
    assert f"where x is above {bound} are wrong" in condition(x, x > np.float32(bound + 1e-5))


def test_a_condition_that_holds_for_nearly_all_elements_is_no_lead():
    x = ramp(300) - 20
    x[::12] = 0
    assert condition(x, x != 0) == ""


def test_a_condition_may_exclude_a_single_value():
    x = np.resize([0, 1, 2, -3], 44).astype(np.float32)
    assert (
        "where y is not 0 are wrong"
        in compare.compare(launch(x, -x, y=x), "out", -x, 4.0).condition
    )


def test_a_single_wrong_element_gives_no_condition():
    got = ramp(40)
    got[7] = 0
    assert not compare.compare(launch(ramp(40), got, x=ramp(40)), "out", got, 4.0).condition


def test_a_wrong_initial_maximum_is_recognised():
    expected, got = np.full(4, -np.inf, np.float32), np.full(4, -1e30, np.float32)
    assert "initialize a maximum with minus infinity" in explain.hint(one(expected, got))


def test_truncation_to_integers_is_recognised():
    expected = np.linspace(0.1, 9.7, 50, dtype=np.float32)
    assert "the fractional parts are missing" in one(expected, np.floor(expected)).resembles


def with_wrong(x, wrong):
    """Compare an output that equals its input except for the last ten elements."""
    got = x.copy()
    got[-10:] = wrong
    return compare.compare(launch(x, got, x=x), "out", got, 4.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: 0, "All or nearly all wrong elements are 0.0."),
        (lambda right: 3 * right, "Each wrong element is 3 times what it should be."),
        (lambda right: -right, "Each wrong element is x with the opposite sign."),
        (lambda right: right + 2, "Each wrong element is 2 too large."),
        (lambda right: right - 0.5, "Each wrong element is 0.5 too small."),
        (lambda right: right**2, ""),
    ],
)
def test_a_pattern_of_the_wrong_elements_is_described(change, words):
    x = ramp(40) + 1
    assert with_wrong(x, change(x[-10:])).pattern == words


def test_wrong_elements_equal_to_an_input_are_described_so():
    x = ramp(40) + 1
    got = np.where(x > 30, 2 * x, x)
    assert compare.compare(launch(x, got, y=2 * x), "out", got, 4.0).pattern == (
        "Each wrong element is y itself."
    )


def test_wrong_elements_are_not_compared_with_outputs_or_infinite_inputs():
    x = ramp(40) + 1
    got = np.where(x > 30, 3 * x**2, x)
    infinite = np.where(x > 35, np.inf, x).astype(np.float32)
    case = launch(x, got, y=infinite, other=poison(40))
    case.expected["other"] = x
    assert compare.compare(case, "out", got, 4.0).pattern == ""


def test_nothing_is_said_of_where_wrong_elements_of_four_axes_lie():
    mask = np.zeros((2, 2, 1, 3), bool)
    mask[0, 1, 0, 2] = mask[1, 0, 0, 1] = True
    assert compare.where(mask, (1, 1, 1, 1)) == ""
