"""Gradebooks, read again as Canvas and Moodle read them."""

import csv
import io
import json
import os
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import gradebook, reports, roster
from gpukit.classroom.roster import Person, Roster
from tests.classroom import classes
from tests.classroom.test_roster import CANVAS

A, B = "alice", "bob"
PEOPLE = (
    Person("Adams, Alice", "alice@uni.example", "GPU-1", "101", "S1", A),
    Person("Brown, Bob", "bob@uni.example", "GPU-2", "102", "S2", B),
)


def rows(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def class_of_two():
    return classes.graded(
        classes.report(A, "zip_add"),
        classes.report(A, "dot", "but", 25, cause="reads of x: 2, required: at most 1."),
        classes.report(B, "zip_add", "wrong", cause="global-race"),
        classes.report(B, "dot", "infra", 25),
    )


def test_a_row_of_grades_has_points_and_their_total():
    assert rows(gradebook.grades(class_of_two())) == [
        ["student", "zip_add", "dot", "total", "of"],
        ["alice", "10", "12", "22", "35"],
        ["bob", "0", "", "", "35"],
    ]


def test_canvas_gets_ids_and_the_points_possible():
    assert rows(gradebook.canvas(class_of_two(), Roster(PEOPLE))) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "zip_add", "dot"],
        ["    Points Possible", "", "", "", "", "10", "25"],
        ["Adams, Alice", "101", "S1", "alice", "GPU-1", "10", "12"],
        ["Brown, Bob", "102", "S2", "bob", "GPU-2", "0", ""],
    ]


def test_without_a_roster_the_folder_is_the_login():
    assert rows(gradebook.canvas(class_of_two()))[2][:5] == [A, "", "", A, ""]
    assert rows(gradebook.moodle(class_of_two()))[0][0] == "Username"
    assert rows(gradebook.moodle(class_of_two()))[1][0] == A


def test_moodle_gets_addresses_percentages_and_a_line_of_feedback():
    head, first, second = rows(gradebook.moodle(class_of_two(), Roster(PEOPLE)))
    assert head == ["Email address", "Grade", "Feedback comments"]
    assert first == [
        "alice@uni.example",
        "62.86",
        "22 of 35 points. zip_add: 10 of 10, right. dot: 12 of 25, almost right: reads of x: 2, "
        "required: at most 1.",
    ]
    assert second == [
        "bob@uni.example",
        "",
        "Not all is graded yet. zip_add: 0 of 10, wrong: data race in global memory. "
        "dot: no grade yet.",
    ]


def test_a_percentage_is_at_most_100_which_is_all_that_moodle_takes():
    graded = classes.graded(*(classes.report(A, f"e{k}", of=97) for k in range(9)))
    assert rows(gradebook.moodle(graded))[1][1] == "100"


def test_feedback_is_html_in_which_nothing_is_a_tag():
    graded = classes.graded(classes.report(A, status="wrong", cause="<script>x</script> a < b & c"))
    feedback = rows(gradebook.moodle(graded))[1][2]
    assert "&lt;script&gt;x&lt;/script&gt; a &lt; b &amp; c" in feedback


def test_a_gradebook_of_canvas_comes_back_with_its_own_columns(tmp_path):
    file = tmp_path / "gradebook.csv"
    file.write_text(CANVAS, encoding="utf-8", newline="")
    graded = classes.graded(
        *(classes.report(s, e) for s in (A, B, "eve") for e in ("zip_add", "dot", "relu"))
    )
    text = gradebook.canvas(graded, roster.read(file))
    assert rows(text)[0][5:] == ["zip_add (4711)", "Dot (12)", "relu"]
    (tmp_path / "again.csv").write_text(text, encoding="utf-8", newline="")
    again, first = roster.read(tmp_path / "again.csv").people, roster.read(file).people
    assert again == first[:3]  # nobody but a class of three handed in
    assert gradebook.canvas(graded, roster.read(tmp_path / "again.csv")) == text


def test_grades_come_back_from_every_gradebook(tmp_path):
    graded = reports.read(classes.write(tmp_path, classes.simulated(12, 5)))
    want = [[graded.points(s, e) for e in graded.exercises] for s in graded.students]
    for text, skip, first in ((gradebook.grades(graded), 1, 1), (gradebook.canvas(graded), 2, 5)):
        got = [row[first : first + 5] for row in rows(text)[skip:]]
        assert [[int(cell) if cell else None for cell in row] for row in got] == want


