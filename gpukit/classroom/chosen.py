"""The exercises that a teacher names: of their own course, and of the book."""

from __future__ import annotations

from collections.abc import Iterable

from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise, ExerciseError


def known() -> list[Exercise]:
    """Return the exercises of the course around the current folder, then those of the book."""
    own, book = catalogue.every(), catalogue.book()
    if book is not None and book.resolve() == catalogue.root().resolve():
        return own
    folders = {exercise.folder.resolve() for exercise in own}
    others = catalogue.of(book) if book else []
    return own + [exercise for exercise in others if exercise.folder.resolve() not in folders]


def named(names: Iterable[str]) -> list[Exercise]:
    """Return the exercises of these names, or of topics such as `04_reduction`, each once.

    An exercise of the course comes before one of the book that has the same name, and so does a
    topic. ExerciseError names what is neither.
    """
    every = known()
    return distinct(
        exercise
        for name in names
        for exercise in _topic(name.rstrip("/"), every) or [catalogue.find(name, every)]
    )


def distinct(exercises: Iterable[Exercise]) -> list[Exercise]:
    """Return exercises, each once; raise where two have a name that files could not tell apart."""
    found: dict[str, Exercise] = {}
    for exercise in exercises:
        other = found.setdefault(exercise.name, exercise)
        if other.folder != exercise.folder:
            raise ExerciseError(
                f"gpukit: expected exercises of different names, got {other.folder} and "
                f"{exercise.folder}. Rename one of the two folders."
            )
    return list(found.values())


def _topic(name: str, every: list[Exercise]) -> list[Exercise]:
    """Return the exercises of a topic: all in one folder."""
    found = [exercise for exercise in every if exercise.topic == name]
    return [e for e in found if e.folder.parent == found[0].folder.parent]
