"""Exercises in a notebook: `%load_ext gpukit`, then `%%exercise NAME` as the first line of a cell.

%exercise NAME         the task
%exercise hint NAME    the next hint
%exercise play NAME    the player, with the smallest case that failed
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from IPython.core.magic import Magics, line_cell_magic, magics_class

import gpukit
from gpukit import interrupts
from gpukit.course import as_text, catalogue, cells, grade, progress, ranks
from gpukit.course.case import Case
from gpukit.course.catalogue import Exercise, ExerciseError
from gpukit.course.waiting import Waiting
from gpukit.errors import FileError, GpukitError

# How grading ends where a cell would not come to its end here either, or would end the notebook.
_UNSAFE = ("syntax", "timeout", "died", "protocol")
_NOT_RUN = "The cell was not run in the notebook, which it would hang or crash."
_NOT_UNDONE = "The cell was not run in the notebook, where nothing would undo that."


class Graded:
    """A report on a cell, as a notebook shows it: the text, and the hints folded below."""

    def __init__(self, exercise: Exercise, report: grade.Report, kept: str = "") -> None:
        self.exercise, self.report, self.kept = exercise, report, kept

    def __repr__(self) -> str:
        stops = self.report.status in _UNSAFE and self.report.status != "syntax"
        why_not = _NOT_UNDONE if self.report.undone else _NOT_RUN if stops else ""
        words = as_text.text(self.exercise, self.report), why_not, self.kept
        return "\n\n".join(filter(None, words))

    def _repr_html_(self) -> str:
        # Lab's own rule for output, break-all, would break lines inside words.
        style = "white-space: pre-wrap; word-break: normal; overflow-wrap: break-word"
        shown = f'<pre style="{style}">{html.escape(repr(self))}</pre>'
        return shown if self.report.passed else shown + self._hints()

    def _hints(self) -> str:
        """Return the hints, each folded inside the one before it: first the one on the failure."""
        due = self.exercise.hint_for.get(self.report.about)
        hints: list[progress.Hint] = []
        for _ in self.exercise.hints:
            shown = [hint.number for hint in hints]
            hints.append(progress.hint_after(self.exercise, shown, due))
        folded = ""
        for hint in reversed(hints):
            words = html.escape(" ".join(self.exercise.hints[hint.number - 1].split()))
            title = as_text.hint_title(self.exercise, hint)
            inside = f"<p>{words}</p>{folded}"
            folded = f"<details><summary>{title}</summary>{inside}</details>"
        return folded


class Words:
    """Markdown that reads as it is where nothing renders it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


@magics_class
class Exercises(Magics):
    """The magic `exercise`, and what it remembers between cells."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.notebook = shell
        self.failed: dict[str, Case] = {}

    @line_cell_magic
    def exercise(self, line: str, cell: str | None = None) -> Any:
        """Grade the kernel in this cell; without a cell, show the task, a hint or the player."""
        try:
            return self._exercise(line, cell)
        except (ExerciseError, FileError) as error:
            lines = [f"{type(error).__name__}: {error}"]
            error._render_traceback_ = lambda: lines  # type: ignore[union-attr]  # IPython asks
            raise
        except KeyboardInterrupt as stopped:
            magic = "%exercise" if cell is None else "%%exercise"
            words = f"{magic} {line.strip()} was stopped by Ctrl-C: nothing was saved"
            raise interrupts.brief(stopped, words) from None

    def _exercise(self, line: str, cell: str | None) -> Any:
        command, name = ["", *line.split()][-2:] if line.strip() else ["", ""]
        if command not in ("", "hint", "play") or not name:
            raise ExerciseError(
                f"%exercise: expected a name, `hint NAME` or `play NAME`, got {line.strip()!r}."
            )
        exercise = catalogue.find(name)
        if cell is not None:
            return self._graded(exercise, cell)
        if command == "hint":
            return self._hint(exercise)
        if command == "play":
            return self._play(exercise)
        return Words(exercise.task.read_text(encoding="utf-8"))

    def _graded(self, exercise: Exercise, cell: str) -> Graded:
        with cells.written(exercise, cell) as file, Waiting("grading the cell") as waiting:
            report = grade.run(exercise, file, notice=waiting)
        kept = _kept(exercise, cell)
        lost = progress.record(exercise, report.status, report.about)
        if lost:
            kept = f"{kept}\n\nThis grade is not saved: {lost}".strip()
        self.failed.pop(exercise.name, None)
        if report.failed is not None:
            self.failed[exercise.name] = report.failed
        if report.status not in _UNSAFE and not report.undone:
            self.notebook.run_cell(cell)  # the cells below may use the kernel
        return Graded(exercise, report, kept)

    def _hint(self, exercise: Exercise) -> Words:
        hint = progress.next_hint(exercise)
        progress.hint_shown(exercise, hint.number)
        words = " ".join(exercise.hints[hint.number - 1].split())
        return Words(f"**{as_text.hint_title(exercise, hint)}.** {words}")

    def _play(self, exercise: Exercise) -> Any:
        if exercise.driver:
            raise ExerciseError(
                f"%exercise play: expected an exercise about a kernel, got {exercise.name}, whose "
                "answer is host code. Call it in another cell and print what you want to see."
            )
        kernel = self.notebook.user_ns.get(exercise.entry)
        if kernel is None:
            raise ExerciseError(
                f"%exercise play: expected a kernel {exercise.entry} in this notebook, found none. "
                f"Run its cell, which begins with %%exercise {exercise.name}, first."
            )
        case = self.failed.get(exercise.name) or exercise.cases()[0]
        arguments = [
            value.copy() if isinstance(value, np.ndarray) else value for value in case.args.values()
        ]
        return gpukit.play(kernel)[case.grid, case.block](*arguments)


def _kept(exercise: Exercise, cell: str) -> str:
    """Make an attempted cell the answer; say so where an answer in a file makes room for it."""
    if not cells.is_attempted(exercise, cell):
        return ""
    try:
        old = cells.keep(exercise, cell)
    except (GpukitError, OSError) as error:
        return f"This cell could not be saved as your answer: {error}"
    now = "This cell is your answer now. The previous answer.py"
    return f"{now} is kept as {old.name}." if old else ""


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to a notebook: `%load_ext gpukit`."""
    shell.register_magics(Exercises)
    ranks.register(shell)