def canvas_reads(text):
    """Return what Canvas makes of a file: students by id, login or name, and their points."""
    head, *others = rows(text)
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert (head[2:5]) == ["SIS User ID", "SIS Login ID", "Section"]
    possible = [row for row in others if "Points Possible" in row[0]]
    assert len(possible) == 1
    return {(row[0], row[1], row[3]): row[5:] for row in others if row not in possible}


STUDENTS = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["../x", "=cmd()", "🙂", "x" * 300, "a\x00b\x1b[31m", "Points Possible", "    Points Possible"]
)


@given(st.lists(STUDENTS, min_size=1, max_size=5, unique=True))
def test_canvas_reads_a_row_per_student_whatever_the_names(students):
    graded = classes.graded(*(classes.report(student) for student in students))
    read = canvas_reads(gradebook.canvas(graded))
    assert [*read.values()].count(["10"]) == len(read) >= len({*map(str.strip, students)}) - 1


@pytest.mark.parametrize("student", ["../x", "=cmd()", "🙂", "x" * 300, "a\tb", "-1-1", "@x"])
@pytest.mark.parametrize("render", [gradebook.grades, gradebook.canvas, gradebook.moodle])
def test_ids_are_whole_and_no_formulas(student, render):
    row = rows(render(classes.graded(classes.report(student))))[-1]
    assert row[0] in (student, f"'{student}", student.replace("\t", " "))
    assert row[0][0] not in "=+-@"


def test_who_is_not_in_the_roster_is_left_out_and_named():
    graded = classes.graded(classes.report(A), classes.report("zed"), classes.report(B))
    people = Roster((*PEOPLE[:1], Person("Brown, Bob", login=B), Person("Cole, Cy", "c@x.example")))
    assert [row[0] for row in rows(gradebook.canvas(graded, people))[2:]] == [
        "Adams, Alice",
        "Brown, Bob",
    ]
    assert [row[0] for row in rows(gradebook.moodle(graded, people))[1:]] == ["alice@uni.example"]
    assert [(one.student, one.why) for one in gradebook.unmatched(graded, people)] == [
        ("zed", "no row of the roster: not in canvas.csv, moodle.csv"),
        (B, "no email address: not in moodle.csv"),
    ]
    assert gradebook.without_folder(graded, people) == ["Cole, Cy"]


def test_a_roster_without_addresses_gives_moodle_user_names():
    people = Roster((Person("Adams, Alice", canvas="1", login=A), Person("Bob", id=B)))
    graded = classes.graded(classes.report(A), classes.report(B))
    head, *names = [row[0] for row in rows(gradebook.moodle(graded, people))]
    assert (head, names) == ("Username", [A, B])
    assert gradebook.unmatched(graded, people) == []


def test_a_student_without_a_user_name_is_missing_from_moodle_and_named():
    people = Roster((Person("alice"), Person("Bob", login=B)))
    graded = classes.graded(classes.report(A), classes.report(B))
    assert [row[0] for row in rows(gradebook.moodle(graded, people))] == ["Username", B]
    assert [(one.student, one.why) for one in gradebook.unmatched(graded, people)] == [
        (A, "no address or user name: not in moodle.csv")
    ]


def test_a_person_with_two_folders_is_not_listed_as_without_one():
    graded = classes.graded(classes.report(A), classes.report("alice@uni.example"))
    assert gradebook.without_folder(graded, Roster(PEOPLE)) == ["Brown, Bob"]


NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@st.composite
def courses(draw):
    """Draw people with ids and logins of their own, of whom some share a name, and their points."""
    logins = draw(st.lists(NAMES, min_size=1, max_size=6, unique_by=str.casefold))
    names = draw(st.lists(NAMES, min_size=len(logins), max_size=len(logins)))
    people = [
        Person(f"{name}, X", f"{k}@x.example", "S", str(1000 + k), f"sis{k}", login)
        for k, (name, login) in enumerate(zip(names, logins, strict=True))
    ]
    return people, [draw(st.sampled_from(["right", "but", "wrong", "infra"])) for _ in people]


