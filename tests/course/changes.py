"""Answers that tests write in a line: the solution of an exercise with something changed."""

from __future__ import annotations

from collections.abc import Callable

from gpukit.course import edits
from gpukit.course.catalogue import Exercise

Change = Callable[[Exercise], str]


def edit(*pairs: tuple[str, str]) -> Change:
    """Return the solution with pieces of text replaced, each of which must be there once."""

    def change(exercise: Exercise) -> str:
        text = exercise.solution.read_text(encoding="utf-8")
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    return change


def body(lines: str) -> Change:
    """Return the solution with other lines under the docstring of its kernel."""
    return lambda exercise: edits.with_body(
        exercise.solution.read_text(encoding="utf-8"), exercise.entry, lines
    )
