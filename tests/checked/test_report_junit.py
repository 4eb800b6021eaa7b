"""A report as JUnit XML: parsed back, it says what the report says."""

from xml.etree import ElementTree

import pytest

from gpukit.checked.finding import KINDS
from gpukit.checked.report import Report, merge
from tests.checked.findings import finding, full, nasty, report


def suite(made):
    return ElementTree.fromstring(made.to_junit().encode())


def test_junit_has_a_case_for_each_kind_whatever_was_found():
    names = [case.get("name") for case in suite(report()).iter("testcase")]
    assert names == list(KINDS)


def test_junit_counts_agree_with_the_cases():
    made = suite(full())
    failures = list(made.iter("failure"))
    assert made.get("tests") == str(len(list(made.iter("testcase")))) == str(len(KINDS))
    assert made.get("failures") == str(len(failures)) == str(len(full().errors))
    assert (made.get("errors"), made.get("skipped")) == ("0", "0")


@pytest.mark.parametrize("kind", KINDS)
def test_junit_fails_for_errors_and_only_tells_the_rest(kind):
    one = finding(kind)
    (case,) = (c for c in suite(report(one)).iter("testcase") if c.get("name") == kind)
    assert case.get("classname") == f"gpukit.{KINDS[kind].tool}.sum_kernel"
    (instrumentation,) = case
    assert instrumentation.tag == ("failure" if one.severity == "error" else "system-out")
    assert one.message in " ".join(instrumentation.text.split())


def test_junit_names_the_sentence_in_the_failure():
    (failure,) = suite(report(finding("shared-race"))).iter("failure")
    assert failure.get("message") == finding("shared-race").message
    assert failure.get("type") == "shared-race"


def test_junit_is_well_formed_whatever_the_texts_hold():
    made = suite(nasty())
    (failure,) = made.iter("failure")
    assert failure.get("message").startswith("<b>&\"'\ufffd[31m")


def test_junit_without_a_launch_has_no_cases():
    assert suite(Report([])).get("tests") == "0"


def test_junit_keeps_kernels_apart():
    other = report(kernel="scan_kernel")
    made = suite(merge([report(finding("shared-race")), other]))
    failing = [case for case in made.iter("testcase") if case.find("failure") is not None]
    assert [case.get("classname") for case in failing] == ["gpukit.racecheck.sum_kernel"]
    assert made.get("tests") == str(2 * len(KINDS))
