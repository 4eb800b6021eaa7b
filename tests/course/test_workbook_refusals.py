"""Folders that cannot become a workbook, and workbooks that cannot be updated."""

import json
import shutil

import pytest

from gpukit import cli
from gpukit.course import workbook
from tests.course.workbooks import LESSON, files, write_lesson


def refused(capsys, *arguments):
    """Return the exit code and the single paragraph of an error."""
    code = cli.main(["start", *map(str, arguments)])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return code, shown.err


def test_a_folder_with_other_files_is_rejected_unchanged(project, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/thesis.tex").write_text("x")
    code, words = refused(capsys, tmp_path / "thesis")
    assert (code, "such as thesis.tex" in words) == (2, True)
    assert files(tmp_path / "thesis") == {"thesis.tex"}


def test_the_project_folder_is_rejected(project, capsys):
    code, words = refused(capsys, project)
    assert (code, "Choose another name" in words) == (2, True)


def test_a_file_at_the_path_of_the_folder_is_rejected(project, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    for options in ([], ["--update"]):
        code, words = refused(capsys, *options, tmp_path / "file")
        assert (code, f"{tmp_path / 'file'}, a file" in words) == (2, True)


@pytest.mark.parametrize("exists", [False, True])
def test_an_update_outside_a_workbook_says_how_to_make_one(project, tmp_path, capsys, exists):
    if exists:
        (tmp_path / "other").mkdir()
    code, words = refused(capsys, "--update", tmp_path / "other")
    assert (code, f"To create one: gpukit start {tmp_path / 'other'}" in words) == (2, True)


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
def test_a_workbook_of_a_newer_gpukit_is_rejected(project, book, capsys, newer):
    manifest = json.loads((book / workbook.MANIFEST).read_text())
    (book / workbook.MANIFEST).write_text(json.dumps(manifest | newer))
    code, words = refused(capsys, "--update", book)
    assert (code, "git pull" in words) == (2, True)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1, "version": "0", "files": 3}'])
@pytest.mark.costly
def test_an_unreadable_manifest_is_named(project, book, capsys, text):
    (book / workbook.MANIFEST).write_text(text)
    code, words = refused(capsys, "--update", book)
    assert (code, workbook.MANIFEST in words, "another folder" in words) == (2, True, True)


def test_missing_lessons_are_reported_with_the_expected_path(project, tmp_path, capsys):
    shutil.rmtree(project / "notebooks")
    code, words = refused(capsys, tmp_path / "mine")
    assert (code, str(project / "notebooks") in words) == (2, True)
    assert not (tmp_path / "mine").exists()


def test_the_exercises_folder_from_the_environment_must_exist(
    project, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path / "nowhere"))
    code, words = refused(capsys, tmp_path / "mine")
    assert (code, str(tmp_path / "nowhere") in words) == (2, True)


@pytest.mark.parametrize("refused_call", ["mkdir", "open", "read_bytes", "replace"])
def test_a_folder_without_permission_exits_with_the_environment_code(
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
