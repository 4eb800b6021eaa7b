"""What grading found, in words: the same in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from gpukit.course import progress
from gpukit.course.catalogue import Exercise
from gpukit.course.grade import Report
from gpukit.course.verdicts import Row

_STATUS = {"right": "right", "but": "MISSED", "wrong": "WRONG", "timeout": "TIMEOUT"}
MOST_PRINTED = 20


def status(row: Row) -> str:
    """Return the word for how one thing went, all of one width."""
    return f"{_STATUS.get(row.status, 'ERROR'):8}"


def state(name: str) -> str:
    """Return how far a learner is in words.

    >>> state("but"), state("new")
    ('almost right', 'new')
    """
    return "almost right" if name == "but" else name


def explanation(report: Report) -> Iterator[str]:
    """Yield the paragraphs that explain a report: with what it fails, why, what was printed."""
    if report.failed and report.status != "but":
        yield f"Smallest failing case: {report.failed.sizes()}"
    if report.why:
        yield report.why
    printed = report.printed.strip().splitlines()
    if printed:
        shown = [f"  | {line[:200]}" for line in printed[:MOST_PRINTED]]
        more = len(printed) - MOST_PRINTED
        rest = [f"  | ... and {more:,} more lines"] if more > 0 else []
        yield "\n".join(["Your file printed:", *shown, *rest])


def verdict(exercise: Exercise, report: Report) -> str:
    """Return the grade and the points it earns; nothing where an answer is wrong."""
    if report.status not in progress.EARNED:
        return ""
    earned = progress.points(exercise, report.status)
    return f"{state(report.status).capitalize()}: {earned} of {exercise.points} points."


def hint_title(exercise: Exercise, hint: progress.Hint) -> str:
    """Return which of the hints this is, and why its turn is now."""
    return ", ".join(filter(None, [f"Hint {hint.number} of {len(exercise.hints)}", hint.why]))


def text(exercise: Exercise, report: Report) -> str:
    """Return a report as plain text."""
    rows = "\n".join(f"{status(row)}  {row.name}" for row in report.rows)
    parts = [exercise.title, rows, *explanation(report), verdict(exercise, report)]
    return "\n\n".join(filter(None, parts))
