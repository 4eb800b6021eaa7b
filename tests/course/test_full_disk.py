"""A full disk at any write of `gpukit start` or `%%exercise`: one sentence, no data loss.

Each operation that needs space fails from its k-th call on, for all k. Where the process may
mount a small disk, the tests also fill a real one.
"""

import builtins
import contextlib
import errno
import io
import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

import gpukit
from gpukit import cli
from gpukit.course import catalogue, grade, magic, progress, workbook
from tests.course.maps import CELL
from tests.course.test_magic import graded
from tests.course.workbooks import LESSON, SECOND, TASK, write_lesson

ANSWER = "exercises/01_threads_blocks_grid/brighten/answer.py"
GRADES = f"exercises/{progress.FILE}"
OPERATIONS = ("mkdir", "open", "write", "fsync", "replace")


class FullFile(io.FileIO):
    """A file that accepts only half of each write."""

    def __init__(self, path, disk):
        super().__init__(path, "w")
        self.disk = disk

    def write(self, data):
        if self.disk.is_full("write", self.name):
            super().write(data[: len(data) // 2])
            raise self.disk.error(self.name)
        return super().write(data)


class Disk:
    """Simulates a disk that is full from the `left`-th call of an operation in a folder on."""

    def __init__(self, folder, operation, left):
        self.folder, self.operation, self.left = folder, operation, left
        self.failed = False

    def error(self, path):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def is_full(self, operation, path):
        inside = self.folder in Path(path).resolve().parents
        if operation != self.operation or not inside:
            return False
        self.left -= 1
        self.failed = self.failed or self.left < 0
        return self.failed

    @contextlib.contextmanager
    def in_use(self, monkeypatch):
        opened, result, replaced, synced = io.open, os.mkdir, os.replace, os.fsync

        def open_(file, mode="r", *rest, **named):
            if mode != "wb":
                return opened(file, mode, *rest, **named)
            if self.is_full("open", file):
                raise self.error(file)
            return io.BufferedWriter(FullFile(file, self))

        def mkdir(path, *rest, **named):
            if not Path(path).exists() and self.is_full("mkdir", path):
                raise self.error(path)
            result(path, *rest, **named)

        def replace(path, to, **named):
            if self.is_full("replace", to):
                raise self.error(to)
            replaced(path, to, **named)

        def fsync(number):
            if self.is_full("fsync", f"/proc/self/fd/{number}"):
                raise self.error(number)
            synced(number)

        with monkeypatch.context() as patch:
            patch.setattr(io, "open", open_)
            patch.setattr(builtins, "open", open_)
            for name, one in (("mkdir", mkdir), ("replace", replace), ("fsync", fsync)):
                patch.setattr(os, name, one)
            yield


def full_at_each(folder, operation):
    """Yield disks that are full at the first call, the second, ..., and finally never."""
    for left in itertools.count():
        disk = Disk(folder, operation, left)
        yield disk
        if not disk.failed:
            assert left  # the operation was called
            return


def contents(folder):
    return {
        f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()
    }


# --- gpukit start ------------------------------------------------------------------------------


@pytest.fixture
def small(project, tmp_path, monkeypatch):
    """Make a project with two lessons, two exercises and one kernel source."""
    (tmp_path / "gpukit/kernels").mkdir(parents=True)
    (tmp_path / "gpukit/kernels/vector.py").write_text("# kernels\n")
    package = {"__file__": str(tmp_path / "gpukit/__init__.py"), "__version__": gpukit.__version__}
    monkeypatch.setattr(workbook, "gpukit", SimpleNamespace(**package))
    return project


def new_folder(project, folder):
    """Start without a workbook, with an answer in the project."""
    (project / ANSWER).write_text("# mine\n")


def old_workbook(project, folder):
    """Start with a workbook with the reader's work, for which there are updates."""
    workbook.start(folder, project)
    write_lesson(folder / SECOND, "mine")
    (folder / ANSWER).write_text("# mine\n")
    (folder / GRADES).write_text('{"brighten": "right"}\n')
    for name in (LESSON, SECOND, TASK):
        write_lesson(project / name, "3 + 3")
    write_lesson(project / "notebooks/02_new.ipynb", "4 + 4")
    kept = project.parent / "gpukit/kernels"
    (kept / "new").mkdir(exist_ok=True)
    (kept / "new/dot.py").write_text("# a kernel in a new folder\n")


COMMANDS = {("start",): new_folder, ("start", "--update"): old_workbook}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_start_on_a_full_disk_names_a_file_loses_nothing_and_is_completed_by_the_next(
    command, operation, small, tmp_path, monkeypatch, capsys
):
    undisturbed, mine = tmp_path / "undisturbed", tmp_path / "mine"
    COMMANDS[command](small, undisturbed)
    before = contents(undisturbed)
    if before:
        shutil.copytree(undisturbed, tmp_path / "kept")
    assert cli.main([*command, str(undisturbed)]) == 0
    complete = contents(undisturbed)
    for disk in full_at_each(mine, operation):
        shutil.rmtree(mine, ignore_errors=True)
        if before:
            shutil.copytree(tmp_path / "kept", mine)
        capsys.readouterr()
        with disk.in_use(monkeypatch):
            code = cli.main([*command, str(mine)])
        if disk.failed:
            message = capsys.readouterr().err
            assert code == 3
            assert f"cannot write {mine}/" in message
            assert "no space left on device. Make room on its disk" in message
            after = contents(mine)
            assert {n for n in after if after[n] not in (before.get(n), complete.get(n))} == set()
            assert before.keys() <= after.keys()
        assert cli.main([*command, str(mine)]) == 0
        manifest = {workbook.MANIFEST: b""}
        assert contents(mine) | manifest == complete | manifest


# --- notebook cell -----------------------------------------------------------------------------


@pytest.fixture
def solved(shell, monkeypatch):
    """An exercise with an answer file, grades of others, and a grader that accepts every cell."""
    exercise = catalogue.find("guarded_map")
    exercise.answer.write_text("# mine\n")
    progress.record(catalogue.find("brighten"), "right")
    right = grade.Report(exercise.name, exercise.answer, "right")
    monkeypatch.setattr(magic.grade, "run", lambda *_, **__: right)
    return exercise


@pytest.mark.parametrize("operation", OPERATIONS[1:])
def test_cell_on_a_full_disk_names_what_was_not_saved_and_the_next_run_saves_it(
    operation, solved, shell, monkeypatch
):
    answer, grades = solved.answer, solved.shelf / progress.FILE
    old = answer.with_name("answer.old1.py")
    before = contents(solved.shelf)
    for disk in full_at_each(solved.shelf, operation):
        old.unlink(missing_ok=True)
        for file in (answer, grades):
            file.write_bytes(before[file.relative_to(solved.shelf).as_posix()])
        with disk.in_use(monkeypatch):
            shown = repr(graded(shell, CELL))
        kept = CELL in answer.read_text()
        assert kept or answer.read_text() == "# mine\n"
        assert not kept or old.read_text() == "# mine\n"
        assert kept or "This cell could not be saved as your answer: cannot write" in shown
        assert progress.state(catalogue.find("brighten")) == "right"
        assert disk.failed == ("This grade is not saved: cannot write" in shown)
        assert disk.failed == ("Make room on its disk" in shown)
        graded(shell, CELL)
        assert CELL in answer.read_text()
        assert progress.state(solved) == "right"
        added = contents(solved.shelf).keys() - before.keys()
        assert added == {old.relative_to(solved.shelf).as_posix()}


def test_cell_without_space_for_temporary_files_gives_a_one_line_error(
    shell, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Disk(tmp_path, "write", 0).in_use(monkeypatch):
        shell.run_cell(f"%%exercise guarded_map\n{CELL}")
    (shown,) = capsys.readouterr().out.strip().splitlines()
    assert re.match(
        r"OutputError: cannot write \S+/this_cell\.py: no space left on device\.", shown
    )
    assert "set TMPDIR to a folder that you may write to" in shown


# --- real small disk ---------------------------------------------------------------------------


@pytest.fixture
def mounted(tmp_path):
    """Mount a disk of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "gpukit", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this process may not mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # it may be the current folder


@contextlib.contextmanager
def filled(disk):
    """Fill the disk completely."""
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    yield
    filler.unlink()


@contextlib.contextmanager
def read_only(disk):
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    yield
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


@pytest.mark.parametrize("kilobytes", [4, 8, 16, 32])
def test_start_on_a_small_disk_is_completed_once_there_is_space(
    kilobytes, small, mounted, tmp_path, capsys
):
    new_folder(small, mounted)
    filler = mounted / "filler"
    with filled(mounted):
        os.truncate(filler, filler.stat().st_size - 1024 * kilobytes)
        assert cli.main(["start", str(mounted / "mine")]) == 3
    assert "no space left on device. Make room on its disk" in capsys.readouterr().err
    assert cli.main(["start", str(mounted / "mine")]) == 0
    workbook.start(tmp_path / "undisturbed", small)
    manifest = {workbook.MANIFEST: b""}
    assert contents(mounted / "mine") | manifest == contents(tmp_path / "undisturbed") | manifest


@pytest.mark.parametrize(
    ("obstacle", "words"),
    [(filled, "no space left on device. Make room"), (read_only, "read-only file system. Choose")],
)
def test_failed_update_changes_nothing_and_is_completed_by_the_next(
    obstacle, words, small, mounted, capsys
):
    mine = mounted / "mine"
    old_workbook(small, mine)
    before = contents(mine)
    with obstacle(mounted):
        assert cli.main(["start", "--update", str(mine)]) == 3
        assert words in capsys.readouterr().err
        assert contents(mine) == before
    assert cli.main(["start", "--update", str(mine)]) == 0
    assert (mine / LESSON).read_bytes() == (small / LESSON).read_bytes()
    assert (mine / SECOND).read_bytes() == before[SECOND]


@pytest.mark.parametrize("obstacle", [filled, read_only])
def test_cell_on_a_read_only_disk_is_graded_and_saved_the_next_time(
    obstacle, small, mounted, solved, shell, monkeypatch
):
    workbook.start(mounted / "mine", small)
    monkeypatch.delenv("GPUKIT_EXERCISES")
    monkeypatch.chdir(mounted / "mine")
    exercise = catalogue.find("guarded_map")
    exercise.answer.write_text("# mine\n")
    with obstacle(mounted):
        shown = repr(graded(shell, CELL))
        assert "This cell could not be saved as your answer: cannot write" in shown
        assert "This grade is not saved: cannot write" in shown
        assert exercise.answer.read_text() == "# mine\n"
    graded(shell, CELL)
    assert CELL in exercise.answer.read_text()
    assert progress.state(exercise) == "right"
