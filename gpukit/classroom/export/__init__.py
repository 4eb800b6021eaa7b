"""`gpukit export`: exercises, from their own folders, as assignments of other grading tools."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from gpukit import files
from gpukit.classroom.export import (
    classroom50,
    gradescope,
    nbgrader,
    otter,
    prairielearn,
    student_zip,
)
from gpukit.classroom.export.base import Files
from gpukit.course.catalogue import Exercise
from gpukit.errors import GpukitError

# Each takes the assignment's name and its exercises.
TARGETS: dict[str, Callable[[str, Sequence[Exercise]], Files]] = {
    "nbgrader": nbgrader.files,
    "otter": otter.files,
    "gradescope": gradescope.files,
    "classroom50": classroom50.files,
    "prairielearn": prairielearn.files,
    "zip": student_zip.files,
}
_ELSEWHERE = "choose another folder"
# It is part of commands, YAML and addresses.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class ExportError(GpukitError):
    """The folder or the exercises cannot be used."""


def export(target: str, exercises: Sequence[Exercise], folder: Path) -> list[Path]:
    """Write the assignment with these exercises to a new or empty folder; return its files.

    The assignment is named like the folder. The same exercises give the same bytes.
    """
    name = folder.resolve().name
    if not _NAME.fullmatch(name):
        raise ExportError(
            f"gpukit export: expected a folder whose name is that of the assignment, in letters, "
            f"digits, hyphens and underscores, got {name!r}. Choose another name."
        )
    _refuse_used(folder)
    files.check_folder(folder, _ELSEWHERE)
    _refuse_copies(exercises)
    written = TARGETS[target](name, exercises)
    with files.whole_folder(folder, _ELSEWHERE) as unfinished:
        for place, file in written.items():
            path = unfinished / place
            files.write(path, file.content, _ELSEWHERE, folders=True)
            if file.executable:
                path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return [folder / place for place in written]


def _refuse_used(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ExportError(
            f"gpukit export: expected a new or empty folder, got {folder}, a file. "
            "Choose another name."
        )
    with files.refusing(folder, _ELSEWHERE):
        first = next(iter(sorted(folder.iterdir())), None) if folder.exists() else None
    if first is not None:
        raise ExportError(
            f"gpukit export: expected a new or empty folder, got {folder}, which contains other "
            f"files, such as {first.name}. Choose another name, or delete what is in it."
        )


def _refuse_copies(exercises: Sequence[Exercise]) -> None:
    copy = next((exercise for exercise in exercises if exercise.released), None)
    if copy is not None:
        raise ExportError(
            f"gpukit export: expected an exercise with its solution, got {copy.folder}, a "
            "students' copy. Run it in the course that this was released from."
        )
