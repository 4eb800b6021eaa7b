"""How to create the submissions that git cannot hold: links, devices, odd names, huge files.

Each takes the file to create, in the folder of a student, which exists, and the bytes of the
submission. OSError means that this system or this user cannot create it.
"""

from __future__ import annotations

import io
import marshal
import os
import socket
import stat
import tarfile
import zipfile
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

# ---- files that are no files -------------------------------------------------------------------


def link(file: Path, data: bytes) -> None:
    """Hand in a link to a file beside the students' folders."""
    outside = file.parent.parent / f"outside_{file.parent.name}.py"
    outside.write_bytes(data)
    file.symlink_to(os.path.relpath(outside, file.parent))


def absolute_link(file: Path, data: bytes) -> None:
    """Hand in a link to a file of the system, by its absolute path."""
    file.symlink_to("/etc/passwd")


def dangling_link(file: Path, data: bytes) -> None:
    """Hand in a link to nothing."""
    file.symlink_to("nowhere.py")


def link_to_itself(file: Path, data: bytes) -> None:
    """Hand in a link to itself."""
    file.symlink_to(file.name)


def endless_link(file: Path, data: bytes) -> None:
    """Hand in a link to a file without end."""
    file.symlink_to("/dev/zero")


def link_to_a_classmate(file: Path, data: bytes) -> None:
    """Hand in a link to the answer of another student."""
    _classmate(file, data)
    file.symlink_to(f"../classmate_of_{file.parent.name}/{file.name}")


def hard_link(file: Path, data: bytes) -> None:
    """Hand in the answer of another student under a second name: both are one file."""
    os.link(_classmate(file, data), file)


def _classmate(file: Path, data: bytes) -> Path:
    other = file.parent.with_name(f"classmate_of_{file.parent.name}") / file.name
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(data)
    return other


def pipe(file: Path, data: bytes) -> None:
    """Hand in a named pipe, whose reader waits for a writer."""
    os.mkfifo(file)


def listening_socket(file: Path, data: bytes) -> None:
    """Hand in a Unix socket."""
    here = Path.cwd()
    os.chdir(file.parent)  # the path of a socket has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(file.name)
    finally:
        os.chdir(here)


