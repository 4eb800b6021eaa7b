"""A report as JUnit XML, which continuous integration shows.

One suite with one test case per kernel and kind of finding: the names are the
same from run to run. Errors fail their case; warnings, information and known errors are its output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from gpukit.checked.finding import ERROR, KINDS, Finding
from gpukit.checked.report import as_text, content
from gpukit.checked.report.merging import Launch

if TYPE_CHECKING:
    from gpukit.checked.report import Report


def render(report: Report, known: Sequence[Finding] = ()) -> str:
    """Return the XML as text, declaration included; `known` findings do not fail their case."""
    kernels = _kernels(report)
    suite = ElementTree.Element("testsuite", name="gpukit check")
    cases = [_case(report, kernel, kind, known) for kernel in kernels for kind in KINDS]
    for key in ("tests", "failures", "errors"):
        suite.set(key, "0")
    for key, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    unfinished = [_unfinished(launch) for launch in report.launched if launch.stopped]
    suite.set("tests", str(len(cases) + len(unfinished)))
    suite.set("errors", str(len(unfinished)))
    suite.set("time", f"{report.seconds:.3f}")
    suite.extend([*cases, *unfinished])
    summary = [content.summary(report), *report.notes]
    ElementTree.SubElement(suite, "system-out").text = content.clean("\n".join(summary))
    ElementTree.indent(suite)
    declared = '<?xml version="1.0" encoding="utf-8"?>\n'
    return declared + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _kernels(report: Report) -> list[str]:
    """Return the kernels launched, then other functions that findings are in."""
    launched = [launch.kernel for launch in report.launched]
    return list(dict.fromkeys(launched + [finding.kernel for finding in report.findings]))


def _case(report: Report, kernel: str, kind: str, known: Sequence[Finding]) -> ElementTree.Element:
    mine = [each for each in report.findings if (each.kernel, each.kind) == (kernel, kind)]
    group = content.clean(f"gpukit.{KINDS[kind].tool}.{kernel or 'launch'}")
    case = ElementTree.Element("testcase", classname=group, name=kind, time="0.000")
    failing = [each for each in mine if each.severity == ERROR and each not in known]
    if failing:
        first = content.clean(failing[0].message)
        failure = ElementTree.SubElement(case, "failure", type=kind, message=first)
        failure.text = _text(failing)
    elif any(each.severity == ERROR for each in mine):
        ElementTree.SubElement(case, "skipped", type=kind, message="known: in the baseline")
    others = [each for each in mine if each not in failing]
    if others:
        ElementTree.SubElement(case, "system-out").text = _text(others)
    return case


def _unfinished(launch: Launch) -> ElementTree.Element:
    """Return the test case of a launch that did not run to completion, which is an error."""
    group = content.clean(f"gpukit.launch.{launch.kernel}")
    case = ElementTree.Element("testcase", classname=group, name="unfinished", time="0.000")
    blocks = math.prod(launch.grid) * launch.launches
    message = f"stopped by {launch.stopped} after {launch.blocks_run:,} of {blocks:,} blocks"
    ElementTree.SubElement(case, "error", type="unfinished", message=content.clean(message))
    return case


def _text(findings: Sequence[Finding]) -> str:
    return "\n\n".join(as_text.finding_text(finding) for finding in findings)