@given(courses())
def test_both_systems_give_every_grade_to_the_right_person(course):
    people, statuses = course
    graded = classes.graded(
        *(classes.report(f"sis{k}", status=status) for k, status in enumerate(statuses))
    )
    points = {"right": "10", "but": "5", "wrong": "0", "infra": ""}
    want = [points[status] for status in statuses]
    canvas = canvas_reads(gradebook.canvas(graded, Roster(tuple(people))))
    by_id = {key[1]: cells for key, cells in canvas.items()}
    assert [by_id[person.canvas] for person in people] == [[cell] for cell in want]
    _, *moodle = rows(gradebook.moodle(graded, Roster(tuple(people))))
    by_address = {address: grade for address, grade, _ in moodle}
    percents = {"10": "100", "5": "50", "0": "0", "": ""}
    assert [by_address[person.email] for person in people] == [percents[cell] for cell in want]


def bytes_of(out):
    return {
        file.relative_to(out).as_posix(): file.read_bytes()
        for file in sorted(out.rglob("*"))
        if file.is_file()
    }


DERIVED = ["canvas.csv", "class.json", "class.md", "class.png", "grades.csv", "junit.xml"]


def test_equal_reports_give_equal_bytes(tmp_path):
    made = classes.simulated(4, 3)
    one, other = classes.write(tmp_path / "a", made), classes.write(tmp_path / "b", made[::-1])
    for out in (one, other, other):
        gradebook.write(out)
    assert bytes_of(one) == bytes_of(other)
    assert {*DERIVED, "moodle.csv"} <= {*bytes_of(one)}


@pytest.mark.parametrize("students", [0, 1])
def test_the_smallest_classes_have_all_files(tmp_path, students):
    classes.write(tmp_path, classes.simulated(students, 2))
    gradebook.write(tmp_path)
    files = {file.name for file in tmp_path.iterdir()}
    assert {*DERIVED, "moodle.csv"} - files == (set() if students else {"class.png"})


def test_without_matplotlib_there_is_no_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(gradebook.importlib.util, "find_spec", lambda name: None)
    gradebook.write(classes.write(tmp_path, classes.simulated(2, 2)))
    assert not (tmp_path / "class.png").exists()
    assert "class.png" not in (tmp_path / "class.md").read_text()


def test_a_damaged_report_and_the_roster_are_in_the_files(tmp_path):
    classes.write(tmp_path, [classes.report(A), classes.report(B)])
    (tmp_path / "reports" / B / "zip_add.json").write_text("{")
    (tmp_path / "roster.csv").write_text("id,email\nalice,a@x.example\ncy,c@x.example\n")
    gradebook.write(tmp_path, tmp_path / "roster.csv")
    summary = json.loads((tmp_path / "class.json").read_text())
    assert [one["file"] for one in summary["damaged"]] == ["reports/bob/zip_add.json"]
    assert [one["student"] for one in summary["needs_a_person"]] == [B, B]
    assert summary["without_folder"] == ["c@x.example"]
    page = (tmp_path / "class.md").read_text()
    assert "## In the roster, without a folder\n\nc&#64;x.example\n" in page
    assert "reports/bob/zip\\_add.json" in page
    assert rows((tmp_path / "grades.csv").read_text())[2] == [B, "", "", "10"]


def test_every_student_with_a_report_has_a_page(tmp_path):
    gradebook.write(classes.write(tmp_path, [classes.report(A), classes.report("=x")]))
    pages = sorted(file.parent.name for file in tmp_path.glob("reports/*/report.md"))
    assert pages == ["=x", A]


def test_no_file_mentions_the_machine(tmp_path):
    gradebook.write(classes.write(tmp_path, classes.simulated(2, 2)))
    for name, content in bytes_of(tmp_path).items():
        assert str(tmp_path).encode() not in content, name
        assert not re.search(rb"20\d\d-\d\d-\d\d", content), name


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux only")
def test_a_folder_whose_name_is_no_text_has_its_files(tmp_path):
    student = os.fsdecode(b"caf\xe9 \xff")
    gradebook.write(classes.write(tmp_path, [classes.report(student)]), None)
    assert (tmp_path / "reports" / student / "report.md").exists()
    assert rows((tmp_path / "grades.csv").read_text(encoding="utf-8"))[1][1] == "10"
