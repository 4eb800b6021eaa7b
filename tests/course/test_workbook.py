"""`gpukit start FOLDER`: a copy that belongs to the reader, and that updates renew."""

import json
import re
import shutil

import pytest

import gpukit
from gpukit import cli
from gpukit import files as output
from gpukit.course import catalogue, progress, workbook
from tests.notebooks import running

LESSON = workbook.FIRST_LESSON
SECOND = "notebooks/01_threads_blocks_grid.ipynb"
TASK = "exercises/01_threads_blocks_grid/brighten/task.md"


def write_lesson(path, *sources, **fields):
    """Write a notebook of code cells with these sources."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": source, **fields} for source in sources]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of the project with two lessons and two exercises, which tests may change."""
    project = tmp_path / "project"
    shelf = project / "exercises" / "01_threads_blocks_grid"
    for name in ("brighten", "guarded_map"):
        source = running.ROOT / "exercises" / shelf.name / name
        shutil.copytree(source, shelf / name, ignore=shutil.ignore_patterns("answer*"))
    shutil.copy(running.ROOT / "exercises" / "README.md", project / "exercises")
    (project / "notebooks").mkdir()
    for name in (LESSON, SECOND):
        write_lesson(project / name, "1 + 1", "2 + 2")
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def book(project, tmp_path):
    """A workbook of that project."""
    folder = tmp_path / "mine"
    workbook.start(folder, project)
    return folder


def files(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


# --- what is in it ---------------------------------------------------------------------------


def test_a_workbook_of_the_project_has_no_solutions_no_cases_and_no_hints(tmp_path):
    workbook.start(tmp_path / "mine", running.ROOT)
    names = {name.rpartition("/")[2] for name in files(tmp_path / "mine") if "exercises/" in name}
    assert names - {"answer.py", ".progress.json"} == {"README.md", "task.md", "starter.py"}


def test_a_workbook_of_the_project_has_all_its_lessons_and_exercises(tmp_path):
    workbook.start(tmp_path / "mine", running.ROOT)
    tasks = sorted(p.parent.name for p in (tmp_path / "mine").glob("exercises/*/*/task.md"))
    assert tasks == sorted(exercise.name for exercise in catalogue.every())
    assert {p.name for p in (tmp_path / "mine" / "notebooks").iterdir()} == {
        p.name for p in running.NOTEBOOKS
    }


def test_links_in_a_workbook_lead_to_files(tmp_path):
    workbook.start(tmp_path / "mine", running.ROOT)
    dead = []
    for path in [*(tmp_path / "mine").rglob("*.md"), *(tmp_path / "mine").rglob("*.ipynb")]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join(cell.source for cell in running.text_cells(running.read(path)))
        text = re.sub(r"`[^`\n]*`", "", text)
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        dead += [(path.name, link) for link in links if not (path.parent / link).exists()]
    assert dead == []


def test_the_folder_of_kernels_to_read_does_not_hide_the_package(book, fresh_python):
    done = fresh_python("-c", "import gpukit; print(gpukit.__file__)", folder=book)
    assert done.stdout.strip() == gpukit.__file__


def test_answers_that_the_reader_has_in_the_project_are_copied(project, tmp_path):
    answer = project / "exercises/01_threads_blocks_grid/brighten/answer.py"
    answer.write_text("# mine\n")
    changes = workbook.start(tmp_path / "mine", project)
    assert changes.answers == [answer.relative_to(project).as_posix()]
    assert (tmp_path / "mine" / changes.answers[0]).read_text() == "# mine\n"


# --- where answers are -----------------------------------------------------------------------


def test_answers_are_kept_in_the_workbook_around_this_place(book, monkeypatch):
    monkeypatch.chdir(book / "notebooks")
    exercise = catalogue.find("brighten")
    progress.record(exercise, "right")
    assert exercise.answer == book / "exercises/01_threads_blocks_grid/brighten/answer.py"
    assert (book / "exercises" / progress.FILE).exists()


def test_exercises_are_read_from_the_project_that_the_package_is_in(book, monkeypatch):
    monkeypatch.chdir(book)
    assert catalogue.find("brighten").folder.parents[2] == running.ROOT


def test_in_the_project_answers_are_kept_in_the_workbook_that_make_lab_makes(project):
    workbook.start(project / workbook.USUAL, project)
    exercise = catalogue.find("brighten")
    assert exercise.place == project / "workbook/exercises/01_threads_blocks_grid/brighten"
    assert exercise.task == exercise.place / "task.md"


def test_the_first_test_in_a_workbook_makes_the_answer_there(book, monkeypatch, capsys):
    monkeypatch.chdir(book)
    shutil.rmtree(book / "exercises/01_threads_blocks_grid/brighten")
    assert cli.main(["test", "brighten"]) == 1
    assert (book / "exercises/01_threads_blocks_grid/brighten/answer.py").exists()


def test_the_exercise_that_is_worked_on_in_a_folder_is_known(book, monkeypatch):
    monkeypatch.chdir(book)
    exercise = catalogue.find("brighten")
    assert catalogue.worked_on_in(exercise.place) == exercise
    assert catalogue.worked_on_in(exercise.folder) == exercise
    assert catalogue.worked_on_in(book) is None


# --- updates ---------------------------------------------------------------------------------


def test_an_update_renews_what_the_reader_has_not_changed(project, book):
    write_lesson(project / LESSON, "1 + 1", "3 + 3")
    (project / TASK).write_text("# Brighter\n")
    changes = workbook.update(book, project)
    assert sorted(changes.renewed) == [TASK, LESSON]
    assert (book / LESSON).read_bytes() == (project / LESSON).read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"source": "my own line"},
        {"outputs": [{"output_type": "stream", "name": "stdout", "text": "2\n"}]},
        {"metadata": {"tags": ["mine"]}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_update_leaves_a_lesson_that_the_reader_has_changed_or_run(project, book, change):
    write_lesson(book / LESSON, *[change.pop("source", "1 + 1"), "2 + 2"], **change)
    mine = (book / LESSON).read_bytes()
    write_lesson(project / LESSON, "1 + 1", "3 + 3")
    changes = workbook.update(book, project)
    assert (book / LESSON).read_bytes() == mine
    assert (changes.renewed, changes.left) == ([], [LESSON])


def test_a_lesson_that_was_only_opened_is_renewed(project, book):
    opened = json.loads((book / LESSON).read_text())
    opened["metadata"] = {"language_info": {"name": "python", "version": "3.11.2"}}
    (book / LESSON).write_text(json.dumps(opened))
    write_lesson(project / LESSON, "3 + 3")
    assert workbook.update(book, project).renewed == [LESSON]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{}]}', '"\udcff"'])
