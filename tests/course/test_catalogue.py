"""The catalogue: lookup by name, progress, and faults in an exercise's folder."""

import dataclasses
import shutil

import pytest

from gpukit import files
from gpukit.course import catalogue, progress

TOML = """
title = "T"
entry = "t_kernel"
points = 1
hints = ["a", "b", "c"]
measured = "one"
[limits]
seconds = 5
[tolerance]
ulps = 1
"""


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Make a folder with one exercise."""
    folder = tmp_path / "01_topic" / "thing"
    folder.mkdir(parents=True)
    (folder / "exercise.toml").write_text(TOML)
    (folder / "starter.py").write_text("# start\n")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path))
    return folder


def test_an_exercise_is_found_by_its_name(shelf):
    assert catalogue.find("thing").folder == shelf


def test_an_exercise_is_found_by_topic_and_name(shelf):
    assert catalogue.find("01_topic/thing").folder == shelf


def test_a_misspelt_name_suggests_the_right_one(shelf):
    with pytest.raises(catalogue.ExerciseError, match="Did you mean thing"):
        catalogue.find("thign")


def test_a_name_that_resembles_none_refers_to_the_list():
    for name in ("nope", "xyzzy"):
        with pytest.raises(catalogue.ExerciseError, match="`gpukit list` shows all names"):
            catalogue.find(name)


def test_a_missing_field_is_named(shelf):
    (shelf / "exercise.toml").write_text(TOML.replace('entry = "t_kernel"', ""))
    with pytest.raises(catalogue.ExerciseError, match="expected the field 'entry'"):
        catalogue.find("thing")


def test_a_file_that_is_not_toml_is_named(shelf):
    (shelf / "exercise.toml").write_text("= nope")
    with pytest.raises(catalogue.ExerciseError, match=r"exercise\.toml"):
        catalogue.find("thing")


def test_the_nearest_parent_folder_is_used(shelf, tmp_path, monkeypatch):
    monkeypatch.delenv("GPUKIT_EXERCISES")
    deep = tmp_path / "clone" / "exercises" / "01_topic" / "other"
    deep.mkdir(parents=True)
    (deep / "exercise.toml").write_text(TOML)
    monkeypatch.chdir(deep)
    assert [exercise.name for exercise in catalogue.every()] == ["other"]


def test_an_exercise_without_an_answer_is_new(shelf):
    assert progress.state(catalogue.find("thing")) == "new"


def test_an_untouched_copy_of_the_starter_is_new(shelf):
    (shelf / "answer.py").write_text("# start\n")
    assert progress.state(catalogue.find("thing")) == "new"


def test_an_edited_answer_is_started(shelf):
    (shelf / "answer.py").write_text("# mine\n")
    assert progress.state(catalogue.find("thing")) == "started"


def test_the_best_grade_is_kept(shelf):
    exercise = catalogue.find("thing")
    states = []
    for grade in ("but", "right", "wrong"):
        progress.record(exercise, grade)
        states.append(progress.state(exercise))
    assert states == ["but", "right", "right"]


def test_grades_survive_a_disk_that_is_full(shelf, monkeypatch):
    exercise = catalogue.find("thing")
    progress.record(exercise, "but")

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert "no space left" in progress.record(exercise, "right")
    assert progress.state(exercise) == "but"


def test_a_grade_and_the_hint_on_its_failure_are_written_together(shelf, monkeypatch):
    exercise = dataclasses.replace(catalogue.find("thing"), hint_for={"reads": 3})
    written = []
    real = files.write
    monkeypatch.setattr(files, "write", lambda *args: written.append(args) or real(*args))
    progress.record(exercise, "but", "reads")
    assert len(written) == 1
    assert progress.state(exercise) == "but"
    assert progress.next_hint(exercise).number == 3


def test_the_hint_on_an_earlier_failure_is_not_said_to_fit_the_last(shelf):
    exercise = dataclasses.replace(catalogue.find("thing"), hint_for={"reads": 3})
    progress.record(exercise, "but", "reads")
    progress.record(exercise, "wrong")
    assert progress.next_hint(exercise) == progress.Hint(1)


def test_a_known_failure_is_not_written_again(shelf, monkeypatch):
    exercise = dataclasses.replace(catalogue.find("thing"), hint_for={"reads": 3})
    progress.record(exercise, "but", "reads")
    monkeypatch.setattr(files, "write", None)
    assert progress.record(exercise, "wrong", "reads") == ""


@pytest.mark.parametrize(("points", "half"), [(5, 2), (10, 5), (15, 7)])
def test_right_but_scores_half_of_the_points_rounded_down(shelf, points, half):
    exercise = dataclasses.replace(catalogue.find("thing"), points=points)
    assert [progress.points(exercise, g) for g in ("right", "but", "wrong")] == [points, half, 0]


def test_the_next_exercise_is_the_first_that_is_not_right(shelf):
    exercise = catalogue.find("thing")
    assert progress.following() == exercise
    progress.record(exercise, "right")
    assert progress.following() is None


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        ('measure = "luck"\nat_most = 1', "cannot measure 'luck'; expected one of reads"),
        ('measure = "reads"\nper = "moon"\nat_most = 1', "cannot count per 'moon'"),
        ('measure = "reads"', "needs at_most or at_least"),
        ('measure = "reads"\nat_mots = 1', "no field 'at_mots'"),
    ],
)
def test_an_invalid_contract_is_reported(shelf, contract, words):
    (shelf / "exercise.toml").write_text(f"{TOML}\n[[contracts]]\n{contract}\n")
    with pytest.raises(catalogue.ExerciseError, match=words):
        catalogue.find("thing")


def test_a_broken_progress_file_counts_as_missing(shelf, tmp_path):
    (tmp_path / progress.FILE).write_text("[1, 2")
    exercise = catalogue.find("thing")
    exercise.answer.write_text("# mine\n")
    assert progress.state(exercise) == "started"


def test_a_broken_progress_file_is_backed_up(shelf, tmp_path):
    (tmp_path / progress.FILE).write_text("[1, 2")
    progress.record(catalogue.find("thing"), "right")
    assert (tmp_path / ".progress.damaged").read_text() == "[1, 2"
    assert progress.state(catalogue.find("thing")) == "right"


def test_a_grade_that_cannot_be_saved_is_no_error_and_gives_the_reason(shelf, tmp_path):
    (tmp_path / progress.FILE).mkdir()
    message = progress.record(catalogue.find("thing"), "right")
    assert message.startswith(f"cannot write {tmp_path / progress.FILE}: is a directory.")


def test_answers_set_aside_never_overwrite_each_other(shelf):
    exercise = catalogue.find("thing")
    kept = []
    for words in ("one", "two"):
        exercise.answer.write_text(words)
        kept.append(progress.set_aside(exercise))
    assert [path.name for path in kept] == ["answer.old1.py", "answer.old2.py"]
    assert [path.read_text() for path in kept] == ["one", "two"]


def test_an_untouched_answer_is_not_set_aside(shelf):
    exercise = catalogue.find("thing")
    exercise.answer.write_text("# start\n")
    assert progress.set_aside(exercise) is None


@pytest.mark.parametrize("name", ["cases.py", "starter.py", "task.md"])
def test_a_missing_file_is_named_with_advice(name, tmp_path, monkeypatch):
    shutil.copytree(catalogue.find("guarded_map").folder, tmp_path / "01_here" / "guarded_map")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path))
    exercise = catalogue.find("guarded_map")
    exercise.folder.joinpath(name).unlink()
    with pytest.raises(catalogue.ExerciseError, match=f"{name}: expected a file.*git checkout"):
        _ = exercise.cases(), exercise.starter, exercise.task


@pytest.mark.parametrize("text", ["1 / 0", "def case(:", "SHAPES = {}", "raise SystemError"])
def test_unreadable_cases_are_named_with_advice(text, tmp_path, monkeypatch):
    shutil.copytree(catalogue.find("guarded_map").folder, tmp_path / "01_here" / "guarded_map")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path))
    exercise = catalogue.find("guarded_map")
    exercise.folder.joinpath("cases.py").write_text(text)
    with pytest.raises(catalogue.ExerciseError, match=r"cases\.py: .*git checkout"):
        exercise.cases()


FAULTS = {
    "in case": 'SHAPES = {"a": (3,)}\ndef case(rng, n):\n    return [][n]\n',
    "no case": 'SHAPES = {"a": (3,)}\ndef case(rng, n):\n    pass\n',
    "no parameter": 'SHAPES = {"a": (3,)}\ndef case(rng):\n    pass\n',
    "no shapes": "SHAPES = {}\ndef case(rng, n):\n    pass\n",
    "no dict": "SHAPES = 3\ndef case(rng, n):\n    pass\n",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_cases_py_is_not_blamed_on_the_answer(fault, tmp_path, monkeypatch):
    shutil.copytree(catalogue.find("guarded_map").folder, tmp_path / "01_here" / "guarded_map")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path))
    exercise = catalogue.find("guarded_map")
    (exercise.folder / "cases.py").write_text(FAULTS[fault].replace('"a"', repr(exercise.measured)))
    with pytest.raises(catalogue.ExerciseError, match=r"cases\.py.*guarded_map.*not the cause"):
        exercise.cases()


def test_a_contract_on_an_unknown_case_is_a_fault_of_the_exercise(tmp_path, monkeypatch):
    shutil.copytree(catalogue.find("tiled_matmul").folder, tmp_path / "01_here" / "tiled_matmul")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path))
    file = catalogue.find("tiled_matmul").folder / "exercise.toml"
    file.write_text(file.read_text().replace('case = "many tiles"', 'case = "no tiles"'))
    with pytest.raises(catalogue.ExerciseError, match="SHAPES has no case 'no tiles'"):
        catalogue.find("tiled_matmul").cases()


HIDING = TOML.replace("[limits]", 'hidden = ["two"]\n[limits]')
CASES = 'SHAPES = {"one": (3,), "two": (4,)}\ndef case(rng, n):\n    pass\n'


@pytest.fixture
def hiding(shelf):
    """Return an exercise with two cases, of which the second is hidden."""
    (shelf / "exercise.toml").write_text(HIDING)
    (shelf / "cases.py").write_text(CASES)
    return catalogue.find("thing")


def test_a_hidden_case_is_no_shape_of_its_exercise(hiding):
    assert hiding.shapes == {"one": (3,)}


def test_a_hidden_case_counts_on_request(hiding):
    assert hiding.with_hidden_cases.shapes == {"one": (3,), "two": (4,)}


def test_a_hidden_case_that_is_measured_is_reported(shelf):
    (shelf / "exercise.toml").write_text(HIDING.replace('"two"', '"one"'))
    with pytest.raises(catalogue.ExerciseError, match="'one' is measured, so it cannot be hidden"):
        catalogue.find("thing")


def test_a_hidden_case_that_is_not_there_is_reported(shelf, hiding):
    exercise = dataclasses.replace(hiding, hidden=("three",))
    with pytest.raises(catalogue.ExerciseError, match="no case 'three', which is to be hidden"):
        _ = exercise.shapes


def test_a_missing_solution_is_named(shelf):
    with pytest.raises(catalogue.ExerciseError, match=r"solution\.py: expected a file"):
        _ = catalogue.find("thing").model


def test_a_students_copy_needs_no_solution(shelf):
    (shelf / "exercise.toml").write_text(f"released = true\n{TOML}")
    exercise = catalogue.find("thing")
    assert exercise.model is None
    assert exercise.mistakes == ()
    assert exercise.may_need_barrier


def test_the_nearest_exercises_are_none_where_no_folder_has_them(tmp_path):
    assert catalogue.nearest(tmp_path) is None


def test_an_exercise_without_hints_has_no_next_one(shelf):
    exercise = dataclasses.replace(catalogue.find("thing"), hints=())
    with pytest.raises(catalogue.ExerciseError, match="thing has no hints"):
        progress.next_hint(exercise)


def test_the_fault_of_a_file_is_told_without_advice_for_a_learner(shelf):
    (shelf / "cases.py").write_text("1 / 0")
    with pytest.raises(catalogue.ExerciseError) as raised:
        catalogue.find("thing").cases()
    file = shelf / "cases.py"
    assert raised.value.fault == f"{file}: ZeroDivisionError: division by zero."
