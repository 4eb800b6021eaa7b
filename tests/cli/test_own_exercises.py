"""`gpukit new`, `verify` and `release`: what teachers read, and the exit codes."""

import functools
import json

import pytest

from gpukit import cli
from gpukit.classroom import proofs
from gpukit.course import catalogue
from tests.classroom import courses


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a course with one exercise."""
    return courses.begin(tmp_path, monkeypatch)


@pytest.fixture
def ungraded(monkeypatch):
    """Prove only what needs no grading."""
    some = functools.partial(proofs.run, stages=proofs.BEFORE_RUNNING)
    monkeypatch.setattr(proofs, "run", some)
    monkeypatch.setattr(proofs, "STAGES", proofs.BEFORE_RUNNING)


def test_new_says_where_the_exercise_is_and_how_to_go_on(made, tmp_path, capsys):
    assert cli.main(["new", "02_more/other"]) == 0
    words = capsys.readouterr().out.split()
    folder = tmp_path / "exercises" / "02_more" / "other"
    assert words[:5] == ["Created", "the", "exercise", "other:", str(folder)]
    assert words[-4:] == ["fit:", "gpukit", "verify", "other"]


def test_new_says_where_to_go_if_the_course_is_elsewhere(made, tmp_path, capsys):
    assert cli.main(["new", "02_more/other", "--folder", str(tmp_path / "course")]) == 0
    words = capsys.readouterr().out.split()
    assert words[-5:] == ["cd", str(tmp_path / "course"), "gpukit", "verify", "other"]


def test_new_prints_json(made, capsys):
    assert cli.main(["new", "02_more/other", "--folder", "course", "--like", "relu", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    folder = "course/exercises/02_more/other"
    assert said == {"exercise": "other", "folder": folder, "files": sorted(catalogue.FILES)}


def test_verify_lists_what_holds(made, ungraded, capsys):
    assert cli.main(["verify", "scale"]) == 0
    words = capsys.readouterr().out
    assert "01_maps/scale\n  right  all files are there\n" in words
    count = sum(map(len, proofs.BEFORE_RUNNING))
    assert words.count("  right  ") == count
    assert words.endswith(f"All {count} hold: scale is ready for students.\n\n")


def test_verify_says_what_does_not_hold_and_how_much_is_left(made, ungraded, capsys):
    (made.folder / "solution.py").unlink()
    assert cli.main(["verify", "01_maps/scale"]) == 1
    words = capsys.readouterr().out
    assert "  WRONG  all files are there\n         There is no file solution.py.\n" in words
    left = sum(map(len, proofs.BEFORE_RUNNING)) - 1
    assert f"Correct this and run it again: {left} more to verify." in words


def test_verify_prints_json(made, ungraded, capsys):
    assert cli.main(["verify", "scale", "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    assert (said["exercise"], said["passed"]) == ("scale", True)
    assert said["proofs"][0] == {"says": "all files are there", "problems": []}


def test_verify_takes_a_topic(made, ungraded, capsys):
    cli.main(["new", "01_maps/other"])
    assert cli.main(["verify", "01_maps", "--json"]) == 0
    said = json.loads(capsys.readouterr().out.partition("\n[")[2].join(["[", ""]))
    assert [one["exercise"] for one in said] == ["other", "scale"]


@pytest.mark.answers
def test_verify_grades_a_new_exercise(made, capsys):
    assert cli.main(["verify", "scale"]) == 0
    assert "right  known mistakes are explained" in capsys.readouterr().out


def test_release_says_what_is_left_out_and_what_students_can_read(made, tmp_path, capsys):
    assert cli.main(["release", "out", "scale"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "Released 1 exercise, 10 points: out" in words
    assert "Left out: solution.py; mistakes.toml; the case 'a longer prime'." in words
    assert "Students can read what is (nearly) the solution: gpukit.kernels.vector." in words
    assert f"For you, not for students: {tmp_path / 'out-release.json'}" in words


def test_release_takes_exercises_of_the_course_and_of_the_book(made, capsys):
    assert cli.main(["release", "out", "scale", "13_many_gpus", "zip_add", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    names = [one["name"] for one in said["exercises"]]
    assert names[0] == "scale"
    assert names[-1] == "zip_add"
    assert len(names) == 8


def test_release_takes_a_topic_of_the_course_before_one_of_the_book(made, capsys):
    cli.main(["new", "04_reduction/mine", "--json"])
    capsys.readouterr()
    assert cli.main(["release", "out", "04_reduction", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in said["exercises"]] == ["mine"]


def test_release_names_an_exercise_once(made, capsys):
    assert cli.main(["release", "out", "scale", "01_maps", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["exercises"]) == 1


def test_release_refuses_exercises_of_the_same_name(made, capsys):
    cli.main(["new", "02_more/softmax"])
    assert cli.main(["release", "out", "softmax", "07_softmax_and_loss"]) == 2
    assert "expected exercises of different names" in capsys.readouterr().err


def test_release_refuses_a_folder_in_use(made, capsys):
    assert cli.main(["release", "exercises", "scale"]) == 2
    assert "expected a new or empty folder, got exercises" in capsys.readouterr().err
