"""Answers written as small changes of the solution of an exercise."""

from __future__ import annotations

from collections.abc import Callable

from gpukit.course import edits
from gpukit.course.catalogue import Exercise

Change = Callable[[Exercise], str]


def edit(*pairs: tuple[str, str]) -> Change:
    """Return the solution with pieces of text replaced, each of which must occur exactly once."""

    def change(exercise: Exercise) -> str:
        text = exercise.solution.read_text(encoding="utf-8")
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    return change


def body(lines: str) -> Change:
    """Return the solution with another body under the docstring of its kernel."""
    return lambda exercise: edits.with_body(
        exercise.solution.read_text(encoding="utf-8"), exercise.entry, lines
    )
