"""Notice what an answer has written over, and put it back: exercises' own files, the grades so far.

What somebody else changes meanwhile is left alone: an editor, `git pull`, another `gpukit test`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from gpukit import files
from gpukit.course import catalogue, progress, written_files
from gpukit.course.catalogue import Exercise

OWN = {*catalogue.FILES, catalogue.DRIVER}


class Guard:
    """The files of all exercises as they are now; `put_back` makes them so again.

    The answer's process notes in the file `audit_log` what it changes.
    """

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._root = exercise.folder.parent.parent
        self._grades = exercise.shelf / progress.FILE
        self._before = {file: _content(file) for file in (*self._files(), self._grades)}
        self._temporary = contextlib.ExitStack()
        self.audit_log = self._temporary.enter_context(files.temporary("audit_log", ""))

    def _files(self) -> Iterator[Path]:
        return (file for file in self._root.glob("*/*/*") if file.name in OWN)

    def put_back(self) -> str:
        """Put back what the answer has changed, and say so in a sentence; "" where it has not."""
        wrote = written_files.read(self.audit_log)
        self._temporary.close()
        new = [file for file in self._files() if file not in self._before]
        changed = [
            file
            for file, before in {**self._before, **dict.fromkeys(new)}.items()
            if _content(file) != before and not wrote.isdisjoint(_noted_as(file))
        ]
        if not changed:
            return ""
        left = [file for file in changed if not _restore(file, self._before.get(file))]
        end = f"Could not restore {self._named(left)}." if left else "That change was undone."
        return (
            f"Your file changed {self._named(changed)}, which an answer must not do. {end} "
            "Remove the code that writes there."
        )

    def _named(self, files: list[Path]) -> str:
        return " and ".join(map(self._name, files))

    def _name(self, file: Path) -> str:
        around = self._root if self._root in file.parents else self._exercise.shelf
        return file.relative_to(around).as_posix()


def _noted_as(file: Path) -> set[str]:
    """Return the names under which a change of a file is noted: its own, or that of a folder."""
    real = Path(os.path.realpath(file))
    return {written_files.ANYTHING, str(real), *map(str, real.parents)}


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _restore(file: Path, content: bytes | None) -> bool:
    """Give a file its content again, or take it away that was not there."""
    with contextlib.suppress(OSError):
        if content is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return _content(file) == content
