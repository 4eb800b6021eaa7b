"""Answers in the cells of notebooks: kept as the learner's file, found in a saved notebook.

There is one answer to an exercise, `answer.py`. Running a cell `%%exercise NAME` writes it, so that
all commands know it. Its first line stands where the magic's own line stands: lines keep their
numbers. That line ends with a checksum of the rest, so that a file which somebody has edited since
is told from one that holds a cell and no more.
"""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from gpukit import files
from gpukit.course import attempt, progress
from gpukit.course.catalogue import Exercise, ExerciseError

NOTEBOOK = ".ipynb"
_IMPORTS = ("import math", "import numpy as np", "from gpukit import cuda")
_MAGIC = re.compile(r"\s*%%exercise[ \t]+(\S+)[ \t]*(?:\n|$)")
_MARK = re.compile(r"[^\n]*  # a cell of a notebook, ([0-9a-f]{8})\n")


def keep(exercise: Exercise, cell: str) -> Path | None:
    """Make a cell the answer; return where an answer that is not a cell's own is kept."""
    new, kept = as_file(exercise, cell), None
    if exercise.answer.exists():
        if exercise.answer.read_bytes() == new.encode():
            return None
        if not holds_a_cell(exercise.answer):
            kept = progress.set_aside(exercise)
    progress.write_answer(exercise, new.encode())
    return kept


def holds_a_cell(file: Path) -> bool:
    """Whether a file is what `keep` has written, and nobody has edited it since."""
    text = file.read_bytes().decode(errors="replace")
    mark = _MARK.match(text)
    return mark is not None and mark[1] == _checksum(text[mark.end() :])


def is_attempted(exercise: Exercise, cell: str) -> bool:
    """Whether a cell holds more than the starter."""
    try:
        tree = ast.parse(cell)
        return bool(tree.body) and not attempt.is_starter(exercise, tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def find(exercise: Exercise) -> tuple[Path, str] | None:
    """Return the notebook that was saved last with an attempted cell of an exercise, and the cell.

    Looked for beside the folder of the answers, where a workbook has its notebooks.
    """
    found = []
    for notebook in exercise.shelf.parent.glob(f"notebooks/*{NOTEBOOK}"):
        with suppress(ExerciseError):
            cells = [c for c in _cells_of(exercise, notebook) if is_attempted(exercise, c)]
            found += [(notebook.stat().st_mtime, notebook, cell) for cell in cells[-1:]]
    return max(found)[1:] if found else None


@contextmanager
def file_of(exercise: Exercise, file: Path) -> Iterator[Path]:
    """Give a file to be graded: this one, or one with the cell of a notebook."""
    if file.suffix != NOTEBOOK:
        yield file
        return
    cells = _cells_of(exercise, file)
    if not cells:
        raise ExerciseError(
            f"{file}: expected a cell that begins with %%exercise {exercise.name}, got none. "
            "Save the notebook after you have written it."
        )
    with written(exercise, last(exercise, cells)) as made:
        yield made


def last(exercise: Exercise, cells: list[str]) -> str:
    """Return the last cell with an attempt, or the last one."""
    attempted = [cell for cell in cells if is_attempted(exercise, cell)]
    return (attempted or cells)[-1]


@contextmanager
def written(exercise: Exercise, cell: str) -> Iterator[Path]:
    """Give a file that holds a cell, for as long as it is graded."""
    with files.temporary(attempt.CELL, as_file(exercise, cell)) as file:
        yield file


def _cells_of(exercise: Exercise, notebook: Path) -> list[str]:
    """Return the code of all cells of an exercise, or raise saying what is no notebook."""
    try:
        raw = notebook.read_bytes()
    except OSError as error:
        raise ExerciseError(
            f"{notebook}: expected a notebook to test, got: {error.strerror}."
        ) from error
    try:
        return of(exercise, read(raw))
    except ValueError as error:
        raise ExerciseError(f"{notebook}: expected a notebook, got another file.") from error


class Cell(NamedTuple):
    """A cell of code: its text, and the name of the solution that nbgrader takes it for."""

    text: str
    solution: str


def read(raw: bytes) -> list[Cell]:
    """Return the cells of code of a notebook; raise ValueError where a file is none."""
    try:
        return [_cell(cell) for cell in json.loads(raw)["cells"] if cell["cell_type"] == "code"]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a notebook") from error


def _cell(cell: dict[str, Any]) -> Cell:
    known = cell.get("metadata", {}).get("nbgrader", {})
    solution = str(known.get("grade_id", "")) if known.get("solution") else ""
    text = "".join(cell["source"])  # the source is a text, or a list of lines
    # JSON may hold halves of a pair of surrogates, which are no characters.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Cell(text.replace("\r\n", "\n"), solution)


def of(exercise: Exercise, cells: list[Cell]) -> list[str]:
    """Return the answers to an exercise in cells, without the magic.

    A cell is an answer if it begins with `%%exercise NAME`, or if it is nbgrader's solution NAME.
    """
    names, found = (exercise.name, f"{exercise.topic}/{exercise.name}"), []
    for text, solution in cells:
        magic = _MAGIC.match(text)
        if (magic[1] if magic else solution) in names:
            found.append(text[magic.end() :] if magic else text)
    return found


def as_file(exercise: Exercise, cell: str) -> str:
    """Return a cell as a file, the imports of the starter in the place of the magic."""
    starter = ast.parse(exercise.starter.read_text(encoding="utf-8")).body
    given = (ast.unparse(node) for node in starter if isinstance(node, ast.Import | ast.ImportFrom))
    imports = "; ".join(dict.fromkeys((*_IMPORTS, *given)))
    rest = cell if cell.endswith("\n") else f"{cell}\n"
    return f"{imports}  # a cell of a notebook, {_checksum(rest)}\n{rest}"


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
