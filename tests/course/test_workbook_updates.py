"""`gpukit start --update`: files that are updated, and files of the reader that are kept."""

import json
from pathlib import Path

import pytest

from gpukit import cli
from gpukit.course import workbook
from tests.course.workbooks import LESSON, SECOND, TASK, files, write_lesson


def test_an_update_replaces_unmodified_files(project, book):
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
def test_an_update_keeps_a_lesson_that_was_modified_or_run(project, book, change):
    write_lesson(book / LESSON, *[change.pop("source", "1 + 1"), "2 + 2"], **change)
    mine = (book / LESSON).read_bytes()
    write_lesson(project / LESSON, "1 + 1", "3 + 3")
    changes = workbook.update(book, project)
    assert (book / LESSON).read_bytes() == mine
    assert (changes.renewed, changes.left) == ([], [LESSON])


def test_a_lesson_that_was_only_opened_is_updated(project, book):
    opened = json.loads((book / LESSON).read_text())
    opened["metadata"] = {"language_info": {"name": "python", "version": "3.11.2"}}
    (book / LESSON).write_text(json.dumps(opened))
    write_lesson(project / LESSON, "3 + 3")
    assert workbook.update(book, project).renewed == [LESSON]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{}]}', '"\udcff"'])
@pytest.mark.costly
def test_a_lesson_that_is_no_longer_a_valid_notebook_is_kept(project, book, text):
    (book / LESSON).write_bytes(text.encode(errors="surrogateescape"))
    write_lesson(project / LESSON, "3 + 3")
    assert workbook.update(book, project).left == [LESSON]


def test_skipped_updates_are_listed_until_they_are_applied(project, book, capsys):
    write_lesson(book / LESSON, "mine")
    write_lesson(project / LESSON, "3 + 3")
    for _ in range(2):
        assert cli.main(["start", "--update", str(book)]) == 0
        shown = capsys.readouterr().out
        assert "nothing new" not in shown
        assert f"  {LESSON}\nTo get the new version too, rename yours" in shown
        assert shown.endswith(f" and run:\n  gpukit start --update {book}\n")
    (book / LESSON).rename(book / "notebooks/00_mine.ipynb")
    assert workbook.update(book, project).added == [LESSON]
    assert "mine" in (book / "notebooks/00_mine.ipynb").read_text()


def test_a_modified_file_without_a_new_version_is_not_listed(project, book, capsys):
    write_lesson(book / LESSON, "mine")
    cli.main(["start", "--update", str(book)])
    assert capsys.readouterr().out == f"Your workbook, {book}: nothing new.\n"


@pytest.mark.parametrize(
    ("folder", "command"),
    [("workbook", "make lab"), ("../my book", "make lab WORKBOOK='../my book'")],
)
def test_make_lab_names_itself_as_the_way_to_get_a_new_version(
    project, capsys, monkeypatch, folder, command
):
    workbook.start(Path(folder), project)
    write_lesson(Path(folder) / LESSON, "mine")
    write_lesson(project / LESSON, "3 + 3")
    cli.main(["start", "--opened", "--update", folder])
    assert capsys.readouterr().out.endswith(f"rename yours and run:\n  {command}\n")


def test_a_user_file_at_the_path_of_a_new_file_is_kept(project, book):
    new = "notebooks/02_latency_and_throughput.ipynb"
    write_lesson(project / new, "5 + 5")
    write_lesson(book / new, "mine")
    changes = workbook.update(book, project)
    assert (changes.added, changes.left) == ([], [new])


def test_a_file_removed_from_the_book_is_listed_and_kept(project, book, capsys):
    (project / SECOND).unlink()
    cli.main(["start", "--update", str(book)])
    assert f"These are no longer part of the book; keep or delete them:\n  {SECOND}\n" in (
        capsys.readouterr().out
    )
    assert (book / SECOND).exists()
    (book / SECOND).unlink()
    cli.main(["start", "--update", str(book)])
    assert "no longer part of the book" not in capsys.readouterr().out


@pytest.mark.parametrize(("options", "expected"), [([], True), (["--opened"], False)])
def test_start_says_how_to_open_a_new_workbook_unless_make_opens_it(
    options, expected, project, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(project / "exercises"))
    assert cli.main(["start", *options, str(tmp_path / "new")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Created your workbook")
    assert ("Open it: " in shown) is expected


def test_a_second_run_that_completes_a_workbook_says_how_to_open_it(project, book, capsys):
    (book / SECOND).unlink()
    capsys.readouterr()
    assert cli.main(["start", str(book)]) == 0
    shown = capsys.readouterr().out
    assert f"Your workbook, {book}: added 1 file.\n" in shown
    assert f"Open it: cd {book}, then " in shown


def test_starting_again_updates_nothing_and_says_how_to_update(project, book, capsys):
    write_lesson(project / LESSON, "3 + 3")
    before = (book / LESSON).read_bytes()
    assert cli.main(["start", str(book)]) == 0
    assert f"To get them: gpukit start --update {book}" in capsys.readouterr().out
    assert (book / LESSON).read_bytes() == before


def test_a_symlink_in_place_of_a_file_is_kept(project, book, tmp_path):
    elsewhere = (book / LESSON).rename(tmp_path / "elsewhere.ipynb")
    (book / LESSON).symlink_to(elsewhere)
    write_lesson(project / LESSON, "3 + 3")
    assert workbook.update(book, project).left == [LESSON]
    assert (book / LESSON).is_symlink()


def test_json_names_every_file(project, book, capsys):
    write_lesson(project / LESSON, "3 + 3")
    assert cli.main(["start", "--update", str(book), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["renewed"] == [LESSON]


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
def test_a_killed_start_is_completed_by_the_next(project, tmp_path, fresh_python, written):
    mine, whole = tmp_path / "mine", tmp_path / "whole"
    done = fresh_python("-c", KILLED, str(written), "start", str(mine), str(project))
    assert done.returncode == 9, done.stderr
    assert cli.main(["start", str(mine)]) == 0
    workbook.start(whole, project)
    assert files(mine) == files(whole)


@pytest.mark.parametrize("written", [1, 2])
def test_a_killed_update_is_completed_by_the_next(project, book, fresh_python, written):
    write_lesson(book / SECOND, "mine")
    for name in (LESSON, SECOND, TASK):
        write_lesson(project / name, "3 + 3")
    done = fresh_python("-c", KILLED, str(written), "update", str(book), str(project))
    assert done.returncode == 9, done.stderr
    for name in (LESSON, SECOND, TASK):
        write_lesson(project / name, "4 + 4")  # an even newer version
    changes = workbook.update(book, project)
    assert (sorted(changes.renewed), changes.left) == ([TASK, LESSON], [SECOND])
