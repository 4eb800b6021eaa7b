"""Pages in Markdown: a report per student, and one of the class."""

from __future__ import annotations

from collections.abc import Sequence

from gpukit.classroom import statistics
from gpukit.classroom.escape import block, markdown
from gpukit.classroom.reports import Graded, Report, phrase
from gpukit.classroom.statistics import Section, Summary


def of_student(graded: Graded, student: str) -> str:
    """Return the page that a student reads: points, and for each exercise what to do."""
    reports = graded.by(student)
    rows = [[name, _points(report), phrase(report["status"])] for name, report in reports.items()]
    table = _table(["exercise", "points", "result"], rows, [1])
    parts = [f"# {markdown(student, 80)}", graded.total_text(student), table]
    for name, report in reports.items():
        parts += _explained(name, report)
    return "\n\n".join(parts) + "\n"


def _points(report: Report) -> str:
    return "-" if report["points"] is None else f"{report['points']} of {report['of']}"


def _explained(name: str, report: Report) -> list[str]:
    """Return the section of an exercise; none for an answer of which there is nothing to say."""
    rows = [[row["name"], phrase(row["status"]), row["sizes"]] for row in report["rows"]]
    parts = []
    if report["why"].strip():
        parts.append(block(report["why"]))
    if report["status"] != "right" and rows:
        parts.append(_table(["tried", "result", "with"], rows))
    if report["printed"].strip():
        parts += ["Your file printed:", block(report["printed"])]
    return [f"## {markdown(name, 80)}: {phrase(report['status'])}", *parts] if parts else []


def of_class(summary: Summary, picture: str, alt: str) -> str:
    """Return the page of a class, with a picture if there is one."""
    first, *others = statistics.sections(summary)
    shown = [f"![{markdown(alt)}]({picture})"] if picture else []
    parts = [*_section(first, "#"), *shown, *(p for one in others for p in _section(one, "##"))]
    return "\n\n".join(parts) + "\n"


def _section(section: Section, level: str) -> list[str]:
    table = _table(section.headers, section.rows, section.right) if section.rows else ""
    return list(filter(None, [f"{level} {markdown(section.title)}", markdown(section.text), table]))


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return a table whose columns `right` are right-aligned."""
    rule = ["--:" if column in right else "---" for column in range(len(headers))]
    body = [[markdown(cell, 400) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(headers), rule, *body])
