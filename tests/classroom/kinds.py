"""Answers of each kind to the exercises that the exports are tried with, and what they earn."""

from __future__ import annotations

from pathlib import Path

from gpukit.classroom import export
from gpukit.course import catalogue, progress
from gpukit.course.catalogue import Exercise
from tests.exercises import answers

# A kernel, a kernel to be fixed, and host code.
EXERCISES = ("zip_add", "detective_overflow", "average_replicas")
KINDS = ("right", "but", "wrong", "blank")
EACH = [(name, kind) for name in EXERCISES for kind in KINDS]
# What is handed in to tools that take ten seconds per notebook.
FEW = [(name, kind) for name, kind in EACH if name == "zip_add" or kind in ("right", "blank")]


def exercises(*names: str) -> list[Exercise]:
    return [catalogue.find(name) for name in names or EXERCISES]


def answer(exercise: Exercise, kind: str) -> str:
    """Return an answer; a blank one is the starter."""
    if kind in ("right", "blank"):
        file = exercise.solution if kind == "right" else exercise.starter
        return file.read_text(encoding="utf-8")
    return next(one.text for one in answers.wrong(exercise) if one.grade == kind)


def earned(exercise: Exercise, kind: str) -> int:
    """Return the points of an answer by the rule of `gpukit test`."""
    return progress.points(exercise, kind)


def exported(target: str, folder: Path, *names: str) -> Path:
    """Export exercises to a new folder, whose name is that of the assignment."""
    export.export(target, exercises(*names), folder)
    return folder
