"""Proofs of grades: of the starter, of the solution, and of the solution with known mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gpukit import files
from gpukit.checked.finding import KINDS
from gpukit.course import attempt, explain, grade, mistakes, verdicts
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise, ExerciseError
from gpukit.course.runner import Child
from gpukit.course.verdicts import Row

Problems = Iterator[str]


def starter_fails_when_it_runs(exercise: Exercise) -> Problems:
    """The starter can be loaded, and is not right in all cases.

    That of a detective may be, by luck.
    """
    rows = launched(exercise, exercise.starter, exercise.cases())
    if not exercise.detective and all(row.status == "right" for row in rows):
        yield "The starter is right in all cases: students have nothing to write."


def starter_is_not_attempted(exercise: Exercise) -> Problems:
    """The starter is graded as not attempted; that of a detective as wrong."""
    report = grade.run(exercise, exercise.starter)
    expected = ("wrong", "error", "but") if exercise.detective else ("untouched",)
    if report.status not in expected:
        yield f"The starter is graded {report.status!r}, expected {expected[0]!r}. {report.why}"


def solution_is_right(exercise: Exercise) -> Problems:
    """The solution is graded right: values, findings and contracts."""
    report = grade.run(exercise, exercise.solution)
    if not report.passed:
        yield f"The solution is graded {report.status!r}. {report.why}"


def solution_is_right_with_other_inputs(exercise: Exercise) -> Problems:
    """The solution is right with inputs from another seed."""
    yield from _not_right(exercise, replace(exercise, seed=7).cases())


def solution_is_right_in_small_shapes(exercise: Exercise) -> Problems:
    """The solution is right in every small shape: a failing case is reduced to such a one."""
    least = [min(extents) for extents in zip(*exercise.shapes.values(), strict=True)]
    small = itertools.product(*(range(low, low + 3) for low in least))
    yield from _not_right(exercise, [exercise.case(shape) for shape in small])


def _not_right(exercise: Exercise, cases: list[Case]) -> Problems:
    for row in launched(exercise, exercise.solution, cases):
        if row.status != "right":
            yield f"The solution is graded {row.status!r} with {row.sizes}. {row.why}"


def launched(exercise: Exercise, file: Path, cases: list[Case]) -> list[Row]:
    """Return the verdict on each case from a plain launch; raise where a file has no answer."""
    with Child(file, exercise.entry, exercise.driver) as child:
        loaded = child.loaded()
        if loaded.kind != "ready":
            why = explain.outcome(loaded, attempt.read(file))
            raise ExerciseError(f"{file.name} cannot be loaded. {why}")
        return [
            verdicts.judge(exercise, one, child.launch(one, exercise.seconds), "") for one in cases
        ]


def mistake_is_explained(
    exercise: Exercise, sentence: str, text: str, *, or_otherwise: bool = False
) -> Problems:
    """The solution with a known mistake is graded wrong, and the reason given is its sentence.

    With `or_otherwise` a finding, an exception or the time limit may be the reason instead.
    """
    with files.temporary("answer.py", text) as file:
        report = grade.run(exercise, file)
    if report.status in ("right", "but"):
        yield f"mistakes.toml: {sentence!r} is graded {report.status!r}."
    elif sentence not in report.why and not (or_otherwise and _says_more(report)):
        yield f"mistakes.toml: {sentence!r} is not the reason that is given. {report.why}"


def _says_more(report: grade.Report) -> bool:
    """Tell whether a report says what is wrong that needs no known mistake."""
    return report.about in KINDS or report.status in ("error", "timeout")


def mistakes_are_explained(exercise: Exercise) -> Problems:
    """All known mistakes are explained, most by their sentences."""
    for sentence, text in mistakes.of(exercise).items():
        yield from mistake_is_explained(exercise, sentence, text, or_otherwise=True)
