"""What a class can do: points, pass rates, mistakes, and who needs the fewest accesses.

`summary` computes it from the reports, as JSON would hold it (class.json); everything else shows a
summary.
"""

from __future__ import annotations

import json
import statistics as of_numbers
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

from gpukit.checked.messages.phrases import some
from gpukit.classroom import escape
from gpukit.classroom.reports import Graded, Report, cause, phrase
from gpukit.classroom.schema import COUNTERS
from gpukit.classroom.similarity import SHARED, SIMILARITY, WINDOW, Group
from gpukit.table import broken, layout

VERSION = 1
RIGHT, ALMOST, WRONG = "right", "almost right", "wrong"
NOTHING, NO_GRADE = "not handed in", "no grade"
OUTCOMES = (RIGHT, ALMOST, WRONG, NOTHING, NO_GRADE)
_OUTCOME = {
    "right": RIGHT,
    "but": ALMOST,
    "absent": NOTHING,
    "untouched": NOTHING,
    "infra": NO_GRADE,
}
_HEADS = {"global_bytes": "bytes", "shared_wavefronts": "wavefronts", "barriers": "barriers"}
_PLACES = 5  # shown of a ranking, and names per place; class.json has all
_NAME = 40  # characters shown of a name
_MISTAKES = 20
# Statuses that are a cause themselves, where a report names none.
_TELLING = {"rejected", "syntax", "timeout", "died", "missing", "protocol", "error"}
_NEEDS = 40

Summary = dict[str, Any]


class Section(NamedTuple):
    """A heading, a text, and a table whose columns `right` hold numbers; both may be missing."""

    title: str
    text: str = ""
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    right: Sequence[int] = ()


def summary(graded: Graded, similar: Iterable[Group] = ()) -> Summary:
    """Return the statistics of a class: strings, numbers, lists and dicts."""
    return {
        "schema": "gpukit-class",
        "version": VERSION,
        "of": graded.most,
        "totals": {student: graded.total(student) for student in graded.students},
        "exercises": [_exercise(graded, exercise) for exercise in graded.exercises],
        "causes": _causes(graded),
        "similar": [asdict(group) for group in similar],
        "needs_a_person": [one._asdict() for one in graded.unresolved],
        "damaged": [one._asdict() for one in graded.damaged],
        "without_folder": [],  # of a roster
    }


def as_json(summary: Summary) -> str:
    """Return a summary as JSON."""
    return json.dumps(summary, indent=2) + "\n"


def _exercise(graded: Graded, exercise: str) -> Summary:
    reports = graded.to(exercise)
    outcomes = Counter(_OUTCOME.get(r["status"], WRONG) for r in reports.values())
    outcomes[NO_GRADE] += len(graded.students) - len(reports)
    points = Counter(int(r["points"]) for r in reports.values() if r["points"] is not None)
    grades = points.total()
    return {
        "exercise": exercise,
        "of": graded.of(exercise),
        "outcomes": {name: outcomes[name] for name in OUTCOMES},
        "points": {str(number): points[number] for number in sorted(points)},
        "mean": round(sum(n * k for n, k in points.items()) / grades, 2) if grades else None,
        "pass_rate": round(outcomes[RIGHT] / grades, 4) if grades else None,
        "ranking": _ranking(reports),
    }


