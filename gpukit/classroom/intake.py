"""Find what each student has handed in. Nothing is imported or executed, and no link is followed.

Read are one folder per student (`alice/zip_add.py`, `alice/zip_add/answer.py`, a workbook,
notebooks with cells that begin with `%%exercise zip_add`), and nbgrader's layout
(`submitted/alice/ps1/*.ipynb`, in which the solution cell is called zip_add).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpukit.classroom import schema
from gpukit.classroom.reports import RUN
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
    in. `is_general` is a problem of all of a student's files, which names no exercise. `is_tried`
    says that the source is more than the starter.
    """

    student: str
    exercise: str
    file: str = ""
    source: bytes = b""
    problem: str = ""
    is_general: bool = False
    is_tried: bool = False
    topic: str = ""

    @property
    def full_name(self) -> str:
        """The exercise with its topic: a course may have one of the same name as the book."""
        return f"{self.topic}/{self.exercise}" if self.topic else self.exercise

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
    found = sorted(_inner(folder).iterdir())
    folders = (f for f in found if f.is_dir() and f.name not in _SKIPPED and f.name[0] != ".")
    names = [f for f in folders if not _MOODLE_TEXT.fullmatch(f.name) and not _holds_results(f)]
    if not names:
        raise IntakeError(
            f"{folder}: expected one folder per student, got none. Put the files of each student "
            "into a folder with the student's name."
        )
    return names


def _inner(folder: Path) -> Path:
    """Return the folder that has the folders of students: of nbgrader's course, an inner one."""
    inner = folder / "submitted"
    return inner if inner.is_dir() else folder


def refuse_inside(folder: Path, out: Path) -> None:
    """Raise where results would be written into the folder of a student, or make one.

    A folder of results may be beside those of students: they can be told apart.
    """
    inner = _inner(folder).resolve()
    if inner in out.resolve().parent.parents:
        raise IntakeError(
            f"--out: expected a folder that is not inside a student's, got {out}: in {folder}, "
            "each folder is one student's. Name one elsewhere."
        )


def results(folder: Path) -> list[str]:
    """Return the names of the folders that are no student's: they hold results of this command."""
    return [place.name for place in sorted(_inner(folder).iterdir()) if _holds_results(place)]


def _holds_results(place: Path) -> bool:
    """Whether there is the record of a run, so that results may be written beside the students."""
    raw, _ = _read(place / RUN, attempt.SOURCE_LIMIT)
    try:
        return bool(json.loads(raw)["schema"] == schema.NAME)
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def collect(
    folder: Path, exercises: Sequence[Exercise], *, all_count: bool = False
) -> list[Submission]:
    """Return what each student has handed in for each exercise, students in order of their names.

    Unless `all_count`, of several exercises only those do that somebody has attempted, or at least
    handed in: a workbook holds the starters of many.
    """
    every = [s for place in students(folder) for s in _Student(folder, place).answers(exercises)]
    handed_in = [s for s in every if s.is_answer]
    names = {s.exercise for s in handed_in if s.problem or s.is_tried}
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
        self._programs = [file for file in found if _suffix(file) == ".py"]
        notebooks = (file for file in found if _suffix(file) == cells.NOTEBOOK)
        self._notebooks = [_Notebook(file) for file in notebooks]
        return ""

    def _answer(self, exercise: Exercise, is_only_one: bool) -> Submission:
        """Return the answer to an exercise: a file, else a notebook's cell, else the only file.

        A starter, such as the answer.py that `gpukit test` creates, counts where nothing else does.
        """
        starters: list[Submission] = []
        for way in self._ways(exercise, is_only_one):
            found = [one for one in way if one.is_tried or one.problem]
            if len(found) > 1:
                return self._refused(exercise, self._place, self._several(found))
            if found:
                return found[0]
            starters += way
        if starters:
            return starters[0]
        for notebook in self._notebooks:
            if notebook.problem:
                says = f"{notebook.file.name} {notebook.problem}."
                return self._refused(exercise, notebook.file, says, is_general=True)
        return Submission(self._place.name, exercise.name, topic=exercise.topic)

    def _ways(self, exercise: Exercise, is_only_one: bool) -> Iterator[list[Submission]]:
        """Yield what was handed in under the exercise's name, in cells, and as the only file."""
        named = [file for file in self._programs if _is_named(file, exercise)]
        yield [self._of_file(exercise, file) for file in named]
        yield self._cells(exercise)
        if is_only_one and len(self._programs) == 1 and not named:
            yield [self._of_file(exercise, self._programs[0])]

    def _of_file(self, exercise: Exercise, file: Path) -> Submission:
        raw, problem = _read(file, attempt.SOURCE_LIMIT)
        if problem:
            return self._refused(exercise, file, f"{file.name} {problem}.")
        is_tried = cells.is_attempted(exercise, raw.decode("utf-8-sig", "replace"))
        return self._made(exercise, file, source=raw, is_tried=is_tried)

    def _cells(self, exercise: Exercise) -> list[Submission]:
        """Return the answers in notebooks; of equal ones, the first."""
        found: dict[bytes, Submission] = {}
        for notebook in self._notebooks:
            cell = notebook.answer(exercise)
            if cell is not None:
                raw = cells.as_file(exercise, cell).encode()
                is_tried = cells.is_attempted(exercise, cell)
                made = self._made(exercise, notebook.file, source=raw, is_tried=is_tried)
                found.setdefault(raw, made)
        return [*found.values()]

    def _several(self, found: list[Submission]) -> str:
        files = (self._folder / one.file for one in found[:2])
        names = " and ".join(file.relative_to(self._place).as_posix() for file in files)
        return f"There are several answers, such as {names}. Keep only the one that counts."

    def _refused(
        self, exercise: Exercise, file: Path, problem: str, *, is_general: bool = False
    ) -> Submission:
        return self._made(exercise, file, problem=problem, is_general=is_general)

    def _made(self, exercise: Exercise, file: Path, **given: Any) -> Submission:
        name = file.relative_to(self._folder).as_posix()
        return Submission(self._place.name, exercise.name, name, topic=exercise.topic, **given)


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
            if _suffix(Path(entry.name)) in (".py", cells.NOTEBOOK):  # a folder, too: refused later
                found.append(Path(entry.path))
    return found, True


def _suffix(file: Path) -> str:
    return file.suffix.casefold()  # some systems write .PY


def _is_named(file: Path, exercise: Exercise) -> bool:
    """Tell whether a file's place says that it is an answer: NAME.py, or NAME/answer.py."""
    named = file.parent.name if file.name.casefold() == ANSWER else file.stem
    return named.casefold() == exercise.name.casefold()


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
