"""Tests that run in a student's own notebook, as those of nbgrader and otter-grader do.

`In` is IPython's list of the cells that have run. The last one that defines what the exercise asks
for is graded as `gpukit test` grades a file, in a process of its own: what the answer prints, and
what Numba warns of, does not appear in the notebook, where nbgrader would take it for a failure.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from gpukit import files
from gpukit.course import as_text, attempt, catalogue, grade
from gpukit.course.catalogue import Exercise


def results(folder: str, cells: Sequence[str]) -> None:
    """Raise AssertionError, which explains why, unless all results of the answer are right.

    `folder` is that of the exercise.
    """
    _require(folder, cells, ("right", "but"))


def budget(folder: str, cells: Sequence[str]) -> None:
    """Raise AssertionError, which explains why, unless the answer keeps the task's budget too."""
    _require(folder, cells, ("right",))


def _require(folder: str, cells: Sequence[str], passing: tuple[str, ...]) -> None:
    exercise = catalogue.read(Path(folder).resolve())
    answer = _answer(exercise, cells)
    if answer is None:
        raise _failure(f"No cell that has run defines {exercise.entry}. Run the answer's cell.")
    status, said = _graded(exercise.folder, answer)
    if status not in passing:
        raise _failure(said)


def _answer(exercise: Exercise, cells: Sequence[str]) -> str | None:
    """Return the last cell that defines what the exercise asks for."""
    defines = re.compile(rf"^(def|class)[ \t]+{exercise.entry}\b", re.MULTILINE)
    return next((cell for cell in reversed(cells) if defines.search(cell)), None)


@functools.lru_cache(maxsize=4)
def _graded(folder: Path, answer: str) -> tuple[str, str]:
    """Return the status and the explanation, which the second test need not compute again."""
    exercise = catalogue.read(folder)
    with files.temporary(attempt.CELL, answer) as file:
        report = grade.run(exercise, file)
    return report.status, as_text.text(exercise, report)


def _failure(said: str) -> AssertionError:
    """Return an error of which a notebook shows the words, without the lines of this file."""
    failure = AssertionError(said)
    failure._render_traceback_ = said.splitlines  # type: ignore[attr-defined]  # IPython asks
    return failure
