"""Gradebooks for spreadsheets, Canvas and Moodle, and all that is derived from the reports.

A cell without a grade is empty, never 0. https://canvas.instructure.com/doc and
https://docs.moodle.org/en/Grade_import describe what the two systems import.
"""

from __future__ import annotations

import csv
import html
import importlib.util
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gpukit import files
from gpukit.classroom import escape, junit, markdown, reports, similarity, statistics
from gpukit.classroom.reports import FOLDER, Graded, Unresolved
from gpukit.classroom.roster import Person, Roster
from gpukit.classroom.roster import read as read_roster
from gpukit.classroom.statistics import Summary

if TYPE_CHECKING:
    from gpukit.draw.style import Picture

Cell = str | int | float | None
PICTURE = "class.png"
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def write(out: Path, roster: Path | None = None) -> Summary:
    """Write all files that are derived from the reports in `out`: equal reports, equal bytes.

    Returns what class.json holds, for `statistics.as_text`. Raises RosterError before anything is
    written, and OutputError; every file is the old or the new one.
    """
    people = read_roster(roster) if roster else None
    graded = reports.read(out)
    summary = statistics.summary(graded, similarity.groups(graded, similarity.known))
    summary["needs_a_person"] += [one._asdict() for one in unmatched(graded, people)]
    summary["without_folder"] = without_folder(graded, people)
    drawn = _picture(summary)
    texts = {
        "grades.csv": grades(graded),
        "canvas.csv": canvas(graded, people),
        "moodle.csv": moodle(graded, people),
        "junit.xml": junit.render(graded),
        "class.json": statistics.as_json(summary),
        "class.md": markdown.of_class(
            summary, PICTURE if drawn else "", drawn.alt if drawn else ""
        ),
    }
    for name, text in texts.items():
        files.write(out / name, text)
    for student, page in _pages(graded):
        files.write(out / FOLDER / student / "report.md", page)
    if drawn:
        files.write(out / PICTURE, drawn.png)
    return summary


def _picture(summary: Summary) -> Picture | None:
    """Return the picture of a class; None where there is nothing to draw, or no matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        return None
    from gpukit.classroom import picture

    return picture.draw(summary)


def _pages(graded: Graded) -> Iterable[tuple[str, str]]:
    """Yield the folder of each student who has a report, and the page that goes there."""
    for student in graded.students:
        if graded.by(student):
            yield graded.folders[student], markdown.of_student(graded, student)


def grades(graded: Graded) -> str:
    """Return a CSV file with a row per student and a column per exercise."""
    rows = (
        [s, *(graded.points(s, e) for e in graded.exercises), graded.total(s), graded.most]
        for s in graded.students
    )
    return _csv(["student", *graded.exercises, "total", "of"], rows)


def canvas(graded: Graded, roster: Roster | None = None) -> str:
    """Return a gradebook that Canvas imports, with the points of each exercise.

    Canvas finds students by ID, SIS ids or names, so that with a roster students who are not in it
    are left out. Without one, the folder's name is the name and the login.
    """
    heads = [roster.column(e) if roster else e for e in graded.exercises]
    possible: list[Cell] = ["    Points Possible", *[None] * 4, *map(graded.of, graded.exercises)]
    rows = (
        [*_identity(person, student), *(graded.points(student, e) for e in graded.exercises)]
        for student, person in _people(graded, roster).items()
    )
    return _csv([*CANVAS, *heads], [possible, *rows])


def _identity(person: Person, student: str) -> list[Cell]:
    # Canvas takes a row for the points of the assignments if its name contains these words.
    name = re.sub(r"Points(\s+)Possible", r"Points-Possible", escape.line(person.name or student))
    return [name, person.canvas, person.sis, person.login or person.id, person.section]


def moodle(graded: Graded, roster: Roster | None = None) -> str:
    """Return grades that Moodle imports: percentages, because its grades end at 100 by default.

    An import fails as a whole at an address that Moodle does not know: students without one are
    left out. Without any addresses it has user names; without a roster, the folders' names.
    """
    column = _moodle_column(_people(graded, roster))
    rows = ([n, _percent(graded, s), feedback(graded, s)] for s, n in column.names.items() if n)
    return _csv([column.head, "Grade", "Feedback comments"], rows)


class _Column(NamedTuple):
    """The column by which Moodle finds students: its header, and the cell of each, or ""."""

    head: str
    names: dict[str, str]
    missing: str  # why a cell is empty


def _moodle_column(people: dict[str, Person]) -> _Column:
    addresses = {student: person.email for student, person in people.items()}
    if any(addresses.values()):
        return _Column("Email address", addresses, "no email address")
    names = {student: person.login or person.id for student, person in people.items()}
    return _Column("Username", names, "no address or user name")


def _people(graded: Graded, roster: Roster | None) -> dict[str, Person]:
    """Return the students who are in the roster, or all if there is none."""
    if roster is None:
        return {student: Person(login=student) for student in graded.students}
    return roster.matched(graded.students).people


def _percent(graded: Graded, student: str) -> float | None:
    total, most = graded.total(student), graded.most
    return None if total is None or not most else round(100 * total / most, 2)


def feedback(graded: Graded, student: str) -> str:
    """Return what a student got for each exercise and why, on one line of HTML, as Moodle shows."""
    parts = [graded.total_text(student)]
    for exercise in graded.exercises:
        report = graded.reports.get((student, exercise))
        if report is None or report["points"] is None:
            parts.append(f"{exercise}: no grade yet.")
            continue
        cause = reports.cause(report) if report["status"] != "right" else ""
        said = ": ".join(filter(None, [reports.phrase(report["status"]), cause])).rstrip(".")
        parts.append(f"{exercise}: {report['points']} of {report['of']}, {said}.")
    return html.escape(escape.line(" ".join(parts)), quote=False)


def unmatched(graded: Graded, roster: Roster | None) -> list[Unresolved]:
    """Return the students whom Canvas or Moodle would not find, and why."""
    reasons = roster.matched(graded.students).reasons if roster else {}
    column = _moodle_column(_people(graded, roster))
    nameless = (student for student, name in column.names.items() if not name)
    return [
        *(Unresolved(s, "", f"{why}: not in canvas.csv, moodle.csv") for s, why in reasons.items()),
        *(Unresolved(s, "", f"{column.missing}: not in moodle.csv") for s in nameless),
    ]


def without_folder(graded: Graded, roster: Roster | None) -> list[str]:
    """Return the names of those in the roster whom no folder is named after."""
    alone = roster.matched(graded.students).without_folder if roster else []
    return [person.name or person.email or person.login or person.id for person in alone]


def _csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([escape.cell(value) for value in row] for row in (header, *rows))
    return text.getvalue()