@pytest.mark.costly
def test_a_lesson_that_is_no_notebook_any_more_is_the_readers(project, book, text):
    (book / LESSON).write_bytes(text.encode(errors="surrogateescape"))
    write_lesson(project / LESSON, "3 + 3")
    assert workbook.update(book, project).left == [LESSON]


def test_what_was_left_alone_is_named_until_it_is_renewed(project, book, capsys):
    write_lesson(book / LESSON, "mine")
    write_lesson(project / LESSON, "3 + 3")
    for _ in range(2):
        assert cli.main(["start", "--update", str(book)]) == 0
        assert f"  {LESSON}\nTo get it beside yours: rename yours" in capsys.readouterr().out
    (book / LESSON).rename(book / "notebooks/00_mine.ipynb")
    assert workbook.update(book, project).added == [LESSON]
    assert "mine" in (book / "notebooks/00_mine.ipynb").read_text()


def test_a_changed_file_without_a_new_version_is_not_mentioned(project, book, capsys):
    write_lesson(book / LESSON, "mine")
    cli.main(["start", "--update", str(book)])
    assert capsys.readouterr().out == f"Your workbook {book}: nothing new.\n"


def test_a_file_of_the_readers_own_where_a_new_one_would_be_is_left(project, book):
    new = "notebooks/02_latency_and_throughput.ipynb"
    write_lesson(project / new, "5 + 5")
    write_lesson(book / new, "mine")
    changes = workbook.update(book, project)
    assert (changes.added, changes.left) == ([], [new])


