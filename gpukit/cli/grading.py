"""The command `grade`: a folder of submissions, their reports, and what is derived from them."""

from __future__ import annotations

import argparse
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpukit.cli import FINDINGS, WELL, show

if TYPE_CHECKING:
    from gpukit.classroom.batch import Map


def grade(arguments: argparse.Namespace) -> int:
    """Grade what a class has handed in."""
    from gpukit.classroom.sandbox import modes

    mode = modes.find(arguments.isolation)  # first: without one nothing is even read
    from gpukit.classroom import batch, chosen, escape, gradebook, intake, roster
    from gpukit.course import catalogue

    folder, out = Path(arguments.folder).expanduser(), Path(arguments.out).expanduser()
    people = Path(arguments.roster).expanduser() if arguments.roster else None
    if people:
        roster.read(people)  # a bad one is named before anything is graded
    intake.refuse_inside(folder, out)
    known = chosen.named(arguments.exercise) or catalogue.every()
    submissions = intake.collect(folder, known, all_count=bool(arguments.exercise))
    exercises = tuple(dict.fromkeys(s.exercise for s in submissions))
    chosen.distinct(exercise for exercise in known if exercise.name in exercises)
    students = tuple(dict.fromkeys(s.student for s in submissions))
    run = batch.begin(out, exercises, mode.name, arguments.seed, students)
    if results := escape.line(", ".join(intake.results(folder))):
        show.note(f"not graded, because it holds results of gpukit grade: {results}.")
    if not arguments.json:
        _announce(submissions, mode.name)
    with _executor(arguments) as mapped, _Bar() as bar:
        try:
            batch.grade(out, run, submissions, mapped, bar.show)
        except KeyboardInterrupt:
            show.note("what is graded is kept: run the same line again to go on.")
            raise
    return _tell(gradebook.write(out, people), out, arguments.json)


def _executor(arguments: argparse.Namespace) -> AbstractContextManager[Map]:
    from gpukit.classroom import batch

    if arguments.executor:
        return batch.dask(arguments.executor)
    return batch.processes(arguments.jobs or os.cpu_count() or 1)


def _announce(submissions: list[Any], isolation: str) -> None:
    from gpukit.checked.messages.phrases import some

    students = some(len({s.student for s in submissions}), "student")
    exercises = some(len({s.exercise for s in submissions}), "exercise")
    show.text(f"{students}, {exercises}, isolation: {isolation}")
    if isolation == "none":
        show.note(
            "with --isolation none the submissions can do whatever you can: read, change and send "
            "your files."
        )


class _Bar:
    """The progress of a run in the status line, with the time that is left."""

    def __init__(self) -> None:
        from gpukit.status import StatusLine

        self._line, self._since = StatusLine(), time.monotonic()

    def __enter__(self) -> _Bar:
        self._line.show("grading: starting")
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def show(self, done: int, count: int) -> None:
        """Show how many submissions are done."""
        left = (time.monotonic() - self._since) / max(done, 1) * (count - done)
        when = f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s"
        self._line.show(f"grading: {done:,} of {count:,} answers, {when} left")


def _tell(summary: dict[str, Any], out: Path, as_json: bool) -> int:
    """Print what the class looks like, and say where the files are."""
    from gpukit.classroom import statistics

    if as_json:
        show.data(summary)
    else:
        show.text()
        show.text(statistics.as_text(summary, show.width(), rankings=False))
        show.text()
        show.block(f"Reports, gradebooks and the class summary, class.md: {out}", indent="")
    return FINDINGS if summary["needs_a_person"] else WELL
