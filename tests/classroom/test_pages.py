"""JUnit XML and Markdown of a class."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import junit, markdown, schema, statistics
from gpukit.classroom.reports import Damaged
from gpukit.classroom.similarity import Group
from tests.classroom import classes
from tests.classroom.test_escape import HOSTILE, shown


def suite(graded):
    return ElementTree.fromstring(junit.render(graded).encode())


def test_junit_has_a_case_per_student_and_exercise():
    graded = classes.graded(*(classes.report(s, e) for s in "ab" for e in ("x", "y")))
    cases = [(case.get("classname"), case.get("name")) for case in suite(graded).iter("testcase")]
    assert cases == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert suite(graded).findtext("system-out") == "4 of 4 answers are right."


@pytest.mark.parametrize("status", schema.STATUSES)
def test_junit_has_an_outcome_for_every_status(status):
    (case,) = suite(classes.graded(classes.report(status=status))).iter("testcase")
    outcomes = {"right": [], "absent": ["skipped"], "infra": ["error"]}
    found = [element.tag for element in case if element.tag != "system-out"]
    assert found == outcomes.get(status, ["failure"])


def test_junit_counts_agree_with_the_cases():
    graded = classes.graded(
        *(classes.report(str(s), status=status) for s, status in enumerate(schema.STATUSES))
    )
    xml = suite(graded)
    counts = [xml.get(key) for key in ("tests", "failures", "errors", "skipped")]
    assert counts == [str(len(schema.STATUSES)), str(len(schema.STATUSES) - 3), "1", "1"]


def test_a_damaged_report_is_an_error_in_junit():
    graded = classes.graded(classes.report())
    damaged = graded.__class__(
        graded.students,
        graded.exercises,
        graded.reports,
        damaged=(Damaged("reports/b/x.json", "it is no JSON"),),
    )
    (error,) = suite(damaged).iter("error")
    assert error.get("message") == "it is no JSON"


@given(st.text(max_size=20), st.text(max_size=40), st.text(max_size=40))
def test_junit_is_well_formed_for_any_text(student, cause, why):
    suite(classes.graded(classes.report(student, status="wrong", cause=cause, why=why)))


def test_the_page_of_a_student_explains_each_answer_that_is_not_right():
    graded = classes.graded(
        classes.report("a", "x"),
        classes.report("a", "y", "but", 20, printed="hello"),
        classes.report("a", "z", "infra"),
    )
    page = markdown.of_student(graded, "a")
    assert page.startswith("# a\n\nNot all is graded yet.\n\n| exercise | points | result |")
    assert "| y | 10 of 20 | almost right |" in page
    assert "| z | - | no grade |" in page
    assert re.findall("^## (.*)", page, re.MULTILINE) == ["y: almost right", "z: no grade"]
    assert "Your file printed:\n\n```text\nhello\n```" in page


@pytest.mark.parametrize("text", HOSTILE)
def test_pages_show_what_students_wrote_as_it_is(text):
    rows = [{"name": text, "status": "wrong", "sizes": text}]
    more = {"why": text, "printed": text, "cause": text, "rows": rows}
    graded = classes.graded(classes.report(text, "zip_add", "wrong", **more))
    summary = statistics.summary(graded)
    for page in (markdown.of_student(graded, text), markdown.of_class(summary, "class.png", text)):
        tags = set(re.findall(r"<(\w+)", shown(page)))
        allowed = {"h1", "h2", "p", "pre", "code", "img"}
        assert tags <= {*allowed, "table", "thead", "tbody", "tr", "th", "td"}
        assert re.findall('src="([^"]*)"', shown(page)) in ([], ["class.png"])
        assert "\x1b" not in page


def test_the_page_of_a_class_has_the_picture_with_its_alt_text():
    page = markdown.of_class(statistics.summary(classes.graded(classes.report())), "p.png", "One.")
    assert "![One.](p.png)" in page


def test_the_page_of_a_class_says_which_answers_were_not_compared():
    groups = [Group("dot", ("a", "b"), 0.9), Group("relu", (), 0.0)]
    page = markdown.of_class(statistics.summary(classes.graded(classes.report()), groups), "", "")
    shown = re.sub(" +", " ", page)
    assert "| dot | 90% | a, b |" in shown
    assert "| relu | - | not compared: its model answer cannot be read |" in shown
