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
    return f"{_word(row.status):8}"


def _word(status: str) -> str:
    return _STATUS.get(status, "ERROR")


def state(name: str) -> str:
    """Return how far a learner is in words.

    >>> state("but"), state("new")
    ('almost right', 'new')
    """
    return "almost right" if name == "but" else name


def explanation(report: Report) -> Iterator[str]:
    """Yield the paragraphs that explain a report: with what it fails, why, what was printed.

    Where cases fail in several ways, the report explains one; the first case of each other way
    explains itself.
    """
    if report.failed and report.status != "but":
        is_one_of = any(row.why and row.status != report.status for row in report.rows)
        which = f"case marked {_word(report.status)}" if is_one_of else "failing case"
        yield f"Smallest {which}: {report.failed.sizes()}"
    if report.why:
        yield report.why
    for row in _unexplained(report):
        yield f"{row.name}, marked {_word(row.status)}: {row.sizes}\n{row.why}"
    printed = report.printed.strip().splitlines()
    if printed:
        shown = [f"  | {line[:200]}" for line in printed[:MOST_PRINTED]]
        more = len(printed) - MOST_PRINTED
        rest = [f"  | ... and {more:,} more lines"] if more > 0 else []
        yield "\n".join(["Your file printed:", *shown, *rest])


def _unexplained(report: Report) -> list[Row]:
    """Return the first case of each way to fail of which the report explains no case."""
    failed = [row for row in report.rows if row.why]
    told = {report.status, *(row.status for row in failed if row.why in report.why)}
    first = {row.status: row for row in reversed(failed) if row.status not in told}
    return [row for row in failed if row is first.get(row.status)]


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
