"""The verbs for learners: list, test, hint, reset."""

from __future__ import annotations

import argparse
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpukit.cli import FINDINGS, WELL, show
from gpukit.course import catalogue, progress
from gpukit.course.catalogue import Exercise


def _short(path: Path) -> str:
    """Return a path as it is shortest from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def list_exercises(arguments: argparse.Namespace) -> int:
    """Show each exercise, its points and whether it is untouched, started or passed."""
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
    show.table(headers, [[str(row[key]) for key in headers] for row in rows], right=(3,))
    following = next((row["name"] for row in rows if row["state"] != "passed"), None)
    show.text()
    if following is None:
        show.text("All passed.")
    else:
        show.text(f"Next: gpukit test {following}")
    return WELL


def _make_answer(exercise: Exercise, as_json: bool) -> None:
    """Give the learner a file to work in, and say where the task is."""
    shutil.copyfile(exercise.starter, exercise.answer)
    if as_json:
        return
    show.text(f"Made your file: {_short(exercise.answer)}")
    show.text(f"The task:       {_short(exercise.folder / 'task.md')}")
    show.text()
    show.text(f"Fill it in, then run: gpukit test {exercise.name}")


def test(arguments: argparse.Namespace) -> int:
    """Test the learner's file; make it first where there is none yet."""
    from gpukit import target
    from gpukit.course import check

    exercise = catalogue.find(arguments.name)
    target.active()  # where kernels cannot run at all, the learner's file is not to blame
    own = arguments.file is None
    if own and not exercise.answer.exists():
        _make_answer(exercise, arguments.json)
        if not arguments.json:
            return FINDINGS
    file = exercise.answer if own else Path(arguments.file)
    report = check.run(exercise, file) if arguments.json else _watched(exercise, file)
    if own:
        progress.record(exercise, report.passed)
    if arguments.json:
        show.data({**asdict(report), "passed": report.passed})
    else:
        _explain(exercise, report)
    return WELL if report.passed else FINDINGS


def _watched(exercise: Exercise, file: Path) -> Any:
    """Run the cases, printing each as it ends."""
    from gpukit.course import attempt, check

    attempt.read(file)  # a file that cannot be read is misuse: say only that
    show.text(f"{show.paint(exercise.title, 'strong')}  {_short(file)}")
    show.text()

    def watch(result: check.CaseResult) -> None:
        good = result.status == "passed"
        words = (
            "passed"
            if good
            else {"wrong": "WRONG", "timeout": "TOO LONG"}.get(result.status, "ERROR")
        )
        show.text(f"  {show.paint(f'{words:8}', 'good' if good else 'bad')}  {result.name}")

    return check.run(exercise, file, watch)


def _explain(exercise: Exercise, report: Any) -> None:
    """Print the verdict, the first failure in full, and where to go next."""
    if report.cases:
        show.text()
    if report.passed:
        show.text(show.paint(f"All {len(report.cases)} cases passed.", "good"))
        _printed(report.printed)
        return
    failed = [case for case in report.cases if case.status != "passed"]
    if failed:
        asked = len(exercise.cases())
        show.text(
            f"{len(failed)} of {len(report.cases)} cases failed"
            + (f", {asked - len(report.cases)} not run" if asked > len(report.cases) else "")
            + f". The first: {failed[0].name}."
        )
        show.paragraph(failed[0].sizes)
        show.text()
    show.block(report.why)
    _printed(report.printed)
    show.text()
    if report.status == "untouched":
        show.text(f"The task: {_short(exercise.folder / 'task.md')}")
    show.text(f"Stuck? gpukit hint {exercise.name}")


def _printed(words: str) -> None:
    """Show what the learner's own prints said."""
    lines = words.strip().splitlines()
    if not lines:
        return
    show.text()
    show.text("Your file printed:")
    for line in lines[:20]:
        show.text(f"  | {line[:200]}")
    if len(lines) > 20:
        show.text(f"  | ... and {len(lines) - 20} more lines")


def hint(arguments: argparse.Namespace) -> int:
    """Show one hint, and how to get the next."""
    exercise = catalogue.find(arguments.name)
    count = len(exercise.hints)
    if not 1 <= arguments.number <= count:
        raise catalogue.ExerciseError(
            f"gpukit hint: expected a number from 1 to {count}, got {arguments.number}."
        )
    words = exercise.hints[arguments.number - 1]
    if arguments.json:
        show.data(
            {"exercise": exercise.name, "number": arguments.number, "of": count, "hint": words}
        )
        return WELL
    show.text(show.paint(f"Hint {arguments.number} of {count}", "strong"))
    show.text()
    show.paragraph(" ".join(words.split()))
    if arguments.number < count:
        show.text()
        show.text(f"More: gpukit hint {exercise.name} {arguments.number + 1}")
    return WELL


def reset(arguments: argparse.Namespace) -> int:
    """Start an exercise again. The file as it was is kept beside the new one."""
    exercise = catalogue.find(arguments.name)
    kept = progress.set_aside(exercise)
    shutil.copyfile(exercise.starter, exercise.answer)
    progress.record(exercise, passed=False)
    if arguments.json:
        show.data({"exercise": exercise.name, "file": exercise.answer, "kept": kept})
        return WELL
    if kept is not None:
        show.text(f"Kept your old file as {_short(kept)}")
    show.text(f"{_short(exercise.answer)} is the starter again.")
    return WELL
