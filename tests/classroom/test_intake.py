"""What is read of a folder of submissions."""

import json
import os
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpukit.classroom import intake
from gpukit.course import catalogue

ZIP_ADD = catalogue.find("zip_add")
RELU = catalogue.find("relu")
ANSWER = "from gpukit import cuda\n\n\n@cuda.jit\ndef zip_add_kernel(a, b, out):\n    out[0] = 1\n"

STARTER = ZIP_ADD.starter.read_text()
RUN = json.dumps({"schema": "gpukit-grade", "seed": 1})


def write(folder, name, content=ANSWER):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        file.write_text(content, encoding="utf-8")
    else:
        file.write_bytes(content)
    return file


def notebook(*cells, **metadata):
    made = [{"cell_type": "code", "source": text, "metadata": metadata} for text in cells]
    return json.dumps({"cells": made, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


def the_answer(folder, exercises=(ZIP_ADD,)):
    (found,) = intake.collect(folder, list(exercises))
    return found


PLACES = [
    *("zip_add.py", "Zip_Add.py", "zip_add.PY", "zip_add/answer.py", "Zip_Add/Answer.PY"),
    "exercises/01_x/zip_add/answer.py",
]


@pytest.mark.parametrize("name", PLACES)
def test_a_file_is_an_answer_by_its_place(tmp_path, name):
    write(tmp_path, f"ann/{name}")
    found = the_answer(tmp_path, [ZIP_ADD, RELU])
    assert (found.student, found.exercise, found.file) == ("ann", "zip_add", f"ann/{name}")
    assert found.source.decode() == ANSWER


def test_the_only_file_is_the_answer_to_the_only_exercise(tmp_path):
    write(tmp_path, "ann/homework 1.py")
    assert the_answer(tmp_path).file == "ann/homework 1.py"


def test_an_answer_in_a_notebook_counts_before_the_only_file(tmp_path):
    write(tmp_path, "ann/plots.py", "print(1)\n")
    write(tmp_path, "ann/hw.IPYNB", notebook(f"%%exercise zip_add\n{ANSWER}"))
    assert the_answer(tmp_path).file == "ann/hw.IPYNB"


def test_the_only_file_counts_before_the_starter_in_a_notebook(tmp_path):
    write(tmp_path, "ann/homework 1.py")
    write(tmp_path, "ann/hw.ipynb", notebook(f"%%exercise zip_add\n{STARTER}"))
    assert the_answer(tmp_path).file == "ann/homework 1.py"


@pytest.mark.parametrize(
    "attempt", [("hw.ipynb", notebook(f"%%exercise zip_add\n{ANSWER}")), ("zip_add.py", ANSWER)]
)
def test_an_attempt_counts_before_a_starter(tmp_path, attempt):
    write(tmp_path, "ann/zip_add/answer.py", STARTER)
    write(tmp_path, f"ann/{attempt[0]}", attempt[1])
    assert the_answer(tmp_path, [ZIP_ADD, RELU]).file == f"ann/{attempt[0]}"


def test_starters_are_not_several_answers(tmp_path):
    for name in ("zip_add.py", "zip_add/answer.py"):
        write(tmp_path, f"ann/{name}", STARTER)
    write(tmp_path, "ann/hw.ipynb", notebook(f"%%exercise zip_add\n{STARTER}# changed"))
    assert the_answer(tmp_path).problem == ""


def test_a_cell_with_nothing_but_its_first_line_is_no_attempt(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "ann/hw.ipynb", notebook("%%exercise relu\n"))
    assert the_answer(tmp_path, [ZIP_ADD, RELU]).exercise == "zip_add"


def test_an_answer_says_which_topic_its_exercise_is_in(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "bob/notes.txt")
    names = {found.full_name for found in intake.collect(tmp_path, [ZIP_ADD])}
    assert names == {"01_threads_blocks_grid/zip_add"}


def test_a_cell_of_a_notebook_is_an_answer(tmp_path):
    body = ANSWER.split("\n\n\n")[1]
    write(tmp_path, "ann/lesson.ipynb", notebook("1 + 1", f"%%exercise zip_add\n{body}"))
    found = the_answer(tmp_path, [ZIP_ADD, RELU])
    assert found.source.decode().split("\n", 1)[1] == body


def test_the_source_of_a_cell_may_be_a_list_of_lines(tmp_path):
    lines = ["%%exercise zip_add\n", "@cuda.jit\n", "def zip_add_kernel(a, b, out):\n", "    a[0]"]
    write(tmp_path, "ann/lesson.ipynb", notebook(lines))
    assert the_answer(tmp_path).source.decode().endswith("    a[0]\n")


def test_the_last_attempted_cell_counts(tmp_path):
    cells = [f"%%exercise zip_add\n{ANSWER.replace('1', n)}" for n in "23"]
    write(tmp_path, "ann/lesson.ipynb", notebook(*cells, "%%exercise zip_add\n"))
    assert b"out[0] = 3" in the_answer(tmp_path).source


def test_a_solution_cell_of_nbgrader_is_an_answer(tmp_path):
    known = {"nbgrader": {"grade_id": "zip_add", "solution": True}}
    write(tmp_path, "submitted/ann/ps1/sheet.ipynb", notebook(ANSWER, **known))
    found = the_answer(tmp_path)
    assert (found.student, found.file) == ("ann", "submitted/ann/ps1/sheet.ipynb")
    assert b"out[0] = 1" in found.source


def test_a_file_counts_before_a_notebook(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "ann/lesson.ipynb", notebook("%%exercise zip_add\nx = 1"))
    assert the_answer(tmp_path).file == "ann/zip_add.py"


def test_of_several_answers_none_is_chosen(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "ann/old/zip_add.py")
    found = the_answer(tmp_path)
    assert found.problem.startswith("There are several answers, such as zip_add.py and old/")
    assert found.source == b""


def test_an_exercise_of_which_there_are_only_starters_is_left_out(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "ann/relu.py", RELU.starter.read_text())
    cell = f"%%exercise relu\n{RELU.starter.read_text()}"
    write(tmp_path, "bob/lesson.ipynb", notebook(cell))
    write(tmp_path, "bob/zip_add.py", ZIP_ADD.starter.read_text())
    found = intake.collect(tmp_path, [ZIP_ADD, RELU])
    assert [(s.student, s.exercise) for s in found] == [("ann", "zip_add"), ("bob", "zip_add")]


def test_starters_are_listed_where_nobody_has_attempted_anything(tmp_path):
    write(tmp_path, "ann/zip_add.py", ZIP_ADD.starter.read_text())
    assert the_answer(tmp_path, [ZIP_ADD, RELU]).exercise == "zip_add"


def test_exercises_that_were_named_all_count(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    found = intake.collect(tmp_path, [ZIP_ADD, RELU], all_count=True)
    assert [(s.exercise, bool(s.source)) for s in found] == [("zip_add", True), ("relu", False)]


def test_moodles_folders_of_typed_text_are_no_students(tmp_path):
    write(tmp_path, "Ann A_7_assignsubmission_file_/zip_add.py")
    write(tmp_path, "Ann A_7_assignsubmission_onlinetext_/onlinetext.html", "<p>done</p>")
    assert the_answer(tmp_path).student == "Ann A_7_assignsubmission_file_"


def test_a_folder_of_results_is_no_student(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "grades/run.json", RUN)
    assert the_answer(tmp_path).student == "ann"
    assert intake.results(tmp_path) == ["grades"]


@pytest.mark.parametrize("text", ["", "{}", "[]", "{", '{"schema": "mine"}', "[" * 100_000])
def test_another_run_json_makes_no_folder_of_results(tmp_path, text):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "ann/run.json", text)
    assert the_answer(tmp_path).student == "ann"


def test_a_pipe_called_run_json_is_not_waited_for(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    os.mkfifo(tmp_path / "ann" / "run.json")
    assert the_answer(tmp_path).student == "ann"


@pytest.mark.parametrize("out", ["ann/grades", "results/ps1"])
def test_results_inside_the_folder_of_a_student_are_refused(tmp_path, out):
    with pytest.raises(intake.IntakeError, match="--out: expected a folder that is not inside"):
        intake.refuse_inside(tmp_path, tmp_path / out)


@pytest.mark.parametrize("out", ["class/grades", "grades", "course/grades/ps1"])
def test_results_may_be_beside_the_folders_of_students(tmp_path, out):
    write(tmp_path, "course/submitted/ann/ps1/zip_add.py")
    intake.refuse_inside(tmp_path / out.split("/")[0], tmp_path / out)


def test_somebody_who_hands_in_nothing_is_listed(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "bob/readme.txt", "sorry")
    ann, bob = intake.collect(tmp_path, [ZIP_ADD, RELU])
    assert (bob.student, bob.source, bob.problem) == ("bob", b"", "")
    assert bob.exercise == ann.exercise == "zip_add"


def link(place):
    place.symlink_to("/etc/passwd")


def fifo(place):
    os.mkfifo(place)


def folder(place):
    place.mkdir()


def huge(place):
    place.write_bytes(b"#" * (2 * 1024 * 1024 + 1))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (link, "is a link, and links are not followed"),
        (fifo, "is not a regular file"),
        (folder, "is not a regular file"),
        (huge, "has 2,097,153 bytes"),
    ],
)
def test_what_is_no_ordinary_file_is_refused(tmp_path, make, why):
    (tmp_path / "ann").mkdir()
    make(tmp_path / "ann" / "zip_add.py")
    found = the_answer(tmp_path)
    assert why in found.problem
    assert found.source == b""


def test_a_student_whose_folder_is_a_link_is_refused(tmp_path):
    write(tmp_path, "class/ann/zip_add.py")
    write(tmp_path, "elsewhere/zip_add.py")
    (tmp_path / "class" / "bob").symlink_to(tmp_path / "elsewhere")
    _, bob = intake.collect(tmp_path / "class", [ZIP_ADD, RELU])
    assert bob.problem == "bob is a link, and links are not followed."


def test_links_inside_a_folder_are_not_followed(tmp_path):
    write(tmp_path, "class/ann/zip_add.py")
    (tmp_path / "class" / "ann" / "more").symlink_to(tmp_path)
    assert the_answer(tmp_path / "class").problem == ""


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"cells": 3}', b"\xff", b"[" * 100_000])
def test_a_damaged_notebook_is_refused(tmp_path, raw):
    write(tmp_path, "ann/zip_add.py")
    write(tmp_path, "bob/lesson.ipynb", raw)
    _, bob = intake.collect(tmp_path, [ZIP_ADD, RELU])
    assert bob.problem == "lesson.ipynb is not a notebook."