def _causes(graded: Graded) -> list[Summary]:
    """Return what explains answers that are not right, the most frequent first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for (student, exercise), report in sorted(graded.reports.items()):
        said = cause(report) or (phrase(report["status"]) if report["status"] in _TELLING else "")
        if report["status"] not in ("right", "infra") and said:
            found.setdefault(said, []).append((student, exercise))
    causes = (
        {
            "cause": name,
            "students": len({student for student, _ in where}),
            "exercises": [e for e in graded.exercises if e in {exercise for _, exercise in where}],
        }
        for name, where in found.items()
    )
    return sorted(causes, key=lambda one: (-one["students"], one["cause"]))


def _ranking(reports: dict[str, Report]) -> list[Summary]:
    """Rank right answers by their counters, in the order of `COUNTERS`; equal ones share a place.

    The counters do not depend on the machine.
    """
    counted = [
        (tuple(int(report["counters"][name]) for name in COUNTERS), student)
        for student, report in reports.items()
        if report["status"] == "right" and COUNTERS.keys() <= report["counters"].keys()
    ]
    ranking, place = [], 1
    for numbers, group in groupby(sorted(counted, key=lambda one: one[0]), lambda one: one[0]):
        students = [student for _, student in group]
        ranking.append(
            {"place": place, **dict(zip(COUNTERS, numbers, strict=True)), "students": students}
        )
        place += len(students)
    return ranking


# ---- what is shown ---------------------------------------------------------------------------


def as_text(summary: Summary, width: int | None = 80, rankings: bool = True) -> str:
    """Return a summary as text, wrapped to a width if there is one."""
    shown = sections(summary, rankings)
    return "\n\n".join(_section_text(section, width) for section in shown)


def _section_text(section: Section, width: int | None) -> str:
    said = broken(section.text, width) if width else [section.text]
    lines = [section.title, *(said if section.text else [])]
    if section.rows:
        heads, rows = layout(section.headers, section.rows, section.right, width)
        lines += [*heads, *(line for row in rows for line in row)]
    return "\n".join(lines)


def sections(summary: Summary, rankings: bool = True) -> list[Section]:
    """Return what a summary says, section by section; without those that would be empty."""
    found = [
        Section("Class", headline(summary)),
        _needs(summary),
        _without_folder(summary),
        _points(summary),
        _mistakes(summary),
        _similar(summary),
        *(map(_places, summary["exercises"]) if rankings else ()),
    ]
    return [section for section in found if section.text or section.rows]


def headline(summary: Summary) -> str:
    """Say how many students and exercises there are, and how many points were reached."""
    totals = [total for total in summary["totals"].values() if total is not None]
    students, exercises = len(summary["totals"]), len(summary["exercises"])
    size = f"{some(students, 'student')}, {some(exercises, 'exercise')}"
    if not totals:
        return f"{size}."
    if len(totals) == 1:
        return f"{size}: {totals[0]} of {summary['of']} points."
    middle = f"{of_numbers.median(totals):.10g}"
    spread = f"median {middle}, from {min(totals)} to {max(totals)}"
    return f"{size}: {spread} of {summary['of']} points."


def _needs(summary: Summary) -> Section:
    rows = [
        [_name(one["student"]), _name(one["exercise"]) or "-", escape.line(one["why"], 120)]
        for one in summary["needs_a_person"]
    ]
    rows += [[_name(one["file"]), "-", escape.line(one["why"], 120)] for one in summary["damaged"]]
    said = "An empty cell in the gradebooks is no zero." if rows else ""
    if len(rows) > _NEEDS:
        said += f" {_NEEDS} of {len(rows)} are listed, class.json has all."
    return Section("Needs a person", said, ["student", "exercise", "why"], rows[:_NEEDS])


def _without_folder(summary: Summary) -> Section:
    names = summary["without_folder"]
    return Section("In the roster, without a folder", _few(names, most=_NEEDS))


def _points(summary: Summary) -> Section:
    rows = [
        [
            _name(one["exercise"]),
            *(str(count or "-") for count in one["outcomes"].values()),
            "-" if one["pass_rate"] is None else f"{one['pass_rate']:.0%}",
            "-" if one["mean"] is None else f"{one['mean']:.1f} of {one['of']}",
        ]
        for one in summary["exercises"]
    ]
    said = "The pass rate counts right answers among all that have a grade." if rows else ""
    heads = ["exercise", *OUTCOMES, "pass rate", "mean"]
    return Section("Exercises", said, heads, rows, range(1, len(heads)))


def _mistakes(summary: Summary) -> Section:
    causes = summary["causes"]
    rows = [
        [escape.line(one["cause"], 160), str(one["students"]), _few(one["exercises"], most=4)]
        for one in causes[:_MISTAKES]
    ]
    more = len(causes) - _MISTAKES
    said = f"The {_MISTAKES} most frequent of {len(causes)}." if more > 0 else ""
    return Section("Most frequent mistakes", said, ["mistake", "students", "exercises"], rows, [1])


def _places(exercise: Summary) -> Section:
    """Return the ranking of an exercise, unless all its right answers share the first place."""
    ranking = exercise["ranking"]
    if len(ranking) < 2:
        return Section("")
    rows = [
        [str(one["place"]), *(f"{one[name]:,}" for name in COUNTERS), _few(one["students"])]
        for one in ranking[:_PLACES]
    ]
    more = sum(len(one["students"]) for one in ranking[_PLACES:])
    said = f"The first places; {some(more, 'more answer')} in class.json." if more else ""
    heads = ["place", *_HEADS.values(), "students"]
    title = f"Right answers by counters: {_name(exercise['exercise'])}"
    return Section(title, said, heads, rows, [0, 1, 2, 3])


def _similar(summary: Summary) -> Section:
    rows = [
        [_name(one["exercise"]), f"{one['similarity']:.0%}", _few(one["students"], most=12)]
        if one["students"]
        else [_name(one["exercise"]), "-", "not compared: its model answer cannot be read"]
        for one in summary["similar"]
    ]
    return Section(
        "Similar answers", SIMILAR if rows else "", ["exercise", "same", "students"], rows, [1]
    )


SIMILAR = (
    "The code of these answers is the same, or nearly so, up to names, comments and formatting. "
    f"Listed are answers that share at least {SHARED} sequences of {WINDOW} tokens that neither "
    "the starter, the model answer, a known mistake nor the lesson contains, and that are at least "
    f"{SIMILARITY:.0%} of all such sequences in them. None of 288 pairs of answers that were "
    "written independently of each other did, although 15 pairs were equal byte by byte: short "
    "answers are often equal, and are not listed. A group is a reason to talk to the students, not "
    "a proof: they may share a source, such as a lecture."
)


def _few(students: Sequence[str], most: int = _PLACES) -> str:
    names = [_name(student) for student in students[:most]]
    more = len(students) - most
    return ", ".join([*names, f"and {more} more"] if more > 0 else names)


def _name(name: str) -> str:
    return escape.name(name, _NAME)
