"""A report as JUnit XML, which continuous integration shows.

One suite with one test case per kernel and kind of finding: the names are the
same from run to run. Errors fail their case; warnings, information and known errors are its output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpukit.checked.finding import ERROR, KINDS, Finding
from gpukit.checked.report import as_text, content, junit
from gpukit.checked.report.junit import Case
from gpukit.checked.report.merging import Launch

if TYPE_CHECKING:
    from gpukit.checked.report import Report


def render(report: Report, known: Sequence[Finding] = ()) -> str:
    """Return the XML as text, declaration included; `known` findings do not fail their case."""
    cases = [_case(report, kernel, kind, known) for kernel in _kernels(report) for kind in KINDS]
    cases += [_unfinished(launch) for launch in report.launched if launch.stopped]
    summary = "\n".join([content.summary(report), *report.notes])
    return junit.render("gpukit check", cases, summary, report.seconds)


def _kernels(report: Report) -> list[str]:
    """Return the kernels launched, then other functions that findings are in."""
    launched = [launch.kernel for launch in report.launched]
    return list(dict.fromkeys(launched + [finding.kernel for finding in report.findings]))


def _case(report: Report, kernel: str, kind: str, known: Sequence[Finding]) -> Case:
    mine = [each for each in report.findings if (each.kernel, each.kind) == (kernel, kind)]
    failing = [each for each in mine if each.severity == ERROR and each not in known]
    case = Case(
        f"gpukit.{KINDS[kind].tool}.{kernel or 'launch'}",
        kind,
        output=_text([each for each in mine if each not in failing]),
    )
    if failing:
        said = {"kind": kind, "message": failing[0].message, "text": _text(failing)}
        return case._replace(outcome=junit.FAILURE, **said)
    if any(each.severity == ERROR for each in mine):
        return case._replace(outcome=junit.SKIPPED, kind=kind, message="known: in the baseline")
    return case


def _unfinished(launch: Launch) -> Case:
    """Return the test case of a launch that did not run to completion, which is an error."""
    blocks = math.prod(launch.grid) * launch.launches
    message = f"stopped by {launch.stopped} after {launch.blocks_run:,} of {blocks:,} blocks"
    group = f"gpukit.launch.{launch.kernel}"
    return Case(group, "unfinished", junit.ERROR, "unfinished", message)


def _text(findings: Sequence[Finding]) -> str:
    return "\n\n".join(as_text.finding_text(finding) for finding in findings)
