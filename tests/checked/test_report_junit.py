"""A report as JUnit XML, parsed back."""

from xml.etree import ElementTree

import pytest

from gpukit.checked.finding import KINDS
from gpukit.checked.report import Report, merge
from tests.checked.findings import finding, full, nasty, report


def suite(report):
    return ElementTree.fromstring(report.to_junit().encode())


def test_junit_has_a_case_for_each_kind_whatever_was_found():
    names = [case.get("name") for case in suite(report()).iter("testcase")]
    assert names == list(KINDS)


def test_junit_counts_agree_with_the_cases():
    report = suite(full())
    failures = list(report.iter("failure"))
    assert report.get("tests") == str(len(list(report.iter("testcase")))) == str(len(KINDS))
    assert report.get("failures") == str(len(failures)) == str(len(full().errors))
    assert (report.get("errors"), report.get("skipped")) == ("0", "0")


@pytest.mark.parametrize("kind", KINDS)
def test_junit_fails_only_for_errors(kind):
    one = finding(kind)
    (case,) = (c for c in suite(report(one)).iter("testcase") if c.get("name") == kind)
    assert case.get("classname") == f"gpukit.{KINDS[kind].tool}.sum_kernel"
    (instrumentation,) = case
    assert instrumentation.tag == ("failure" if one.severity == "error" else "system-out")
    assert one.message in " ".join(instrumentation.text.split())


def test_junit_failure_contains_the_message():
    (failure,) = suite(report(finding("shared-race"))).iter("failure")
    assert failure.get("message") == finding("shared-race").message
    assert failure.get("type") == "shared-race"


def test_junit_is_well_formed_for_any_text():
    report = suite(nasty())
    (failure,) = report.iter("failure")
    assert failure.get("message").startswith("<b>&\"'\ufffd[31m")


def test_junit_without_a_launch_has_no_cases():
    assert suite(Report([])).get("tests") == "0"


def test_junit_separates_kernels():
    other = report(kernel="scan_kernel")
    xml = suite(merge([report(finding("shared-race")), other]))
    failing = [case for case in xml.iter("testcase") if case.find("failure") is not None]
    assert [case.get("classname") for case in failing] == ["gpukit.racecheck.sum_kernel"]
    assert xml.get("tests") == str(2 * len(KINDS))


def test_junit_skips_a_case_whose_errors_are_all_known():
    known, other = finding("shared-race"), finding("global-race")
    xml = ElementTree.fromstring(report(known, other).to_junit([known]))
    assert [case.get("name") for case in xml if case.find("skipped") is not None] == ["shared-race"]
    assert (xml.get("failures"), xml.get("skipped")) == ("1", "1")
