"""The corpora of submissions are complete, and their honest answers are right."""

import contextlib

import pytest

from gpukit.course import catalogue, cells, grade
from tests import often
from tests.classroom import corpus

HOSTILE, HONEST = list(corpus.hostile()), list(corpus.honest())
CASES = [*HOSTILE, *HONEST]
EXERCISES = {exercise.name for exercise in catalogue.every()}


def test_ids_are_unique():
    assert len({case.id for case in CASES}) == len(CASES)


def test_the_corpora_are_large_and_the_honest_one_covers_all_exercises():
    assert (len(HOSTILE) >= 300, len(HONEST) >= 100) == (True, True)
    assert {case.exercise for case in HONEST} == EXERCISES


@pytest.mark.parametrize("cases", [HOSTILE, HONEST], ids=["hostile", "honest"])
def test_every_file_is_handed_in_by_a_case(cases):
    files = {*(corpus.SUBMISSIONS / cases[0].folder).iterdir()}
    assert files == {case.source for case in cases if case.source.exists()}


def test_what_is_expected_is_a_status_and_fits_the_points():
    odd = [
        case.id
        for case in CASES
        if not case.expect
        or not case.expect <= corpus.STATUSES
        or (case.points == "merit") != bool(case.expect & corpus.EARNING)
        or case.exercise not in EXERCISES
    ]
    assert odd == []


def test_every_word_to_fill_in_is_in_the_file():
    missing = [
        (case.id, word)
        for case in CASES
        for word in case.fill
        if word not in case.source.read_text(encoding="utf-8")
    ]
    assert missing == []


def test_nothing_is_left_to_fill_in(tmp_path):
    left = [case.id for case in CASES if b"CASE_ID" in case.data()]
    assert left == []


@pytest.mark.parametrize(
    "heavy", [False, pytest.param(True, marks=[pytest.mark.slow, pytest.mark.exhaustive])]
)
def test_every_case_can_be_placed(heavy, tmp_path):
    failed = []
    for case in CASES:
        if case.heavy == heavy:
            folder = tmp_path / case.id
            with contextlib.suppress(OSError):  # what this system or user cannot create
                corpus.place(case, folder)
            failed += [] if any(folder.iterdir()) else [case.id]
    assert failed == []


@pytest.mark.parametrize(
    "case",
    [
        often.row(case, often=number % 8 == 0, name=case.id)
        for number, case in enumerate(HONEST)
        if not case.grade_only
    ],
)
@pytest.mark.answers
@pytest.mark.usefixtures("warm")
def test_an_honest_answer_is_right(case, tmp_path):
    exercise, file = catalogue.find(case.exercise), corpus.place(case, tmp_path)
    with cells.file_of(exercise, file) as answer:
        report = grade.run(exercise, answer)
    assert report.status == "right", report.why
