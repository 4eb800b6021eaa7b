"""Statistics of a class, its text and its picture."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpukit.classroom import picture, statistics
from gpukit.classroom.similarity import Group
from tests.classroom import classes
from tests.classroom.classes import graded, report


def counted(student, bytes_, wavefronts=0, barriers=0, status="right"):
    counters = {"global_bytes": bytes_, "shared_wavefronts": wavefronts, "barriers": barriers}
    return report(student, status=status, counters=counters)


def test_outcomes_points_and_pass_rate_of_an_exercise():
    statuses = ["right", "right", "but", "wrong", "timeout", "absent", "untouched", "infra"]
    made = [report(str(k), status=status) for k, status in enumerate(statuses)]
    (exercise,) = statistics.summary(graded(*made))["exercises"]
    assert [*exercise["outcomes"].values()] == [2, 1, 2, 2, 1]
    assert exercise["points"] == {"0": 4, "5": 1, "10": 2}
    assert exercise["mean"] == round(25 / 7, 2)
    assert exercise["pass_rate"] == round(2 / 7, 4)


def test_a_missing_report_is_no_grade():
    summary = statistics.summary(graded(report("a", "x"), report("b", "y")))
    assert [one["outcomes"]["no grade"] for one in summary["exercises"]] == [1, 1]
    assert summary["totals"] == {"a": None, "b": None}


def test_mistakes_are_counted_by_student_and_named_in_words():
    made = [
        report("a", "x", "wrong", cause="global-race"),
        report("a", "y", "wrong", cause="global-race"),
        report("b", "y", "but", cause="Two  reads."),
        report("c", "y", "wrong", cause="Two reads."),
        report("d", "y", "right", cause="Two reads."),
        report("e", "y", "infra", cause="Two reads."),
    ]
    assert statistics.summary(graded(*made))["causes"] == [
        {"cause": "Two reads.", "students": 2, "exercises": ["y"]},
        {"cause": "data race in global memory", "students": 1, "exercises": ["x", "y"]},
    ]


def test_right_answers_are_ranked_by_bytes_then_wavefronts_then_barriers():
    made = [
        counted("e", 200),
        counted("d", 100, 1, 0),
        counted("c", 100, 0, 9),
        counted("b", 100, 0, 9),
        counted("a", 100, 0, 0),
        counted("wrong", 1, status="wrong"),
        counted("almost", 1, status="but"),
        report("uncounted"),
    ]
    (exercise,) = statistics.summary(graded(*made))["exercises"]
    places = [(one["place"], one["students"]) for one in exercise["ranking"]]
    assert places == [(1, ["a"]), (2, ["c", "b"]), (4, ["d"]), (5, ["e"])]


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=12))
def test_ranked_students_have_as_many_better_ones_as_their_place_says(numbers):
    made = [counted(str(k), *each) for k, each in enumerate(numbers)]
    for exercise in statistics.summary(graded(*made))["exercises"]:
        for one in exercise["ranking"]:
            for student in one["students"]:
                better = sum(other < numbers[int(student)] for other in numbers)
                assert one["place"] == better + 1


@pytest.mark.parametrize("students", [0, 1, 2, 30])
@pytest.mark.parametrize("exercises", [1, 15])
def test_text_fits_80_columns(students, exercises):
    summary = statistics.summary(graded(*classes.simulated(students, exercises)))
    assert max(map(len, statistics.as_text(summary).splitlines())) <= 80


def test_text_fits_80_columns_with_long_names_and_similar_answers():
    students, exercise = ["x" * 300, "ü" * 300], "detective_" * 9
    made = [report(s, exercise, "wrong", cause="word " * 60) for s in students]
    made += [counted(s, 10**15 + k) for k, s in enumerate(students)]
    groups = [Group(exercise, tuple(students), 0.93)]
    text = statistics.as_text(statistics.summary(graded(*made), groups))
    assert max(map(len, text.splitlines())) <= 80
    assert "Similar answers" in text


def test_a_class_without_students_says_so():
    assert statistics.as_text(statistics.summary(graded())) == "Class\n0 students, 0 exercises."


def test_long_lists_name_how_many_are_left_out():
    made = [counted(f"s{k:02}", 100) for k in range(20)] + [counted("t", 200)]
    text = statistics.as_text(statistics.summary(graded(*made)))
    assert "s00, s01, s02, s03, s04, and 15 more" in " ".join(text.split())


@pytest.mark.parametrize(("students", "exercises"), [(1, 1), (3, 2), (30, 8), (300, 15)])
def test_a_class_of_any_size_has_a_picture(students, exercises):
    drawn = picture.draw(statistics.summary(graded(*classes.simulated(students, exercises))))
    assert drawn.png[:8] == b"\x89PNG\r\n\x1a\n"
    assert drawn.alt.startswith(f"A class of {students} student")


def test_a_class_without_reports_has_no_picture():
    assert picture.draw(statistics.summary(graded())) is None


@pytest.mark.parametrize(
    "text", ["$x^2$ and $", "🙂 数 \x1b[31m", "x" * 300, "_".join("ab") * 99, "\\frac{", " "]
)
def test_any_text_can_be_drawn(text):
    made = [report(s, text, "wrong", cause=text) for s in "ab"]
    made += [report(s, text + "2", counters=counted(s, 8)["counters"]) for s in "ab"]
    drawn = picture.draw(statistics.summary(graded(*made)))
    assert drawn.png


def test_points_and_counters_of_any_size_can_be_drawn():
    made = [
        report("a", of=1_000_000),
        report("b", "x", of=0),
        counted("c", 2**63 - 1),
        counted("d", 1),
    ]
    assert picture.draw(statistics.summary(graded(*made))).png


@settings(max_examples=10)
@given(st.lists(st.sampled_from(classes.STATUSES), max_size=4))
def test_a_class_of_any_outcomes_can_be_drawn(statuses):
    made = [report(str(k), status=status) for k, status in enumerate(statuses)]
    summary = statistics.summary(graded(*made))
    assert (picture.draw(summary) is None) == (not made)
    statistics.as_json(summary)


def test_only_the_most_frequent_mistakes_and_the_first_needs_are_listed():
    made = [report(f"s{k}", status="wrong", cause=f"Mistake {k}.") for k in range(25)]
    made += [report(f"t{k}", status="infra") for k in range(50)]
    text = " ".join(statistics.as_text(statistics.summary(graded(*made))).split())
    assert "The 20 most frequent of 25." in text
    assert "40 of 50 are listed, class.json has all." in text


def test_without_a_width_no_line_is_wrapped_and_rankings_can_be_left_out():
    summary = statistics.summary(graded(*classes.simulated(9, 3)))
    text = statistics.as_text(summary, None, rankings=False)
    assert "by counters" not in text
    assert any(len(line) > 80 for line in text.splitlines())


def test_the_alt_text_names_pass_rates_and_the_most_frequent_mistake():
    made = [report("a"), report("b", status="wrong", cause="global-race")]
    words = picture.in_words(statistics.summary(graded(*made)))
    assert words == (
        "A class of 2 students, 1 exercise: median 5, from 0 to 10 of 10 points. Right answers: "
        "zip_add 50%. The most frequent mistake, of 1 student: data race in global memory"
    )
    assert not re.search("  ", words)
