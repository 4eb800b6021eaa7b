"""What is nearly a solution is found in the book, however it is written."""

import pytest

from gpukit.classroom import alike, new
from gpukit.course import catalogue
from tests.classroom import courses

BOOK = {exercise.name: exercise for exercise in catalogue.of(catalogue.book())}


def found(exercise):
    return {one.name: one.ratio for one in alike.in_book(exercise)}


@pytest.mark.parametrize(
    ("exercise", "name"),
    [
        ("zip_add", "gpukit.kernels.vector.vector_add_kernel"),
        ("transpose", "gpukit.kernels.transpose.transpose_naive_kernel"),
        ("naive_matmul", "gpukit.kernels.matmul.naive.matmul_naive_kernel"),
        ("histogram", "gpukit.kernels.histogram.histogram_privatized_kernel"),
        ("lstm_cell", "gpukit.kernels.recurrent.lstm.lstm_update_kernel"),
    ],
)
def test_a_kernel_of_the_book_that_is_nearly_the_solution_is_found(exercise, name):
    assert found(BOOK[exercise])[name] >= alike.NEARLY


@pytest.mark.parametrize("name", ["argmax", "conv2d", "tape", "ring_all_reduce"])
def test_only_its_own_solution_is_like_an_unusual_one(name):
    exercise = BOOK[name]
    assert found(exercise) == {f"exercises/{exercise.topic}/{name}/solution.py": 1.0}


def test_an_exercise_with_other_names_and_words_is_the_same(tmp_path, monkeypatch):
    courses.begin(tmp_path, monkeypatch)
    exercise = new.make("02_more/mine", "zip_add")
    text = exercise.solution.read_text()
    for old, name in (("out", "c"), ("i ", "k "), ("[i]", "[k]"), ("Write", "Put"), ("a[", "(a)[")):
        text = text.replace(old, name)
    exercise.solution.write_text(f"# a comment\n{text}")
    assert found(exercise)["exercises/01_threads_blocks_grid/zip_add/solution.py"] == 1.0


def test_the_most_alike_comes_first():
    ratios = [one.ratio for one in alike.in_book(BOOK["zip_add"])]
    assert len(ratios) > 2
    assert ratios == sorted(ratios, reverse=True)
