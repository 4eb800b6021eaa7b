"""No wrong answer passes, each is explained by its mistake, and no right one is refused."""

import importlib

import pytest

from gpukit.course import catalogue, grade
from tests.exercises.answers import Right, Wrong

pytestmark = pytest.mark.answers
EXERCISES = catalogue.every()
ANSWERS = [
    (exercise, answer)
    for exercise in EXERCISES
    for answer in importlib.import_module(f"tests.exercises.answers.{exercise.name}").ANSWERS
]
LEAST_WRONG, LEAST_RIGHT = 5, 2


def graded(exercise, answer, folder):
    file = folder / "answer.py"
    file.write_text(answer.change(exercise), encoding="utf-8")
    return grade.run(exercise, file)


def named(pairs):
    return {"argvalues": pairs, "ids": [f"{e.name}: {a.name}" for e, a in pairs]}


@pytest.mark.parametrize(
    ("exercise", "answer"), **named([pair for pair in ANSWERS if isinstance(pair[1], Wrong)])
)
def test_a_wrong_answer_is_explained_by_its_mistake(exercise, answer, tmp_path):
    report = graded(exercise, answer, tmp_path)
    assert report.status != "right"
    assert (report.status == "but") == (answer.grade == "but"), report.why
    assert " ".join(answer.says.split()) in " ".join(report.why.split())


@pytest.mark.parametrize(
    ("exercise", "answer"), **named([pair for pair in ANSWERS if isinstance(pair[1], Right)])
)
def test_an_unusual_right_answer_is_right(exercise, answer, tmp_path):
    report = graded(exercise, answer, tmp_path)
    assert report.passed, report.why


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_each_exercise_has_wrong_and_right_answers(exercise):
    kinds = [type(answer) for other, answer in ANSWERS if other is exercise]
    assert kinds.count(Wrong) >= LEAST_WRONG
    assert kinds.count(Right) >= LEAST_RIGHT
