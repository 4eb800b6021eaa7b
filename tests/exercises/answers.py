"""Wrong answers that must be explained and unusual right answers that must pass, by exercise.

`tests/data/answers/NAME.toml` holds those of the exercise NAME, each as a change of its solution:
`edit` (`gpukit.course.edits`), `body` or `whole` (`gpukit.course.mistakes.changed`).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from gpukit.course import catalogue, mistakes
from gpukit.course.catalogue import Exercise
from tests.conftest import ROOT


class Wrong(NamedTuple):
    """A wrong answer: a description of its mistake, and part of the expected explanation.

    `grade` is "wrong", or "but" if only a contract is broken.
    """

    name: str
    text: str
    says: str
    grade: str


class Right(NamedTuple):
    """A right answer that differs from the solution."""

    name: str
    text: str


@functools.cache
def wrong(exercise: Exercise) -> list[Wrong]:
    """Return the wrong answers to an exercise."""
    return [
        Wrong(one["name"], _text(exercise, one), one["says"], one.get("grade", "wrong"))
        for one in _tables(exercise)["wrong"]
    ]


@functools.cache
def right(exercise: Exercise) -> list[Right]:
    """Return the right answers to an exercise."""
    return [Right(one["name"], _text(exercise, one)) for one in _tables(exercise)["right"]]


def _tables(exercise: Exercise) -> dict[str, list[dict[str, str]]]:
    return catalogue.tables(ROOT / "tests" / "data" / "answers" / f"{exercise.name}.toml")


def _text(exercise: Exercise, change: dict[str, str]) -> str:
    solution = exercise.solution.read_text(encoding="utf-8")
    return mistakes.changed(solution, exercise.entry, change)
