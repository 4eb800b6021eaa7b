"""Read the reports of a run: all that is derived is derived from these."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gpukit.checked.finding import KINDS
from gpukit.classroom import escape, schema

Report = dict[str, Any]
FOLDER, RUN = "reports", "run.json"
# What a status is called on a page, where its own name is no phrase.
_PHRASES = {
    "but": "almost right",
    "timeout": "time limit exceeded",
    "died": "ended early",
    "missing": "no kernel of that name",
    "protocol": "returned no arrays",
    "syntax": "syntax error",
    "untouched": "not started",
    "absent": "not handed in",
    "infra": "no grade",
}


class Damaged(NamedTuple):
    """A file that is no report, which gives nobody a grade."""

    file: str
    why: str


class Unresolved(NamedTuple):
    """A grade that somebody must look after: nothing says how many points there are."""

    student: str
    exercise: str
    why: str


@dataclass(frozen=True)
class Graded:
    """The reports of a class, by student and exercise; students in alphabetical order.

    Exercises are in the order in which the run names them, others in alphabetical order.
    """

    students: tuple[str, ...]
    exercises: tuple[str, ...]
    reports: Mapping[tuple[str, str], Report]
    folders: Mapping[str, str] = field(default_factory=dict)  # of the reports, by student
    damaged: tuple[Damaged, ...] = ()

    def points(self, student: str, exercise: str) -> int | None:
        """Return the points of one answer; None if there is no grade."""
        report = self.reports.get((student, exercise))
        return None if report is None or report["points"] is None else int(report["points"])

    def of(self, exercise: str) -> int:
        """Return the points of a right answer."""
        return self._of[exercise]

    @functools.cached_property
    def _of(self) -> dict[str, int]:
        of = dict.fromkeys(self.exercises, 0)
        for (_, exercise), report in self.reports.items():
            of[exercise] = max(of[exercise], int(report["of"]))
        return of

    def total(self, student: str) -> int | None:
        """Return the points of a student; None if any exercise has no grade."""
        each = [self.points(student, exercise) for exercise in self.exercises]
        return None if None in each else sum(points for points in each if points)

    def total_text(self, student: str) -> str:
        """Return the points of a student as a sentence."""
        total = self.total(student)
        return "Not all is graded yet." if total is None else f"{total} of {self.most} points."

    @property
    def most(self) -> int:
        """The points that a student can reach."""
        return sum(map(self.of, self.exercises))

    def to(self, exercise: str) -> dict[str, Report]:
        """Return the reports of an exercise by student."""
        each = ((student, self.reports.get((student, exercise))) for student in self.students)
        return {student: report for student, report in each if report is not None}

    def by(self, student: str) -> dict[str, Report]:
        """Return the reports of a student by exercise."""
        each = ((exercise, self.reports.get((student, exercise))) for exercise in self.exercises)
        return {exercise: report for exercise, report in each if report is not None}

    @property
    def unresolved(self) -> list[Unresolved]:
        """The grades that a person must look after."""
        return [
            Unresolved(student, exercise, _reason(self.reports.get((student, exercise))))
            for student in self.students
            for exercise in self.exercises
            if self.points(student, exercise) is None
        ]


def _reason(report: Report | None) -> str:
    if report is None:
        return "there is no readable report"
    return escape.line(report["why"]) or "the grader failed"


def phrase(status: str) -> str:
    """Return a status in words.

    >>> phrase("but"), phrase("wrong")
    ('almost right', 'wrong')
    """
    return _PHRASES.get(status, status)


def cause(report: Report) -> str:
    """Return the cause of a report as a phrase or sentence on one line; nothing if it has none.

    >>> cause({"cause": "shared-race"}), cause({"cause": "sectors_per_request"})
    ('data race in shared memory', 'contract broken: sectors per request')
    """
    said = escape.line(report["cause"], 200)
    if said in KINDS:
        return KINDS[said].title
    # What a contract measures is one word; known mistakes are sentences.
    return said if " " in said or not said else f"contract broken: {said.replace('_', ' ')}"


def read(out: Path) -> Graded:
    """Read the reports in the folder of a run. A damaged one is listed, and is never a zero.

    Those of students and exercises that the run does not name are left out.
    """
    found: dict[tuple[str, str], Report] = {}
    damaged: list[Damaged] = []
    unread: list[str] = []
    folders: dict[str, str] = {}
    students, exercises = _named_by_run(out / RUN)
    for file in sorted((out / FOLDER).glob("*/*.json")):
        name = file.relative_to(out).as_posix()
        folder = file.parent.name
        if students and not (folder in students and file.stem in exercises):
            continue
        report = load(file)
        if isinstance(report, str):
            damaged.append(Damaged(name, report))
        elif (key := (report["student"], report["exercise"])) in found:
            damaged.append(Damaged(name, f"a second report of {key[0]!a} to {key[1]!a}"))
        else:
            found[key] = report
            folders.setdefault(key[0], folder)
            continue
        unread.append(folder)
    folders |= {name: name for name in unread if name not in folders.values()}
    order = {name: place for place, name in enumerate(exercises)}
    return Graded(
        students=tuple(sorted(folders, key=lambda name: (name.casefold(), name))),
        exercises=tuple(
            sorted(
                {name for _, name in found}, key=lambda name: (order.get(name, len(order)), name)
            )
        ),
        reports=found,
        folders=folders,
        damaged=tuple(damaged),
    )


def load(file: Path) -> Report | str:
    """Return the report in a file, or why there is none."""
    try:
        report: Report = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except (ValueError, RecursionError) as error:
        return escape.line(f"it is no JSON: {error}", 200)
    wrong = schema.valid(report)
    return escape.line("; ".join(wrong), 200) if wrong else report


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _named_by_run(file: Path) -> tuple[list[str], list[str]]:
    """Return the students and the exercises of a run, in its order; none if its file says none."""
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        run = None
    return _texts(run, "students"), _texts(run, "exercises")


def _texts(run: object, name: str) -> list[str]:
    """Return the texts in a list of a run's file, which may be damaged."""
    listed = run.get(name) if isinstance(run, dict) else None
    return [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
