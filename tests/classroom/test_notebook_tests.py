"""The tests that run in a student's notebook, called as its cells call them."""

import pytest

from gpukit.classroom import notebook_tests
from gpukit.course import catalogue
from tests.classroom.kinds import EACH, answer, earned

TESTS = (notebook_tests.results, notebook_tests.budget)
pytestmark = pytest.mark.usefixtures("warm")


def passes(test, name, cells):
    try:
        test(str(catalogue.find(name).folder), cells)
    except AssertionError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), EACH)
def test_a_right_answer_passes_both_tests_and_one_that_breaks_a_contract_the_first(name, kind):
    cells = ["", answer(catalogue.find(name), kind), "1 + 1"]
    expected = {"right": [True, True], "but": [True, False]}.get(kind, [False, False])
    assert [passes(test, name, cells) for test in TESTS] == expected
    assert bool(earned(catalogue.find(name), kind)) == expected[0]


def test_the_last_cell_that_defines_the_kernel_is_graded():
    exercise = catalogue.find("zip_add")
    cells = [answer(exercise, "wrong"), answer(exercise, "right"), "zip_add_kernel[1, 1](a, b, c)"]
    assert passes(notebook_tests.results, "zip_add", cells)
    assert not passes(notebook_tests.results, "zip_add", cells[::-1])


def test_a_failure_shows_the_explanation_without_a_traceback():
    exercise = catalogue.find("zip_add")
    cells = [answer(exercise, "right").replace("a[i] + b[i]", "a[i] - b[i]")]
    with pytest.raises(AssertionError, match="differences a - b") as failed:
        notebook_tests.results(str(exercise.folder), cells)
    shown = failed.value._render_traceback_()
    assert shown[0] == exercise.title
    assert not any("notebook_tests" in line for line in shown)


def test_a_notebook_without_the_answer_says_which_definition_is_missing():
    with pytest.raises(AssertionError, match="No cell that has run defines zip_add_kernel"):
        notebook_tests.results(str(catalogue.find("zip_add").folder), ["x = 1"])


def test_nothing_is_written_to_the_notebook(capfd):
    loud = "import sys, warnings\nwarnings.warn('small grid')\nprint(1, file=sys.stderr)\n"
    cells = [answer(catalogue.find("zip_add"), "right") + loud]
    notebook_tests.results(str(catalogue.find("zip_add").folder), cells)
    assert capfd.readouterr() == ("", "")