def device(file: Path, data: bytes) -> None:
    """Hand in a device without end; only root can create one."""
    os.mknod(file, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def folder(file: Path, data: bytes) -> None:
    """Hand in a folder of the name that a file should have."""
    file.mkdir()
    (file / "answer.py").write_bytes(data)


def unreadable(file: Path, data: bytes) -> None:
    """Hand in a file that only root can read."""
    file.write_bytes(data)
    file.chmod(0)


def sparse(file: Path, data: bytes) -> None:
    """Hand in a file of a terabyte that takes no space."""
    with file.open("wb") as made:
        made.write(data)
        made.truncate(1 << 40)


# ---- folders -----------------------------------------------------------------------------------


def student_behind_a_link(file: Path, data: bytes) -> None:
    """Let the student's folder be a link to a folder elsewhere."""
    elsewhere = file.parent.parent / f".{file.parent.name}"
    elsewhere.mkdir()
    (elsewhere / file.name).write_bytes(data)
    file.parent.rmdir()
    file.parent.symlink_to(elsewhere.name)


def folder_in_itself(file: Path, data: bytes) -> None:
    """Add links to the folder itself and to that of all students."""
    file.write_bytes(data)
    (file.parent / "again").symlink_to(".")
    (file.parent / "all").symlink_to("..")


def deep_folders(file: Path, data: bytes) -> None:
    """Add folders whose path is longer than the system takes."""
    file.write_bytes(data)
    here = os.open(file.parent, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("folder_within", dir_fd=here)
        inner = os.open("folder_within", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def many_files(file: Path, data: bytes) -> None:
    """Add ten thousand files of the exercise's name, in folders of their own."""
    file.write_bytes(data)
    for number in range(10_000):
        (file.parent / str(number)).mkdir()
        (file.parent / str(number) / file.name).touch()


def two_answers(file: Path, data: bytes) -> None:
    """Hand in a right and a wrong answer in two layouts."""
    file.write_bytes(data)
    other = file.parent / "exercises" / file.stem / "answer.py"
    other.parent.mkdir(parents=True)
    other.write_bytes(data.replace(b" + ", b" - "))


def name_that_is_no_text(file: Path, data: bytes) -> None:
    """Let the student's folder have a name that is not UTF-8."""
    odd = file.parent.with_name(os.fsdecode(b"\xff\xfe_\xed\xa0\x80"))
    odd.mkdir()
    file.parent.rmdir()
    (odd / file.name).write_bytes(data)


def archives(file: Path, data: bytes) -> None:
    """Hand in archives alone: with paths that lead outside, and a gigabyte of zeros in one."""
    with zipfile.ZipFile(file.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(f"../../{_mark(file)}", data)
        made.writestr(f"/tmp/{_mark(file)}", data)
        with made.open(file.name, "w", force_zip64=True) as inner:
            for _ in range(64):
                inner.write(bytes(16 << 20))
    with tarfile.open(file.with_suffix(".tar.gz"), "w:gz") as made:
        inside = tarfile.TarInfo(f"../../{_mark(file)}")
        inside.size = len(data)
        made.addfile(inside, io.BytesIO(data))


def _mark(file: Path) -> str:
    return f"GPUKIT_ESCAPED_{file.parent.name}"


# ---- files beside the answer that Python may load ----------------------------------------------


def _harm(file: Path) -> str:
    return f"open('/tmp/{_mark(file)}', 'w').close(); print('loaded', __name__)\n"


def modules_beside(file: Path, data: bytes) -> None:
    """Add modules with the names of those that the grader imports."""
    file.write_bytes(data)
    names = """
        numpy numba gpukit math json random typing conftest sitecustomize usercustomize
        matplotlib answer driver cases solution __init__ __main__
    """
    for name in names.split():
        (file.parent / f"{name}.py").write_text(_harm(file))
    (file.parent / "evil.pth").write_text(f"import os; {_harm(file)}")


def settings_beside(file: Path, data: bytes) -> None:
    """Add the files in which tools look for settings."""
    file.write_bytes(data)
    for name, text in {
        ".numba_config.yaml": "disable_jit: 1\ndebug: 1\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--pdb'\n",
        "pytest.ini": "[pytest]\naddopts = --pdb\n",
        ".env": "GPUKIT_TARGET=cuda\n",
        "exercise.toml": "points = 1000\n",
        "matplotlibrc": "backend: TkAgg\n",
        "report.json": '{"schema": "gpukit-grade", "status": "right", "points": 10}',
    }.items():
        (file.parent / name).write_text(text)


def bytecode_beside(file: Path, data: bytes) -> None:
    """Add bytecode of another program that Python runs instead, whatever the file says."""
    file.write_bytes(data)
    cached = Path(cache_from_source(str(file)))
    cached.parent.mkdir()
    code = compile(_harm(file), str(file), "exec")
    unchecked = (1).to_bytes(4, "little")  # "based on a hash, which need not be checked"
    cached.write_bytes(MAGIC_NUMBER + unchecked + bytes(8) + marshal.dumps(code))


def checkpoint(file: Path, data: bytes) -> None:
    """Add an earlier version where Jupyter keeps one."""
    file.write_bytes(data)
    earlier = file.parent / ".ipynb_checkpoints" / f"{file.stem}-checkpoint{file.suffix}"
    earlier.parent.mkdir()
    earlier.write_bytes(data.replace(b"255", b"254"))


# ---- bytes -------------------------------------------------------------------------------------


def nested_blocks(file: Path, data: bytes) -> None:
    """Put the kernel's lines into 98 nested if statements."""
    head, _, body = data.partition(b"    if ")
    lines = (b"    if " + body).splitlines(keepends=True)
    ifs = [b" " * (4 + depth) + b"if True:\n" for depth in range(98)]
    file.write_bytes(head + b"".join([*ifs, *(b" " * 98 + line for line in lines)]))


def surrogates(file: Path, data: bytes) -> None:
    """Add half of a surrogate pair and an overlong slash, which UTF-8 forbids."""
    file.write_bytes(data + b"# \xed\xa0\x80 \xc0\xaf\n")


def cut_in_a_character(file: Path, data: bytes) -> None:
    """End in the middle of a character."""
    file.write_bytes(data + "# é".encode()[:-1])


def archive_of_that_name(file: Path, data: bytes) -> None:
    """Hand in an archive that Python would run as a program."""
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("__main__.py", _harm(file))


def program_of_that_name(file: Path, data: bytes) -> None:
    """Hand in a script of the shell that may be executed."""
    file.write_text(f"#!/bin/sh\ntouch /tmp/{_mark(file)}\n")
    file.chmod(0o777)


def empty(file: Path, data: bytes) -> None:
    """Hand in no byte at all."""
    file.touch()
