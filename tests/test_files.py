"""Output files are written atomically, or an error says in one sentence why they cannot be."""

import contextlib
import errno
import os
from pathlib import Path

import pytest

from gpukit import errors, files


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("old")
    with contextlib.suppress(ZeroDivisionError), files.whole(file) as unfinished:
        unfinished.write(b"new")
        1 / 0
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("answer.py", "old")]


def test_writing_through_a_symbolic_link_keeps_the_link(tmp_path):
    (tmp_path / "real").write_text("old")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    files.write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_a_device_file_is_written_to_in_place():
    files.check("/dev/null")
    files.write("/dev/null", "anything")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "Make room on its disk, or name another."),
        (errno.EACCES, "Name another."),
        (errno.EROFS, "Name another."),
        (errno.ENOENT, "Make the folder new first, or name another."),
        (errno.EISDIR, "It is a folder: name a file in it."),
    ],
    ids=lambda value: errno.errorcode.get(value, "") if isinstance(value, int) else "",
)
def test_the_error_names_the_file_the_reason_and_what_to_do(number, advice):
    with pytest.raises(errors.OutputError) as refused, files.refusing("new/a", "name another"):
        raise OSError(number, os.strerror(number))
    reason = os.strerror(number)
    assert str(refused.value) == f"cannot write new/a: {reason[0].lower()}{reason[1:]}. {advice}"


def test_check_creates_nothing(tmp_path):
    files.check(tmp_path / "a.html")
    files.check_folder(tmp_path / "pages" / "more")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_parent_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(errors.OutputError, match="a file, not a folder"):
        files.check_folder(tmp_path / "file" / "pages")


def test_an_error_with_a_message_of_gpukit_keeps_it(tmp_path):
    with pytest.raises(errors.OutputError, match=r"^save: this exists$"), files.refusing(tmp_path):
        raise FileExistsError("save: this exists")


def fill(folder):
    with files.whole_folder(folder) as unfinished:
        (unfinished / "a").mkdir()
        files.write(unfinished / "a" / "b.txt", "new")


def test_a_whole_folder_is_filled_with_the_folders_around_it(tmp_path):
    fill(tmp_path / "one" / "two")
    assert (tmp_path / "one" / "two" / "a" / "b.txt").read_text() == "new"
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["two"]


def test_an_empty_folder_that_is_filled_stays_the_same_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = Path().stat().st_ino
    fill(Path())
    assert Path().stat().st_ino == before
    assert Path("a/b.txt").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_nothing_is_left_of_a_folder_that_is_not_finished(tmp_path):
    with contextlib.suppress(ZeroDivisionError), files.whole_folder(tmp_path / "out") as unfinished:
        files.write(unfinished / "b.txt", "new")
        1 / 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.OutputError, match=r"cannot write .*file/out: .*"):
        fill(tmp_path / "file" / "out")
