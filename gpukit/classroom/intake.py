"""Find what each student has handed in. Nothing is imported or executed, and no link is followed.

Read are one folder per student (`alice/zip_add.py`, `alice/zip_add/answer.py`, a workbook,
notebooks with cells that begin with `%%exercise zip_add`), and nbgrader's layout
(`submitted/alice/ps1/*.ipynb`, in which the solution cell is called zip_add).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpukit.course import attempt, cells
from gpukit.course.catalogue import ANSWER, Exercise
from gpukit.errors import GpukitError

NOTEBOOK_LIMIT = 32 * 1024 * 1024
_MOST_FILES, _DEEPEST = 2000, 8  # of one student, below their folder
# What Moodle makes beside a student's folder of files, of text that was typed into a form.
_MOODLE_TEXT = re.compile(r".+_assignsubmission_onlinetext_?")
_SKIPPED = {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git"}


class IntakeError(GpukitError):
    """The folder with the submissions cannot be used."""


@dataclass(frozen=True)
class Submission:
    """What a student has handed in for an exercise.

    `file` is relative to the folder of all submissions. `source` is the text to be graded, as
    bytes; `problem` says why there is none, "" where all is well. With neither, nothing was handed
    in. `is_general` is a problem of all of a student's files, which names no exercise.
    """

    student: str
    exercise: str
    file: str = ""
    source: bytes = b""
    problem: str = ""
    is_general: bool = False

    @property
    def sha256(self) -> str:
        """The checksum of the text to be graded; "" where there is none."""
        return hashlib.sha256(self.source).hexdigest() if self.source else ""

    @property
    def is_answer(self) -> bool:
        """Whether this shows that the exercise was set, be it with a file that cannot be graded."""
        return bool(self.source or (self.problem and not self.is_general))


def students(folder: Path) -> list[Path]:
    """Return the folder of each student, or raise IntakeError."""
    if not folder.is_dir():
        what = "a file" if folder.exists() else "which does not exist"
        raise IntakeError(
            f"gpukit grade: expected a folder with one folder per student, got {folder}, {what}."
        )
    inner = folder / "submitted"  # of nbgrader's course
    found = sorted((inner if inner.is_dir() else folder).iterdir())
    folders = (f for f in found if f.is_dir() and f.name not in _SKIPPED and f.name[0] != ".")
    names = [folder for folder in folders if not _MOODLE_TEXT.fullmatch(folder.name)]
    if not names:
        raise IntakeError(
            f"{folder}: expected one folder per student, got none. Put the files of each student "
            "into a folder with the student's name."
        )
    return names


def collect(
    folder: Path, exercises: Sequence[Exercise], *, all_count: bool = False
) -> list[Submission]:
    """Return what each student has handed in for each exercise, students in order of their names.

    Unless `all_count`, of several exercises only those do that somebody has attempted, or at least
    handed in: a workbook holds the starters of many.
    """
    every = [s for place in students(folder) for s in _Student(folder, place).answers(exercises)]
    by_name = {exercise.name: exercise for exercise in exercises}
    handed_in = [s for s in every if s.is_answer]
    names = {s.exercise for s in handed_in if s.problem or _is_attempt(s, by_name[s.exercise])}
    names = names or {s.exercise for s in handed_in}
    if not names:
        known = exercises[0].name
        raise IntakeError(
            f"{folder}: expected answers to exercises, found none. A file is called {known}.py, or "
            f"{ANSWER} in a folder {known}; a notebook's cell begins with %%exercise {known}."
        )
    return [s for s in every if all_count or s.exercise in names or len(exercises) == 1]


def answers(place: Path, exercises: Sequence[Exercise]) -> list[Submission]:
    """Return what the student whose folder this is has handed in for each exercise."""
    return [*_Student(place.parent, place).answers(exercises)]


def _is_attempt(submission: Submission, exercise: Exercise) -> bool:
    text = submission.source.decode("utf-8-sig", "replace")
    return cells.is_attempted(exercise, text)


class _Student:
    """The folder of one student, below the folder of all."""

    def __init__(self, folder: Path, place: Path) -> None:
        self._folder, self._place = folder, place
        self._programs: list[Path] = []
        self._notebooks: list[_Notebook] = []

    def answers(self, exercises: Sequence[Exercise]) -> Iterator[Submission]:
        """Yield what is handed in for each exercise."""
        problem = self._look()
        for exercise in exercises:
            if problem:
                yield self._refused(exercise, self._place, problem, is_general=True)
            else:
                yield self._answer(exercise, is_only_one=len(exercises) == 1)

    def _look(self) -> str:
        """Find the files that may be answers; return why none of them is read, or ""."""
        if self._place.is_symlink():
            return f"{self._place.name} is a link, and links are not followed."
        try:
            found, is_all = _files(self._place)
        except OSError as error:
            return f"{self._place.name} cannot be read: {error.strerror}."
        if not is_all:
            return f"{self._place.name} has more than {_MOST_FILES:,} files, or folders too deep."
        self._programs = [file for file in found if file.suffix == ".py"]
        notebooks = (file for file in found if file.suffix == cells.NOTEBOOK)
        self._notebooks = [_Notebook(file) for file in notebooks]
        return ""

    def _answer(self, exercise: Exercise, is_only_one: bool) -> Submission:
        """Return the answer to an exercise: a file, else a notebook's cell."""
        mine = [file for file in self._programs if _is_named(file, exercise)]
        if not mine and is_only_one and len(self._programs) == 1:
            mine = self._programs
        if len(mine) > 1:
            return self._refused(exercise, self._place, self._several(mine))
        if not mine:
            return self._in_notebooks(exercise)
        raw, problem = _read(mine[0], attempt.SOURCE_LIMIT)
        if problem:
            return self._refused(exercise, mine[0], f"{mine[0].name} {problem}.")
        return self._made(exercise, mine[0], source=raw)

    def _in_notebooks(self, exercise: Exercise) -> Submission:
        found = [(n.file, n.answer(exercise)) for n in self._notebooks]
        written = {file: answer for file, answer in found if answer is not None}
        tried = {f: a for f, a in written.items() if cells.is_attempted(exercise, a)} or written
        if len({*tried.values()}) > 1:
            return self._refused(exercise, self._place, self._several(list(tried)))
        for file, answer in tried.items():
            text = cells.as_file(exercise, answer)
            return self._made(exercise, file, source=text.encode())
        for notebook in self._notebooks:
            if notebook.problem:
                says = f"{notebook.file.name} {notebook.problem}."
                return self._refused(exercise, notebook.file, says, is_general=True)
        return Submission(self._place.name, exercise.name)

    def _several(self, found: list[Path]) -> str:
        names = " and ".join(file.relative_to(self._place).as_posix() for file in found[:2])
        return f"There are several answers, such as {names}. Keep only the one that counts."

    def _refused(
        self, exercise: Exercise, file: Path, problem: str, *, is_general: bool = False
    ) -> Submission:
        return self._made(exercise, file, problem=problem, is_general=is_general)

    def _made(self, exercise: Exercise, file: Path, **given: Any) -> Submission:
        name = file.relative_to(self._folder).as_posix()
        return Submission(self._place.name, exercise.name, name, **given)


