"""Rosters as Canvas and Moodle export them, or as teachers write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import roster
from gpukit.classroom.roster import Person, Roster, RosterError

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,zip_add (4711),Dot (12),Current Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,10,20,(read only)\r\n"
    '"Adams, Alice",101,S1,alice,GPU-1,,,\r\n'
    '"Brown, Bob",102,S2,bob@uni.example,"GPU-1 and GPU-2",3,,\r\n'
    '"=""=SUM(1), Eve""",103,S3,eve,GPU-1,,,\r\n'
    '"Student, Test",104,,,GPU-1,,,\r\n'
)
MOODLE = (
    '\ufeff"First name","Last name","ID number","Institution","Email address","Groups"\n'
    "Alice,Adams,S1,,alice@uni.example,Monday\n"
    "Bob,Brown,S2,,bob@uni.example,\n"
)
WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Feedback comments"\n'
    '"Participant 7001","Alice Adams",alice@uni.example,Submitted,,100.00,\n'
)


def read(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "roster.csv"
    file.write_bytes(text.encode(encoding))
    return roster.read(file)


def test_an_export_of_canvas_has_its_ids(tmp_path):
    found = read(tmp_path, CANVAS)
    assert found.people[0] == Person("Adams, Alice", "", "GPU-1", "101", "S1", "alice")
    assert [person.canvas for person in found.people] == ["101", "102", "103", "104"]
    assert found.people[2].name == "=SUM(1), Eve"


def test_an_export_of_canvas_may_have_first_and_last_names(tmp_path):
    text = "LastName,FirstName,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section\n"
    (person,) = read(tmp_path, f"{text}Adams,Alice,101,S1,alice,,uni.example,GPU-1\n").people
    assert person == Person("Adams, Alice", "", "GPU-1", "101", "S1", "alice")


def test_an_export_of_moodle_has_addresses_and_groups(tmp_path):
    found = read(tmp_path, MOODLE)
    assert found.people[0] == Person("Adams, Alice", "alice@uni.example", "Monday", sis="S1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_list_by_hand_has_any_separator_and_order(tmp_path, encoding, separator):
    rows = ["E-Mail", "ID", "Name", "Canvas ID"], ["z@x.example", "zoë", "Zoë Ω", "5"]
    found = read(tmp_path, "\n".join(separator.join(row) for row in rows), encoding)
    assert found.people == (Person("Zoë Ω", "z@x.example", canvas="5", id="zoë"),)


@pytest.mark.parametrize(
    "folder",
    [
        "alice",
        "ALICE",
        "101",
        "S1",
        "alice@uni.example",
        "Alice Adams",
        "adamsalice",
        "alice adams",
    ],
)
def test_a_folder_is_matched_by_every_usual_name(folder):
    person = Person("Adams, Alice", "alice@uni.example", "", "101", "S1", "alice")
    other = Person("Brown, Bob", "bob@uni.example", "", "102", "S2", "bob")
    assert Roster((other, person)).matched([folder, "zed"]).people == {folder: person}


def test_folders_of_the_archive_that_moodle_makes_are_matched(tmp_path):
    folder = "Alice Adams_7001_assignsubmission_file_"
    for text in (WORKSHEET, MOODLE):
        assert read(tmp_path, text).matched([folder]).people[folder].email == "alice@uni.example"


def test_a_name_is_matched_however_its_accents_are_written():
    person = Person("Zoë")
    assert Roster((person,)).matched(["zoe\u0308"]).people == {"zoe\u0308": person}


def test_a_row_that_is_there_twice_is_one_person(tmp_path):
    assert len(read(tmp_path, "id,name\n1,Kim\n1,Kim\n2,Kim\n").people) == 2


def test_a_name_that_two_people_have_matches_nobody():
    twins = Person("Kim Lee", "a@x.example"), Person("Kim Lee", "b@x.example")
    found = Roster(twins).matched(["Kim Lee", "a@x.example"])
    assert found.people == {"a@x.example": twins[0]}
    assert found.reasons == {"Kim Lee": "several rows of the roster"}


def test_a_name_that_nobody_has_matches_no_row():
    assert Roster((Person("Kim Lee"),)).matched(["zed"]).reasons == {"zed": "no row of the roster"}


def test_two_folders_of_one_person_match_nobody():
    person = Person("Kim Lee", "kim@x.example", login="kim")
    found = Roster((person,)).matched(["kim", "kim@x.example"])
    assert found.people == {}
    assert found.reasons == {
        "kim": "the same person as kim@x.example (keep one folder)",
        "kim@x.example": "the same person as kim (keep one folder)",
    }


def test_only_those_whom_no_folder_names_are_without_one():
    names = ("Kim Lee", "a@x.example"), ("Kim Lee", "b@x.example"), ("Ann", "ann@x.example")
    people = Roster((*(Person(*each) for each in names), cy := Person("Cole, Cy")))
    assert people.matched(["Kim Lee", "ann", "ann@x.example"]).without_folder == [cy]


def test_an_id_comes_before_the_start_of_an_address():
    by_id, by_address = Person(id="kim"), Person(email="kim@x.example")
    assert Roster((by_address, by_id)).matched(["kim"]).people == {"kim": by_id}


def test_the_column_of_an_exercise_keeps_the_number_of_the_assignment(tmp_path):
    found = read(tmp_path, CANVAS)
    assert [found.column(name) for name in ("zip_add", "dot", "relu")] == [
        "zip_add (4711)",
        "Dot (12)",
        "relu",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "got nothing"),
        ("\n\n", "got nothing"),
        ("colour,shape\nred,round\n", "got colour, shape"),
        ("\x1b[31mred\n", "got red"),
    ],
)
def test_a_file_without_names_is_refused_with_what_to_do(tmp_path, text, said):
    with pytest.raises(RosterError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)
    assert "Export the gradebook of Canvas" in str(refused.value)


def test_another_encoding_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(RosterError, match="Save it as CSV UTF-8"):
        read(tmp_path, "id,name\n1,Zoë\n", "latin-1")


def test_a_cell_that_is_too_large_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(RosterError, match="expected a CSV file, got: field larger"):
        read(tmp_path, f'id,name\n1,"{"x" * 200_000}"\n')


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(RosterError, match="cannot be read: No such file"):
        roster.read(tmp_path / "none.csv")


@given(
    st.binary(max_size=200) | st.text(max_size=100).map(lambda text: f"id,name\n{text}".encode())
)
def test_any_file_is_read_or_refused(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(content)
    try:
        found = roster.read(file)
    except RosterError:
        return
    matched = found.matched([person.id for person in found.people])
    assert len(matched.people) <= len(found.people)
