"""Reading the reports of a run: a damaged one gives nobody a zero."""

import json

import pytest

from gpukit.classroom import reports
from tests.classroom import classes

A, B = "alice", "bob"


def test_reports_are_found_by_student_and_exercise(tmp_path):
    made = [classes.report(A, "zip_add"), classes.report(B, "dot", "wrong", of=20)]
    graded = reports.read(classes.write(tmp_path, made))
    assert (graded.students, graded.exercises) == ((A, B), ("dot", "zip_add"))
    assert graded.points(A, "zip_add") == 10
    assert graded.points(B, "dot") == 0
    assert graded.of("dot") == 20
    assert graded.most == 30


def test_exercises_are_in_the_order_of_the_run(tmp_path):
    made = [classes.report(exercise=name) for name in ("a", "b", "c")]
    classes.write(tmp_path, made)
    (tmp_path / "run.json").write_text('{"exercises": ["c", "a"]}')
    assert reports.read(tmp_path).exercises == ("c", "a", "b")


def test_reports_of_students_and_exercises_that_a_run_does_not_name_are_left_out(tmp_path):
    pairs = [("ann", "zip_add"), ("ann", "relu"), ("old", "zip_add")]
    classes.write(tmp_path, [classes.report(*pair) for pair in pairs])
    run = {"students": ["ann", "bob"], "exercises": ["zip_add"]}
    (tmp_path / "run.json").write_text(json.dumps(run))
    assert list(reports.read(tmp_path).reports) == [("ann", "zip_add")]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"exercises": 1}', "\xff"])
def test_a_damaged_file_of_the_run_does_not_matter(tmp_path, text):
    classes.write(tmp_path, [classes.report()])
    (tmp_path / "run.json").write_text(text, encoding="latin-1")
    assert reports.read(tmp_path).exercises == ("zip_add",)


def test_a_folder_without_reports_is_an_empty_class(tmp_path):
    assert reports.read(tmp_path / "none").students == ()


DAMAGED = {
    "empty": b"",
    "half": json.dumps(classes.report()).encode()[:-40],
    "not text": b"\xff\xfe\x00",
    "another thing": b"[1, 2]",
    "not a number of JSON": b'{"points": NaN}',
    "deeply nested": b"[" * 100_000,
    "a huge number": b'{"points": ' + b"9" * 5000 + b"}",
    "points above the most": json.dumps(classes.report(points=11)).encode(),
    "another version": json.dumps(classes.report(version=2)).encode(),
    "no grade without a reason": json.dumps(classes.report(points=None)).encode(),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_report_is_named_and_gives_no_grade(tmp_path, content):
    classes.write(tmp_path, [classes.report(A, "dot"), classes.report(B)])
    (tmp_path / "reports" / A / "zip_add.json").write_bytes(content)
    graded = reports.read(tmp_path)
    ((file, why),) = graded.damaged
    assert file == "reports/alice/zip_add.json"
    assert why
    assert graded.points(A, "zip_add") is None
    assert graded.total(A) is None
    assert (A, "zip_add", "there is no readable report") in graded.unresolved


def test_a_student_whose_only_report_is_damaged_is_still_in_the_class(tmp_path):
    classes.write(tmp_path, [classes.report(A), classes.report(B)])
    (tmp_path / "reports" / B / "zip_add.json").write_text("{")
    graded = reports.read(tmp_path)
    assert graded.students == (A, B)
    assert graded.total(B) is None


def test_a_second_report_of_a_student_to_an_exercise_is_named(tmp_path):
    classes.write(tmp_path, [classes.report(A)])
    (tmp_path / "reports" / A / "zzz.json").write_text(
        json.dumps(classes.report(A, status="wrong"))
    )
    graded = reports.read(tmp_path)
    assert graded.points(A, "zip_add") == 10
    assert [one.why for one in graded.damaged] == ["a second report of 'alice' to 'zip_add'"]


def test_a_failure_of_the_grader_is_no_grade_and_needs_a_person():
    graded = classes.graded(classes.report(A, status="infra", why="The disk is full."))
    assert graded.total(A) is None
    assert graded.unresolved == [(A, "zip_add", "The disk is full.")]


def test_a_folder_instead_of_a_report_is_named(tmp_path):
    (tmp_path / "reports" / A / "zip_add.json").mkdir(parents=True)
    assert reports.read(tmp_path).damaged[0].why.startswith("it cannot be read: ")


def test_the_total_is_the_sum_of_the_points():
    made = [classes.report(A, "x", "but", 15), classes.report(A, "y", of=4)]
    assert classes.graded(*made).total(A) == 11
