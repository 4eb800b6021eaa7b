"""`%%exercise NAME` in a notebook: grades the cell in place, like `gpukit test`."""

import re

import pytest

from gpukit import cli
from gpukit.course import catalogue, progress, runner
from tests.course.maps import CELL

STARTER = """@cuda.jit
def fahrenheit_kernel(celsius, fahrenheit):
    \"\"\"Write celsius[i] * 1.8 + 32 to fahrenheit[i].\"\"\"
    # FILL ME IN (about 3 lines)
"""
TAPE = catalogue.find("tape")
TAPE_CELL = TAPE.solution.read_text().partition("import math\n")[2]  # without its imports
UNGUARDED = CELL.replace("    if i < celsius.shape[0]:\n    ", "")


def graded(shell, cell):
    return shell.run_cell_magic("exercise", "guarded_map", cell)


@pytest.mark.slow
def test_a_right_cell_is_recorded(shell):
    assert "Right: 10 of 10 points." in repr(graded(shell, CELL))
    assert progress.state(catalogue.find("guarded_map")) == "right"


def test_the_kernel_can_be_used_in_other_cells(shell):
    graded(shell, CELL)
    assert shell.user_ns["fahrenheit_kernel"].py_func.__name__ == "fahrenheit_kernel"


def test_lines_are_numbered_as_in_the_cell(shell):
    shown = repr(graded(shell, UNGUARDED))
    assert "> 5 | fahrenheit[i] =" in " ".join(shown.split())


@pytest.mark.slow
def test_a_cell_whose_change_was_undone_is_not_run_in_the_notebook(shell):
    task = catalogue.find("guarded_map").folder / "task.md"
    before = task.read_bytes()
    cell = f"import pathlib\npathlib.Path({str(task)!r}).write_text('')\n{CELL}"
    shown = repr(graded(shell, cell))
    assert "That change was undone." in shown
    assert "The cell was not run in the notebook" in shown
    assert task.read_bytes() == before


def test_the_starter_is_not_attempted_yet(shell):
    shown = repr(graded(shell, STARTER))
    assert "Not attempted yet: fahrenheit_kernel has no code of yours." in shown


@pytest.mark.parametrize("cell", ["def fahrenheit_kernel(:\n", STARTER])
def test_messages_about_a_cell_do_not_mention_a_file(cell, shell):
    assert ".py" not in repr(graded(shell, cell))


def test_long_lines_break_between_words(shell):
    """Lab itself breaks lines within words."""
    assert "word-break: normal" in graded(shell, STARTER)._repr_html_()


def test_hints_are_nested_details(shell):
    shown = graded(shell, STARTER)._repr_html_()
    assert shown.count("<details>") == 3
    assert shown.index("Hint 1") < shown.index("Hint 2") < shown.index("Hint 3")


def test_a_syntax_error_is_explained_and_the_cell_is_not_run(shell):
    shown = repr(graded(shell, "def fahrenheit_kernel(:\n"))
    assert "Python cannot read this line" in shown
    assert "fahrenheit_kernel" not in shell.user_ns


@pytest.mark.parametrize("line", ["while True: pass", "import os; os._exit(3)"])
@pytest.mark.slow
def test_a_cell_that_hangs_or_crashes_is_not_run_in_the_notebook(line, shell, monkeypatch):
    monkeypatch.setattr(runner, "START_SECONDS", 10.0)
    shown = repr(graded(shell, f"before = 1\n{line}\n{CELL}"))
    assert "The cell was not run in the notebook" in shown
    assert "before" not in shell.user_ns


def test_hints_come_one_at_a_time(shell):
    shown = [shell.run_line_magic("exercise", "hint guarded_map").text[:11] for _ in range(4)]
    assert shown == ["**Hint 1 of", "**Hint 2 of", "**Hint 3 of", "**Hint 3 of"]


def test_the_hint_on_the_last_failure_comes_first(shell):
    folded = graded(shell, UNGUARDED)._repr_html_()
    titles = [
        "Hint 2 of 3, which fits your last result",
        "Hint 1 of 3, which was skipped",
        "Hint 3 of 3",
    ]
    assert re.findall("<summary>(.*?)</summary>", folded) == titles
    shown = [shell.run_line_magic("exercise", "hint guarded_map").text for _ in range(4)]
    assert [text.split(".**")[0] for text in shown] == [f"**{t}" for t in [*titles, titles[-1]]]


def test_play_shows_the_failing_case(shell):
    graded(shell, CELL.replace("cuda.grid(1)", "cuda.threadIdx.x"))
    played = shell.run_line_magic("exercise", "play guarded_map")
    assert hasattr(played, "_repr_html_")


def test_the_task_is_shown(shell):
    assert shell.run_line_magic("exercise", "guarded_map").text.startswith("# ")


def test_a_misspelt_name_gives_a_one_line_error(shell, capsys):
    shell.run_cell("%exercise garded_map")
    (shown,) = capsys.readouterr().out.strip().splitlines()
    assert shown.startswith("ExerciseError: ")
    assert "guarded_map" in shown


def test_an_unknown_option_lists_the_known_ones(shell):
    with pytest.raises(catalogue.ExerciseError, match="hint NAME"):
        shell.run_line_magic("exercise", "dance guarded_map")


def test_a_cell_of_host_code_is_graded(shell):
    report = shell.run_cell_magic("exercise", "tape", TAPE_CELL)
    assert f"Right: {TAPE.points} of {TAPE.points} points." in repr(report)


def test_host_code_is_not_played(shell):
    with pytest.raises(catalogue.ExerciseError, match="whose answer is host code"):
        shell.run_line_magic("exercise", "play tape")


# --- a cell is an answer ---------------------------------------------------------------------


@pytest.mark.slow
def test_the_terminal_grades_the_cell_that_was_run(shell, capsys):
    graded(shell, CELL)
    assert cli.main(["test", "guarded_map"]) == 0
    assert "Right: 10 of 10 points." in capsys.readouterr().out


def test_a_wrong_cell_is_listed_as_started(shell):
    graded(shell, UNGUARDED)
    assert progress.state(catalogue.find("guarded_map")) == "started"


def test_an_untouched_cell_does_not_replace_an_answer(shell):
    exercise = catalogue.find("guarded_map")
    exercise.answer.write_text("# mine\n")
    graded(shell, STARTER)
    assert exercise.answer.read_text() == "# mine\n"


def test_an_answer_file_replaced_by_a_cell_is_backed_up(shell):
    exercise = catalogue.find("guarded_map")
    exercise.answer.write_text("# mine\n")
    assert "is kept as answer.old1.py" in repr(graded(shell, UNGUARDED))
    assert exercise.answer.with_name("answer.old1.py").read_text() == "# mine\n"


def test_a_cell_is_graded_when_its_answer_cannot_be_saved(shell, monkeypatch):
    def refuse(exercise, content):
        raise PermissionError(13, "Permission denied", str(exercise.answer))

    monkeypatch.setattr(progress, "write_answer", refuse)
    shown = repr(graded(shell, CELL))
    assert "Right: 10 of 10 points." in shown
    assert "could not be saved as your answer: [Errno 13] Permission denied" in shown
