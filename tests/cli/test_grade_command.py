"""`gpukit grade`: a class from a folder to gradebooks, and what is refused."""

import csv
import json
import shutil

import pytest

from gpukit import cli
from gpukit.classroom import batch, new
from gpukit.classroom.sandbox import modes
from gpukit.cli import parser
from gpukit.course import catalogue
from tests.classroom import courses

ZIP_ADD = catalogue.find("zip_add")
RIGHT = ZIP_ADD.solution.read_text()


@pytest.fixture
def isolated():
    """Skip where nothing can isolate submissions."""
    usable = [mode for mode in modes.every() if mode.is_available]
    if not usable:
        pytest.skip(modes.described(modes.every()))


@pytest.fixture
def school(tmp_path, isolated):
    """Write a class of three: one right, one wrong, one with nothing."""
    for student, text in {
        "ann": RIGHT,
        "bob": RIGHT.replace("a[i] + b[i]", "a[i] * b[i]"),
        "cyd": "",
    }.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        if text:
            (tmp_path / "class" / student / "zip_add.py").write_text(text)
    return tmp_path


@pytest.fixture
def in_a_new_folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def grade(school, *more):
    return cli.main(["grade", str(school / "class"), "--out", str(school / "out"), *more])


@pytest.mark.slow
def test_a_class_is_graded_from_a_folder_to_gradebooks(school, capsys):
    assert grade(school, "--jobs", "1") == 0
    words = capsys.readouterr().out
    assert words.startswith("3 students, 1 exercise, isolation: ")
    assert str(school / "out") in words
    text = (school / "out" / "grades.csv").read_text(encoding="utf-8")
    assert list(csv.reader(text.splitlines())) == [
        ["student", "zip_add", "total", "of"],
        ["ann", "10", "10", "10"],
        ["bob", "0", "0", "10"],
        ["cyd", "0", "0", "10"],
    ]


@pytest.mark.slow
def test_json_is_the_summary_of_the_class(school, capsys):
    assert grade(school, "--jobs", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "gpukit-class"


def test_ctrl_c_keeps_what_is_graded_and_says_how_to_go_on(school, monkeypatch, capsys):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "grade", stopped)
    assert grade(school, "--jobs", "1") == 130
    assert "what is graded is kept: run the same line again to go on." in capsys.readouterr().err


def test_without_isolation_nothing_is_graded_and_the_fix_is_printed(school, monkeypatch, capsys):
    gone = [modes.Mode("bubblewrap", "bwrap is not installed", "Run: apt-get install bubblewrap")]
    monkeypatch.setattr(modes, "every", lambda: gone)
    assert grade(school) == 3
    assert "apt-get install bubblewrap" in capsys.readouterr().err
    assert not (school / "out").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["grade", "nowhere", "--out", "out"], "expected a folder with one folder per student"),
        (["grade", ".", "--out", "out", "--exercise", "zip_ad"], "Did you mean zip_add?"),
        (["grade", ".", "--out", "out", "--jobs", "0"], "expected a whole number, 1 or more"),
        (["grade", ".", "--out", "out", "--seed", "-1"], "expected a whole number"),
        (["grade", ".", "--out", "out", "--executor", "ftp://x"], "dask://HOST:PORT"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_misuse(
    line, says, isolated, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    try:
        code = cli.main(line)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("address", ["dask://here:8786", "tcp://here:8786"])
def test_an_executor_has_the_address_that_dask_prints(address):
    line = ["grade", "class", "--out", "out", "--executor", address]
    assert parser.read(parser.build(), line).executor == address


@pytest.fixture
def stopped(monkeypatch):
    """Stop where grading would begin."""
    monkeypatch.setattr(batch, "grade", lambda *_: 0)


def test_results_beside_the_students_are_not_graded(school, stopped, monkeypatch, capsys):
    monkeypatch.chdir(school / "class")
    for says in ("", "not graded, because it holds results of gpukit grade: grades."):
        assert cli.main(["grade", ".", "--out", "grades"]) == 0
        said = capsys.readouterr()
        assert said.out.startswith("3 students, ")
        assert says in said.err


def test_two_exercises_of_one_name_are_refused(tmp_path, isolated, stopped, monkeypatch, capsys):
    made = courses.begin(tmp_path, monkeypatch)
    shutil.copytree(made.folder, tmp_path / "exercises" / "02_more" / "scale")
    (tmp_path / "class" / "ann").mkdir(parents=True)
    shutil.copy(made.solution, tmp_path / "class" / "ann" / "scale.py")
    assert grade(tmp_path) == 2
    assert "expected exercises of different names, got " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_exercises_of_one_name_do_no_harm_to_others(tmp_path, isolated, stopped, monkeypatch):
    made = courses.begin(tmp_path, monkeypatch)
    shutil.copytree(made.folder, tmp_path / "exercises" / "02_more" / "scale")
    other = new.make("02_more/other")
    (tmp_path / "class" / "ann").mkdir(parents=True)
    shutil.copy(other.solution, tmp_path / "class" / "ann" / "other.py")
    assert grade(tmp_path) == 0


@pytest.mark.slow
def test_an_exercise_of_the_book_is_graded_where_the_course_has_its_name(
    school, monkeypatch, capsys
):
    courses.begin(school, monkeypatch)
    new.make("02_own/zip_add")
    name = f"{ZIP_ADD.topic}/zip_add"
    assert grade(school, "--jobs", "1", "--exercise", name) == 0
    report = json.loads((school / "out" / "reports" / "ann" / "zip_add.json").read_text())
    assert report["status"] == "right"


def test_an_unknown_mode_of_isolation_is_named(school, capsys):
    assert grade(school, "--isolation", "docker") == 3
    assert (
        "--isolation: expected one of bubblewrap, landlock, user, none" in capsys.readouterr().err
    )


@pytest.mark.slow
def test_grading_without_isolation_says_what_that_means(school, capsys):
    assert grade(school, "--isolation", "none", "--jobs", "1") == 0
    assert "the submissions can do whatever you can" in capsys.readouterr().err
    report = json.loads((school / "out" / "reports" / "ann" / "zip_add.json").read_text())
    assert (report["isolation"], report["points"]) == ("none", 10)
