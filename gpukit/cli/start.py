"""The command `start`: the user's own copy of the lessons and exercises."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit.cli import WELL, show

if TYPE_CHECKING:
    from gpukit.course import workbook


def start(arguments: argparse.Namespace) -> int:
    """Create a workbook, or update what the user has not changed."""
    from gpukit.course import catalogue, workbook

    folder, project = Path(arguments.folder).expanduser(), catalogue.root().parent
    is_new = not workbook.is_one(folder)
    make = workbook.update if arguments.update else workbook.start
    changes = make(folder, project)
    if arguments.json:
        show.data(asdict(changes))
        return WELL
    show.text(_made(changes) if is_new else _changed(changes))
    _say_what_stays(changes, arguments.opened)
    has_more = changes.added and not arguments.update  # a new lesson, or a run that was cut off
    if (is_new or has_more) and not arguments.opened:
        show.text(f"Open it: cd {shlex.quote(str(folder))}, then {workbook.OPEN}")
    return WELL


def _made(changes: workbook.Changes) -> str:
    lessons = sum(name.endswith(".ipynb") for name in changes.added)
    exercises = sum(name.endswith("/task.md") for name in changes.added)
    return f"Created your workbook, {changes.folder}: {lessons} lessons, {exercises} exercises."


def _changed(changes: workbook.Changes) -> str:
    done = {"added": len(changes.added), "updated": len(changes.renewed)}
    words = [f"{action} {count} file{_s(count)}" for action, count in done.items() if count]
    is_behind = changes.left or changes.old
    words = words or ["no files updated" if is_behind else "nothing new"]
    return f"Your workbook, {changes.folder}: {', '.join(words)}."


def _say_what_stays(changes: workbook.Changes, opened: bool) -> None:
    """Name the files that are not of this version, and how to get that version."""
    again = _again(changes.folder, opened)
    if changes.answers:
        count = len(changes.answers)
        show.text(f"Copied {count} file{_s(count)} of yours from the project's exercises.")
    if changes.old:
        count = len(changes.old)
        show.text(f"There are new versions of {count} file{_s(count)}. To get them: {again}")
    if changes.left:
        show.text("You have changed or run these, so they are kept; each has a new version:")
        for name in changes.left:
            show.text(f"  {name}")
        show.text("To get the new version too, rename yours and run:")
        show.text(f"  {again}")
    if changes.dropped:
        show.text("These are no longer part of the book; keep or delete them:")
        for name in changes.dropped:
            show.text(f"  {name}")


def _again(folder: Path, opened: bool) -> str:
    """Return the command that updates a workbook: the one that was used, if it did."""
    from gpukit.course import workbook

    if not opened:
        return f"gpukit start --update {shlex.quote(str(folder))}"
    is_usual = str(folder) == workbook.USUAL
    return "make lab" if is_usual else f"make lab WORKBOOK={shlex.quote(str(folder))}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