def test_a_file_that_is_no_longer_part_of_the_book_is_named_and_stays(project, book, capsys):
    (project / SECOND).unlink()
    cli.main(["start", "--update", str(book)])
    assert f"No longer part of the book; yours to keep or to delete:\n  {SECOND}\n" in (
        capsys.readouterr().out
    )
    assert (book / SECOND).exists()


@pytest.mark.parametrize(("options", "told"), [([], True), (["--opened"], False)])
def test_how_to_open_a_new_workbook_is_told_unless_make_opens_it(
    options, told, project, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(project / "exercises"))
    assert cli.main(["start", *options, str(tmp_path / "new")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Made your workbook")
    assert ("Open it: " in shown) is told


def test_how_to_open_a_workbook_is_told_when_a_second_run_completes_it(project, book, capsys):
    (book / SECOND).unlink()
    capsys.readouterr()
    assert cli.main(["start", str(book)]) == 0
    shown = capsys.readouterr().out
    assert "Added 1 file." in shown
    assert f"Open it: cd {book}, then " in shown


def test_starting_again_renews_nothing_and_says_how_to(project, book, capsys):
    write_lesson(project / LESSON, "3 + 3")
    before = (book / LESSON).read_bytes()
    assert cli.main(["start", str(book)]) == 0
    assert f"To get them: gpukit start --update {book}" in capsys.readouterr().out
    assert (book / LESSON).read_bytes() == before


def test_a_link_that_the_reader_has_put_in_the_place_of_a_file_is_left(project, book, tmp_path):
    elsewhere = (book / LESSON).rename(tmp_path / "elsewhere.ipynb")
    (book / LESSON).symlink_to(elsewhere)
    write_lesson(project / LESSON, "3 + 3")
    assert workbook.update(book, project).left == [LESSON]
    assert (book / LESSON).is_symlink()


def test_json_names_every_file(project, book, capsys):
    write_lesson(project / LESSON, "3 + 3")
    assert cli.main(["start", "--update", str(book), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["renewed"] == [LESSON]


# --- a kill in the middle --------------------------------------------------------------------

KILLED = """
import os, pathlib, sys
from gpukit.course import workbook
left, do = int(sys.argv[1]), getattr(workbook, sys.argv[2])
really = pathlib.Path.replace
def replace(self, to):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return really(self, to)
pathlib.Path.replace = replace
do(pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]))
"""


@pytest.mark.parametrize("written", [0, 1, 2, 40])
@pytest.mark.costly
def test_a_start_that_was_killed_is_completed_by_the_next(project, tmp_path, fresh_python, written):
    mine, whole = tmp_path / "mine", tmp_path / "whole"
    done = fresh_python("-c", KILLED, str(written), "start", str(mine), str(project))
    assert done.returncode == 9, done.stderr
    assert cli.main(["start", str(mine)]) == 0
    workbook.start(whole, project)
    assert files(mine) == files(whole)


@pytest.mark.parametrize("written", [1, 2])
def test_after_an_update_that_was_killed_the_next_renews_the_rest(
    project, book, fresh_python, written
):
    write_lesson(book / SECOND, "mine")
    for name in (LESSON, SECOND, TASK):
        write_lesson(project / name, "3 + 3")
    done = fresh_python("-c", KILLED, str(written), "update", str(book), str(project))
    assert done.returncode == 9, done.stderr
    for name in (LESSON, SECOND, TASK):
        write_lesson(project / name, "4 + 4")  # and a still newer version is out
    changes = workbook.update(book, project)
    assert (sorted(changes.renewed), changes.left) == ([TASK, LESSON], [SECOND])


# --- folders that cannot be one --------------------------------------------------------------


def refused(capsys, *arguments):
    """Return the exit code and the one paragraph of an error."""
    code = cli.main(["start", *map(str, arguments)])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return code, shown.err


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(project, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/thesis.tex").write_text("x")
    code, words = refused(capsys, tmp_path / "thesis")
    assert (code, "such as thesis.tex" in words) == (2, True)
    assert files(tmp_path / "thesis") == {"thesis.tex"}


def test_the_project_itself_is_refused(project, capsys):
    code, words = refused(capsys, project)
    assert (code, "Choose another name" in words) == (2, True)


def test_a_file_in_the_place_of_the_folder_is_refused(project, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    for options in ([], ["--update"]):
        code, words = refused(capsys, *options, tmp_path / "file")
        assert (code, f"{tmp_path / 'file'}, a file" in words) == (2, True)


@pytest.mark.parametrize("made", [False, True])
def test_an_update_of_what_is_no_workbook_says_how_to_make_one(project, tmp_path, capsys, made):
    if made:
        (tmp_path / "other").mkdir()
    code, words = refused(capsys, "--update", tmp_path / "other")
    assert (code, f"To make one: gpukit start {tmp_path / 'other'}" in words) == (2, True)


def test_a_file_in_the_way_of_a_folder_is_named_and_nothing_written(project, book, capsys):
    shutil.rmtree(book / "exercises/01_threads_blocks_grid")
    (book / "exercises/01_threads_blocks_grid").write_text("mine")
    before = files(book)
    write_lesson(project / LESSON, "3 + 3")
    code, words = refused(capsys, "--update", book)
    assert (code, "expected a folder, got a file" in words) == (2, True)
    assert files(book) == before
    assert (book / LESSON).read_bytes() != (project / LESSON).read_bytes()


def test_a_folder_in_the_way_of_a_file_is_named(project, book, capsys):
    (book / LESSON).unlink()
    (book / LESSON).mkdir()
    code, words = refused(capsys, "--update", book)
    assert (code, f"expected a file, got a folder: {book / LESSON}" in words) == (2, True)


@pytest.mark.parametrize("newer", [{"format": 99}, {"version": "99.0.0"}])
def test_a_workbook_of_a_newer_gpukit_is_refused(project, book, capsys, newer):
    manifest = json.loads((book / workbook.MANIFEST).read_text())
    (book / workbook.MANIFEST).write_text(json.dumps(manifest | newer))
    code, words = refused(capsys, "--update", book)
    assert (code, "git pull" in words) == (2, True)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1, "version": "0", "files": 3}'])
@pytest.mark.costly
def test_a_manifest_that_cannot_be_read_is_named(project, book, capsys, text):
    (book / workbook.MANIFEST).write_text(text)
    code, words = refused(capsys, "--update", book)
    assert (code, workbook.MANIFEST in words, "another folder" in words) == (2, True, True)


def test_without_lessons_the_place_where_they_should_be_is_named(project, tmp_path, capsys):
    shutil.rmtree(project / "notebooks")
    code, words = refused(capsys, tmp_path / "mine")
    assert (code, str(project / "notebooks") in words) == (2, True)
    assert not (tmp_path / "mine").exists()


def test_exercises_named_by_the_environment_must_be_there(project, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path / "nowhere"))
    code, words = refused(capsys, tmp_path / "mine")
    assert (code, str(tmp_path / "nowhere") in words) == (2, True)


@pytest.mark.parametrize("refused_call", ["mkdir", "open", "read_bytes", "replace"])
def test_a_folder_without_permission_is_the_machines_fault(
    project, book, capsys, monkeypatch, refused_call
):
    before = {name: (book / name).read_bytes() for name in files(book)}
    really = getattr(workbook.Path, refused_call)

    def refuse(path, *arguments, **options):
        if path == book or book in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, *arguments, **options)

    write_lesson(project / LESSON, "3 + 3")
    with monkeypatch.context() as patch:
        patch.setattr(workbook.Path, refused_call, refuse)
        code, words = refused(capsys, "--update", book)
    assert (code, f"{book}" in words, "permission denied" in words.lower()) == (3, True, True)
    assert {name: (book / name).read_bytes() for name in files(book)} == before


def test_a_full_disk_is_the_machines_fault_and_loses_nothing(project, book, capsys, monkeypatch):
    before = {name: (book / name).read_bytes() for name in files(book)}
    write_lesson(project / LESSON, "3 + 3")

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.os, "fsync", full)
    code, words = refused(capsys, "--update", book)
    assert (code, "no space left on device" in words) == (3, True)
    assert {name: (book / name).read_bytes() for name in files(book)} == before