class _Notebook:
    """A notebook of a student, read once for all exercises; `problem` is what is wrong with it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        raw, self.problem = _read(file, NOTEBOOK_LIMIT)
        self._cells: list[cells.Cell] = []
        if not self.problem:
            try:
                self._cells = cells.read(raw)
            except ValueError:
                self.problem = "is not a notebook"

    def answer(self, exercise: Exercise) -> str | None:
        """Return the answer to an exercise, if it is there."""
        found = cells.of(exercise, self._cells)
        return cells.last(exercise, found) if found else None


def _files(place: Path) -> tuple[list[Path], bool]:
    """Return what may be an answer below a folder, and whether that is all; follow no link."""
    found: list[Path] = []
    todo, count = [(place, 0)], 0
    while todo:
        current, depth = todo.pop()
        with os.scandir(current) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        count += len(ordered)
        if count > _MOST_FILES or depth > _DEEPEST:
            return found, False
        for entry in ordered:
            if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED:
                todo.append((Path(entry.path), depth + 1))
            if Path(entry.name).suffix in (".py", cells.NOTEBOOK):  # a folder, too: refused later
                found.append(Path(entry.path))
    return found, True


def _is_named(file: Path, exercise: Exercise) -> bool:
    """Tell whether a file's place says that it is an answer: NAME.py, or NAME/answer.py."""
    if file.name == ANSWER:
        return file.parent.name == exercise.name
    return file.stem.casefold() == exercise.name


def _read(file: Path, limit: int) -> tuple[bytes, str]:
    """Return a file's bytes, or what is wrong with it."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        link = "is a link, and links are not followed"
        return b"", link if file.is_symlink() else f"cannot be read ({error.strerror})"
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        os.close(opened)
        return b"", "is not a regular file"
    with os.fdopen(opened, "rb") as stream:
        if status.st_size > limit:
            return b"", f"has {status.st_size:,} bytes; at most {limit:,} are read"
        return stream.read(limit), ""
