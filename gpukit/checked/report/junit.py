"""JUnit XML, which continuous integration shows: one suite of test cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from gpukit.checked.report.content import clean

FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"


class Case(NamedTuple):
    """A test case: it passed if `outcome` is empty.

    `kind`, `message` and `text` say more about the outcome, `output` about the case.
    """

    group: str
    name: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""
    output: str = ""


def render(name: str, cases: Sequence[Case], output: str, seconds: float = 0.0) -> str:
    """Return the XML of a suite as text, declaration included."""
    suite = ElementTree.Element("testsuite", name=clean(name), tests=str(len(cases)))
    for key, outcome in (("failures", FAILURE), ("errors", ERROR), ("skipped", SKIPPED)):
        suite.set(key, str(sum(case.outcome == outcome for case in cases)))
    suite.set("time", f"{seconds:.3f}")
    suite.extend(map(_element, cases))
    ElementTree.SubElement(suite, "system-out").text = clean(output)
    ElementTree.indent(suite)
    declared = '<?xml version="1.0" encoding="utf-8"?>\n'
    return declared + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _element(case: Case) -> ElementTree.Element:
    names = {"classname": clean(case.group), "name": clean(case.name)}
    element = ElementTree.Element("testcase", names, time="0.000")
    if case.outcome:
        said = {"type": clean(case.kind), "message": clean(case.message)}
        why = ElementTree.SubElement(element, case.outcome, said)
        why.text = clean(case.text) or None
    if case.output:
        ElementTree.SubElement(element, "system-out").text = clean(case.output)
    return element