def test_too_many_files_are_refused(tmp_path):
    write(tmp_path, "ann/zip_add.py")
    deep = "/".join("abcdefghij")
    write(tmp_path, f"bob/{deep}/zip_add.py")
    _, bob = intake.collect(tmp_path, [ZIP_ADD, RELU])
    assert "or folders too deep" in bob.problem


@pytest.mark.parametrize("make", [lambda place: None, folder, lambda place: place.write_text("")])
def test_a_folder_without_students_is_an_error_that_says_what_is_expected(tmp_path, make):
    make(tmp_path / "class")
    with pytest.raises(intake.IntakeError, match="one folder per student"):
        intake.collect(tmp_path / "class", [ZIP_ADD])


def test_a_folder_without_answers_is_an_error_that_says_how_they_are_called(tmp_path):
    write(tmp_path, "ann/notes.txt", "")
    with pytest.raises(intake.IntakeError, match=r"A file is called .*\.py"):
        intake.collect(tmp_path, [ZIP_ADD, RELU])


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(string.printable, max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cells", "cell_type", "source", "metadata", "nbgrader"]),
                inner | st.just("code") | st.just("%%exercise zip_add\nx"),
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_notebook_or_refused(tmp_path_factory, content):
    place = tmp_path_factory.mktemp("class")
    write(place, "ann/lesson.ipynb", json.dumps(content))
    try:
        found = the_answer(place)
    except intake.IntakeError:
        return
    assert isinstance(found.problem, str)
