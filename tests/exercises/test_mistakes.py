"""Each known mistake is distinguished from all others, and grading shows its sentence."""

import pytest

from gpukit.classroom.proofs import grades, plain_python
from gpukit.course import catalogue, mistakes
from tests import often
from tests.exercises import answers

EXERCISES = catalogue.every()
KERNELS = [exercise for exercise in EXERCISES if not exercise.driver]


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda exercise: exercise.name)
def test_the_solution_is_right_in_plain_python(exercise):
    assert mistakes.of(exercise)
    assert list(plain_python.solution_is_right_in_plain_python(exercise)) == []


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda exercise: exercise.name)
@pytest.mark.costly
def test_every_mistake_differs_from_all_earlier_ones_in_plain_python(exercise):
    assert list(plain_python.mistakes_differ(exercise)) == []


def explained_otherwise(exercise):
    """Return the edited solutions that are also answers, where a finding explains them."""
    return {answer.text for answer in answers.wrong(exercise) + answers.right(exercise)}


def rows():
    """Return the mistakes; the first or the last of each exercise is graded in every run."""
    found = []
    for number, exercise in enumerate(EXERCISES):
        texts, others = mistakes.of(exercise), explained_otherwise(exercise)
        for place, (sentence, text) in enumerate(texts.items()):
            if text not in others:
                frequent = place == (0, len(texts) - 1)[number % 2]
                name = f"{exercise.name}: {place}"
                found.append(often.row(exercise, sentence, text, often=frequent, name=name))
    return found


@pytest.mark.answers
@pytest.mark.parametrize(("exercise", "sentence", "text"), rows())
def test_grading_shows_the_sentence_of_the_mistake(exercise, sentence, text):
    assert list(grades.mistake_is_explained(exercise, sentence, text)) == []
