"""The reports of a class as JUnit XML: a test case per student and exercise."""

from __future__ import annotations

from gpukit.checked.report import junit
from gpukit.checked.report.junit import Case
from gpukit.classroom import escape
from gpukit.classroom.reports import Graded, Report, cause, phrase

# What a test case is that does not pass; all others are failures.
_OUTCOMES = {"right": "", "absent": junit.SKIPPED, "infra": junit.ERROR}


def render(graded: Graded) -> str:
    """Return the XML as text. What has no grade is an error, what was not handed in is skipped."""
    cases = [
        _case(student, exercise, report)
        for student in graded.students
        for exercise, report in graded.by(student).items()
    ]
    rights = sum(not case.outcome for case in cases)
    summary = f"{rights} of {len(cases)} answers are right."
    cases += [
        Case("reports", escape.line(file), junit.ERROR, "damaged", escape.line(why))
        for file, why in graded.damaged
    ]
    return junit.render("gpukit grade", cases, summary)


def _case(student: str, exercise: str, report: Report) -> Case:
    status = report["status"]
    of = "" if report["points"] is None else f"{report['points']} of {report['of']} points"
    case = Case(escape.line(student), exercise, _OUTCOMES.get(status, junit.FAILURE), output=of)
    if not case.outcome:
        return case
    message = cause(report) or phrase(status)
    return case._replace(kind=status, message=message, text=escape.plain(report["why"]))
