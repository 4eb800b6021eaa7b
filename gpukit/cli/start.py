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
    _say_what_stays(changes)
    was_cut_off = changes.added and not arguments.update  # a full disk ended the first run
    if (is_new or was_cut_off) and not arguments.opened:
        show.text(f"Open it: cd {shlex.quote(str(folder))}, then {workbook.OPEN}")
    return WELL


def _made(changes: workbook.Changes) -> str:
    lessons = sum(name.endswith(".ipynb") for name in changes.added)
    exercises = sum(name.endswith("/task.md") for name in changes.added)
    return f"Created your workbook {changes.folder}: {lessons} lessons, {exercises} exercises."


def _changed(changes: workbook.Changes) -> str:
    done = {"Added": len(changes.added), "Updated": len(changes.renewed)}
    words = [f"{action} {count} file{_s(count)}." for action, count in done.items() if count]
    return f"Your workbook {changes.folder}: {' '.join(words) or 'nothing new.'}"


def _say_what_stays(changes: workbook.Changes) -> None:
    """Name the files that are not of this version, and how to get that version."""
    if changes.answers:
        count = len(changes.answers)
        show.text(f"Copied {count} file{_s(count)} of yours from the project's exercises.")
    if changes.old:
        count = len(changes.old)
        again = f"gpukit start --update {changes.folder}"
        show.text(f"There are new versions of {count} file{_s(count)}. To get them: {again}")
    if changes.left:
        show.text("You have changed or run these, so they are kept; each has a new version:")
        for name in changes.left:
            show.text(f"  {name}")
        show.text("To get the new version too, rename yours and update again.")
    if changes.dropped:
        show.text("These are no longer part of the book; keep or delete them:")
        for name in changes.dropped:
            show.text(f"  {name}")


def _s(count: int) -> str:
    return "" if count == 1 else "s"
