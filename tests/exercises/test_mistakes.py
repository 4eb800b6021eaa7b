"""Each known mistake is distinguished from all others, and grading shows its sentence."""

import pytest

from gpukit.course import catalogue, compare, grade, interpreter, mistakes
from tests import often
from tests.exercises import answers

EXERCISES = catalogue.every()
KERNELS = [exercise for exercise in EXERCISES if not exercise.driver]


def cheap_cases(exercise):
    return [case for case in exercise.cases() if mistakes.work(case) <= mistakes.MOST_WORK]


def left(exercise, text, cases):
    return [interpreter.launch(text, exercise.entry, case) for case in cases]


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda exercise: exercise.name)
def test_the_solution_is_right_in_plain_python(exercise):
    cases = cheap_cases(exercise)
    assert cases
    for case, got in zip(cases, left(exercise, exercise.solution.read_text(), cases), strict=True):
        assert got is not None
        assert all(compare.compare(case, n, got[n], exercise.ulps) is None for n in case.expected)


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda exercise: exercise.name)
@pytest.mark.costly
def test_every_mistake_differs_from_all_earlier_ones_in_plain_python(exercise):
    cases, earlier, bad = cheap_cases(exercise), {}, []
    for sentence, text in mistakes.of(exercise).items():
        found = left(exercise, text, cases)
        assert any(got is not None for got in found), sentence
        failing = [
            (number, case)
            for number, case in enumerate(cases)
            if found[number] is not None and is_wrong(exercise, case, found[number])
        ]
        for other, its in earlier.items():
            if failing and all(
                its[k] is not None and compare.agree(case, found[k], its[k], exercise.ulps)
                for k, case in failing
            ):
                bad.append(f"as {other!r}: {sentence}")
        earlier[sentence] = found
    assert bad == []


def is_wrong(exercise, case, got):
    return any(compare.compare(case, name, got[name], exercise.ulps) for name in case.expected)


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
def test_grading_shows_the_sentence_of_the_mistake(exercise, sentence, text, tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(text, encoding="utf-8")
    report = grade.run(exercise, file)
    assert report.status in ("wrong", "error")
    assert sentence in report.why
