"""Answers in cells: saved as the learner's file, found in notebooks, never lost."""

import json
import os
import shutil

import pytest

from gpukit import cli
from gpukit.course import catalogue, cells, progress, workbook
from tests.notebooks import running

NAME = "guarded_map"
SOLUTION = running.code_of(NAME, "solution") + "\n"
STARTER = running.code_of(NAME, "starter") + "\n"
WRONG = SOLUTION.replace("np.float32(32)", "np.float32(23)")
MAGIC = f"%%exercise {NAME}\n"


def write_notebook(path, *sources):
    """Write a notebook with these code cells, as Lab saves it, with sources as lists of lines."""
    cells = [
        {"cell_type": "code", "metadata": {}, "source": source.splitlines(keepends=True)}
        for source in sources
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    return path


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Make a workbook of the project."""
    project = tmp_path / "project"
    for name in (NAME, "detective_missing_pixels", "tape"):
        (source,) = running.ROOT.glob(f"exercises/*/{name}")
        shutil.copytree(
            source,
            project / source.relative_to(running.ROOT),
            ignore=shutil.ignore_patterns("answer*"),
        )
    (project / "notebooks").mkdir()
    for page in workbook.PAGES:
        shutil.copy(running.ROOT / page, project / page)
    write_notebook(project / workbook.FIRST_LESSON, MAGIC + STARTER)
    monkeypatch.setenv("GPUKIT_EXERCISES", str(project / "exercises"))
    workbook.start(tmp_path / "mine", project)
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def exercise(book):
    return catalogue.find(NAME)


def kept(exercise):
    """Return the files in the folder of the answer, by name."""
    return {p.name: p.read_text() for p in exercise.place.glob("answer*")}


# --- one answer ------------------------------------------------------------------------------


def test_saved_cell_keeps_its_line_numbers(exercise):
    cells.keep(exercise, SOLUTION)
    assert exercise.answer.read_text().splitlines()[1:] == SOLUTION.splitlines()


def test_a_rerun_cell_replaces_the_saved_one(exercise):
    for cell in (WRONG, SOLUTION):
        assert cells.keep(exercise, cell) is None
    assert list(kept(exercise)) == ["answer.py"]
    assert cells.holds_a_cell(exercise.answer)


@pytest.mark.parametrize(
    "mine", ["# mine\n", "", "\udcff", "import math  # a cell of a notebook\n"]
)
def test_an_answer_not_saved_by_a_cell_is_set_aside(exercise, mine):
    exercise.answer.write_bytes(mine.encode(errors="surrogateescape"))
    aside = cells.keep(exercise, SOLUTION)
    assert aside.read_bytes() == mine.encode(errors="surrogateescape")


def test_a_saved_cell_that_was_edited_is_set_aside(exercise):
    cells.keep(exercise, WRONG)
    edited = exercise.answer.read_text() + "# and better\n"
    exercise.answer.write_text(edited)
    assert cells.keep(exercise, SOLUTION).read_text() == edited


def test_an_untouched_starter_is_replaced(exercise):
    progress.begin(exercise)
    assert cells.keep(exercise, SOLUTION) is None


@pytest.mark.parametrize("name", [NAME, "detective_missing_pixels", "tape"])
def test_the_solution_counts_as_an_attempt_and_the_starter_does_not(book, name):
    exercise = catalogue.find(name)
    texts = exercise.starter.read_text(), exercise.solution.read_text()
    assert [cells.is_attempted(exercise, text) for text in texts] == [False, True]


def test_a_changed_constant_of_the_starter_counts_as_an_attempt():
    exercise = catalogue.find("detective_quarter_tile")
    starter = exercise.starter.read_text()
    assert cells.is_attempted(exercise, starter.replace("PITCH = TILE", "PITCH = TILE + 1"))
    assert not cells.is_attempted(exercise, f"{starter}\nn = 5\n")


def test_invalid_python_counts_as_an_attempt(exercise):
    assert cells.is_attempted(exercise, "def (:\n")


# --- saved notebooks -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_notebook_is_graded_by_its_cell(book, exercise, capsys):
    file = write_notebook(book / "mine.ipynb", "1 + 1", MAGIC + SOLUTION)
    assert cli.main(["test", NAME, "--file", str(file)]) == 0
    assert "mine.ipynb" in capsys.readouterr().out
    assert progress.state(exercise) == "new"


@pytest.mark.parametrize(
    "sources",
    [
        [MAGIC + WRONG, MAGIC + SOLUTION],
        [MAGIC + SOLUTION, MAGIC + STARTER],
        ["\n" + MAGIC + SOLUTION],
        [f"%%exercise  01_threads_blocks_grid/{NAME} \n" + SOLUTION],
        [MAGIC + SOLUTION, "%%exercise zip_add\n" + WRONG, "%exercise hint guarded_map"],
    ],
)
@pytest.mark.costly
def test_the_last_cell_that_was_attempted_counts(book, exercise, sources):
    with cells.file_of(exercise, write_notebook(book / "mine.ipynb", *sources)) as file:
        assert file.read_text().partition("\n")[2] == SOLUTION


def test_a_notebook_without_the_exercise_says_which_cell_is_missing(book, capsys):
    file = write_notebook(book / "mine.ipynb", "%%exercise zip_add\n")
    assert cli.main(["test", NAME, "--file", str(file)]) == 2
    assert f"a cell that begins with %%exercise {NAME}" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cells": [{}]}', '{"cells": [3]}', "\0"])
@pytest.mark.costly
def test_a_file_that_is_no_notebook_is_rejected(book, capsys, text):
    (book / "mine.ipynb").write_text(text)
    assert cli.main(["test", NAME, "--file", "mine.ipynb"]) == 2
    assert "mine.ipynb: expected a notebook, got another file" in capsys.readouterr().err


def test_a_missing_notebook_is_rejected(book, capsys):
    assert cli.main(["test", NAME, "--file", "none.ipynb"]) == 2
    assert "none.ipynb: expected a notebook to test, got: No such file" in capsys.readouterr().err


@pytest.mark.slow
def test_a_saved_cell_that_was_not_run_becomes_the_answer(book, exercise, capsys):
    write_notebook(book / workbook.FIRST_LESSON, MAGIC + SOLUTION)
    assert cli.main(["test", NAME]) == 0
    assert f"Your answer is the cell in {workbook.FIRST_LESSON}" in capsys.readouterr().out
    assert progress.state(exercise) == "right"


def test_the_most_recently_saved_notebook_counts(book, exercise):
    for age, name in enumerate(("b", "a", "c")):
        file = write_notebook(book / f"notebooks/{name}.ipynb", MAGIC + f"# {name}\n" + SOLUTION)
        os.utime(file, (10**9 - age, 10**9 - age))
    assert cells.find(exercise)[0].name == "b.ipynb"


def test_reset_restores_the_starter_and_says_that_the_cell_remains(book, exercise, capsys):
    write_notebook(book / workbook.FIRST_LESSON, MAGIC + SOLUTION)
    cells.keep(exercise, SOLUTION)
    progress.record(exercise, "right")
    assert cli.main(["reset", NAME]) == 0
    assert "The cell in your notebook stays" in capsys.readouterr().out
    assert SOLUTION in kept(exercise)["answer.old1.py"]
    assert cli.main(["test", NAME]) == 1
    assert "Not attempted yet" in capsys.readouterr().out
