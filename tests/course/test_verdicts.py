"""What the values of several outputs and cases tell is said, and no more than that."""

import numpy as np
import pytest

from gpukit.course import as_text, catalogue, compare, explain, runner, verdicts
from gpukit.course.case import Case, called, poison
from gpukit.course.verdicts import Row

MAXIMUM = "high = np.float32(-np.inf)"


def row(case, wrong=(), status="wrong"):
    return Row("a case", status, case=case, outputs_wrong=tuple(wrong))


def case_of(*outputs):
    arrays = {name: np.ones(3, np.float32) for name in outputs}
    return Case(dict(arrays), 1, 3, arrays)


def test_outputs_that_are_right_in_all_cases_are_named():
    case = case_of("new_w", "new_m", "new_v")
    rows = [row(case, ["new_w"]), row(None, status="right"), row(case, ["new_v", "new_w"])]
    assert verdicts.of_outputs(rows) == "Wrong: new_w, new_v. Right in all cases: new_m."


def test_nothing_is_said_of_outputs_where_a_case_gave_no_values():
    case = case_of("new_w", "new_m")
    assert verdicts.of_outputs([row(case, ["new_w"]), row(None, status="error")]) == ""


def test_an_only_output_is_not_told_from_others():
    assert verdicts.of_outputs([row(case_of("out"), ["out"])]) == ""


def found(got, expected, **rest):
    got, expected = np.asarray(got, np.float32), np.asarray(expected, np.float32)
    return compare.compare(Case({"out": got}, 1, 4, {"out": expected}, **rest), "out", got, 4.0)


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (3.0, "That is 2 times what it should be."),
        (-1.5, "That is what it should be with the opposite sign."),
        (0.1875, "That is 1/8 of what it should be."),
        (15, "That is 10 times what it should be."),
        (1.9, ""),
    ],
)
def test_a_single_element_is_told_only_a_simple_factor(got, words):
    assert found([got], [1.5]).multiple == words


def test_a_single_whole_number_is_told_no_factor():
    assert found([4], [2]).multiple == ""


def test_several_elements_are_told_any_factor_they_share():
    words = "Each wrong element is 1.4 times what it should be."
    assert found([1.4, 2.8, 9], [1, 2, 9]).multiple == words


def test_a_factor_that_was_said_is_not_said_again():
    case = case_of("out")
    told = Row("a case", "wrong", mismatch=found([2, 4], [1, 2]), case=case)
    (words,) = verdicts.multiples([told], "")
    assert verdicts.multiples([told], f"Look: {words}") == []


@pytest.mark.parametrize("start", [-np.inf, np.finfo(np.float32).min])
def test_what_a_maximum_starts_with_is_known_where_nothing_was_larger(start):
    words = "is what a maximum starts with: no element was taken into account there."
    assert explain.start(found([1, start], [1, 5]), MAXIMUM).endswith(words)


def test_an_infinity_is_no_start_in_an_answer_without_one():
    assert explain.start(found([1, -np.inf], [1, 5]), "high = x[0]") == ""


def test_elements_of_a_program_have_the_names_of_the_program():
    x, right = np.array([3.0]), np.array([2.5])
    args = {"x": x, "grad": np.array([7.0])}
    names = {"x": ("the values", ["a.data"]), "grad": ("the gradients", ["a.grad"])}
    case = called(args, {"grad": right}, names=names)
    text = explain.mismatch(compare.compare(case, "grad", args["grad"], 4.0), case)
    assert text.endswith("The first is a.grad: expected 2.5, got 7.0 (a.data = 3.0).")
    assert "The only element of the gradients is wrong." in text


def test_an_element_without_a_name_is_counted_within_what_the_output_is():
    case = called({"first": poison(4)}, {}, names={"first": ("the first layer's weights", [])})
    assert case.element("first", (2,)) == "element 2 of the first layer's weights"


def test_a_broken_bound_is_called_missed_whichever_side_it_is_on():
    assert as_text.status(row(None, status="but")).strip() == "MISSED"


@pytest.mark.parametrize(
    "back",
    [np.ones(3, np.float64), np.ones((1, 3), np.float32), np.ones(1, np.float32), 1, None],
    ids=["another dtype", "another rank", "a shape that would be broadcast", "a number", "nothing"],
)
def test_an_array_that_comes_back_as_another_one_is_an_error(back):
    arrays = {} if back is None else {"out": back}
    outcome = runner.Outcome("arrays", arrays=arrays)
    verdict = verdicts.judge(catalogue.find("zip_add"), case_of("out"), outcome, "")
    assert (verdict.status, "different shape or dtype" in verdict.why) == ("error", True)
