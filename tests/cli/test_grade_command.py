"""`gpukit grade`: a class from a folder to gradebooks, and what is refused."""

import csv
import json

import pytest

from gpukit import cli
from gpukit.classroom import batch
from gpukit.classroom.sandbox import modes
from gpukit.course import catalogue

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
