"""Wrong answers fail with an explanation of their mistake, and unusual right answers pass.

Every run grades the wrong answer closest to each solution, and an unusual right answer of every
fourth exercise; `make test-all` grades all others.
"""

import pytest

from gpukit.course import catalogue, grade
from tests import often
from tests.exercises import answers

pytestmark = pytest.mark.answers
EXERCISES = catalogue.every()
LEAST_WRONG, LEAST_RIGHT = 5, 2


def graded(exercise, answer, folder):
    file = folder / "answer.py"
    file.write_text(answer.text, encoding="utf-8")
    return grade.run(exercise, file)


def changed_lines(exercise, answer):
    """Return the number of lines in which an answer and the solution differ."""
    solution = exercise.solution.read_text(encoding="utf-8")
    return len({*solution.splitlines()} ^ {*answer.text.splitlines()})


def of_kind(kind, step=1):
    """Parametrize a test with all answers of a kind; the one closest to the solution runs often.

    Only one exercise in `step` has an answer that runs often.
    """
    rows = []
    for number, exercise in enumerate(EXERCISES):
        ordered = sorted(kind(exercise), key=lambda answer: changed_lines(exercise, answer))
        for place, answer in enumerate(ordered):
            name = f"{exercise.name}: {answer.name}"
            often_run = place == 0 and number % step == 0
            rows.append(often.row(exercise, answer, often=often_run, name=name))
    return pytest.mark.parametrize(("exercise", "answer"), rows)


@of_kind(answers.wrong)
def test_a_wrong_answer_is_explained_by_its_mistake(exercise, answer, tmp_path):
    report = graded(exercise, answer, tmp_path)
    assert report.status != "right"
    assert (report.status == "but") == (answer.grade == "but"), report.why
    assert " ".join(answer.says.split()) in " ".join(report.why.split())


@of_kind(answers.right, step=4)
def test_an_unusual_right_answer_is_right(exercise, answer, tmp_path):
    report = graded(exercise, answer, tmp_path)
    assert report.passed, report.why


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_each_exercise_has_wrong_and_right_answers(exercise):
    assert len(answers.wrong(exercise)) + len(exercise.mistakes) >= LEAST_WRONG
    assert len(answers.right(exercise)) >= LEAST_RIGHT
