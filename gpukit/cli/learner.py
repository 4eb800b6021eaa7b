"""The commands for learners: list, test, hint, reset."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gpukit.cli import FINDINGS, WELL, show
from gpukit.course import as_text, attempt, catalogue, cells, grade, progress, verdicts
from gpukit.course.catalogue import Exercise
from gpukit.course.waiting import Waiting


def _short(path: Path) -> str:
    """Return the shortest path from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _say(words: str) -> None:
    """Print a sentence, wrapped to the width of the terminal where it names a long path."""
    show.block(words, indent="")


def list_exercises(arguments: argparse.Namespace) -> int:
    """List each exercise, its points and the learner's progress."""
    rows: list[dict[str, Any]] = [
        {
            "name": e.name,
            "topic": e.topic,
            "title": e.title,
            "points": e.points,
            "state": progress.state(e),
        }
        for e in catalogue.every()
    ]
    if arguments.json:
        show.data(rows)
        return WELL
    headers = ("name", "title", "topic", "points", "state")
    words = [{**row, "state": as_text.state(row["state"])} for row in rows]
    cells = [[str(row[key]) for key in headers] for row in words]
    show.table(headers, cells, right=(3,), group="topic")
    show.text()
    show.text(_points())
    show.text(_next(progress.following()))
    return WELL


def _points() -> str:
    """Return the points earned so far, of how many."""
    every = catalogue.every()
    earned = sum(progress.points(e, progress.state(e)) for e in every)
    return f"{earned:,} of {sum(e.points for e in every):,} points."


def _next(exercise: Exercise | None) -> str:
    return f"Next: gpukit test {exercise.name}" if exercise else "You have solved all exercises."


def _make_answer(exercise: Exercise, as_json: bool) -> None:
    """Create the learner's file to work in, and say where the task is."""
    progress.begin(exercise)
    if as_json:
        return
    _say(f"Created your file: {_short(exercise.answer)}")
    _say(f"The task:          {_short(exercise.task)}")
    show.text()
    _say(f"Fill it in, then run: gpukit test {exercise.name}")


def _take_from_notebook(exercise: Exercise, as_json: bool) -> bool:
    """Make an answer from a cell that was written and saved, but not run."""
    found = cells.find(exercise)
    if found is None:
        return False
    notebook, cell = found
    cells.keep(exercise, cell)
    if not as_json:
        _say(f"Your answer is the cell in {_short(notebook)}.")
    return True


def test(arguments: argparse.Namespace) -> int:
    """Grade the learner's file; create it first where there is none yet."""
    from gpukit import target

    exercise = catalogue.find(arguments.name)
    target.active()  # raises where kernels cannot run at all, which is not the file's fault
    own = arguments.file is None
    if own and not exercise.answer.exists() and not _take_from_notebook(exercise, arguments.json):
        _make_answer(exercise, arguments.json)
        if not arguments.json:
            return FINDINGS
    given = exercise.answer if own else Path(arguments.file)
    with cells.file_of(exercise, given) as file:
        if not arguments.json:
            attempt.read(file)  # an unreadable file is misuse: report only that
            show.text(show.paint(exercise.title, "strong"))
            show.text(_short(given))
            show.text()
        report = grade.run(exercise, file) if arguments.json else _watched(exercise, file)
    report = replace(report, file=given)
    lost = progress.record(exercise, report.status, report.about) if own else ""
    if arguments.json:
        show.data(_plain(exercise, report))
    else:
        _explain(exercise, report, own)
    if lost:
        show.note(f"this grade is not saved: {lost}")
    return WELL if report.passed else FINDINGS


def _plain(exercise: Exercise, report: grade.Report) -> dict[str, Any]:
    """Return a report as plain data."""
    known = {k: v for k, v in vars(report).items() if k != "failed"}
    sizes = report.failed.sizes() if report.failed else ""
    rows = [asdict(row) for row in report.rows]
    points = progress.points(exercise, report.status)
    return {**known, "rows": rows, "failed": sizes, "points": points, "passed": report.passed}


def _watched(exercise: Exercise, file: Path) -> grade.Report:
    """Grade a file, printing each test as it ends."""

    with Waiting("running your file", show.text) as waiting:

        def watch(row: verdicts.Row) -> None:
            waiting.clear()
            style = "good" if row.status == "right" else "bad"
            show.entry(f"  {as_text.status(row)}", row.name, style)

        return grade.run(exercise, file, watch, waiting)


def _explain(exercise: Exercise, report: grade.Report, own: bool) -> None:
    """Print the verdict, the first failure in full, and what to do next."""
    if report.rows:
        show.text()
    for paragraph in as_text.explanation(report):
        show.block(paragraph)
        show.text()
    verdict = as_text.verdict(exercise, report)
    if verdict:
        show.text(show.paint(verdict, "good" if report.passed else "bad"))
    if report.passed:
        if own:
            show.text(_next(progress.following(exercise)))
        return
    if report.status == "untouched":
        _say(f"The task: {_short(exercise.task)}")
    if exercise.hints:
        show.text(f"Stuck? gpukit hint {exercise.name}")


def hint(arguments: argparse.Namespace) -> int:
    """Show one hint: the one requested, or the next; after the last one, the last again."""
    exercise = catalogue.find(arguments.name)
    count = len(exercise.hints)
    asked, following = arguments.number, progress.next_hint(exercise)
    hint = following if asked is None else progress.Hint(asked)
    number = hint.number
    if not 1 <= number <= count:
        raise catalogue.ExerciseError(
            f"gpukit hint: expected a number from 1 to {count}, got {number}."
        )
    progress.hint_shown(exercise, number)
    words = exercise.hints[number - 1]
    if arguments.json:
        show.data({"exercise": exercise.name, "number": number, "of": count, "hint": words})
        return WELL
    show.text(show.paint(as_text.hint_title(exercise, hint), "strong"))
    show.text()
    show.paragraph(" ".join(words.split()))
    more = asked is None and progress.next_hint(exercise).number != number
    if number < count or more:
        show.text()
        show.text(f"Next hint: gpukit hint {exercise.name}")
    return WELL


def reset(arguments: argparse.Namespace) -> int:
    """Restore the starter. The old file is kept beside it, and the best grade stays."""
    exercise = catalogue.find(arguments.name)
    in_cell = exercise.answer.exists() and cells.holds_a_cell(exercise.answer)
    kept = progress.set_aside(exercise)
    progress.begin(exercise)
    lost = progress.forget_hints(exercise)
    points = progress.points(exercise, progress.state(exercise))
    if arguments.json:
        show.data({"exercise": exercise.name, "file": exercise.answer, "kept": kept})
        return WELL
    if kept is not None:
        _say(f"Your old file is kept as {_short(kept)}")
    _say(f"{_short(exercise.answer)} is the starter again.")
    if in_cell:
        _say("The cell in your notebook stays; run it to make it your answer again.")
    if points:
        _say(f"Your {points} points stay.")
    if lost:
        show.note(f"`gpukit hint` goes on after the hints shown before: {lost}")
    return WELL
