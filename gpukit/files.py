"""Write files for the user: atomically, and with a one-sentence error where that fails."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from gpukit.errors import OutputError

ELSEWHERE = "name a file in a folder that you may write to"
_TEMPORARY = "set TMPDIR to a folder that you may write to"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write(
    path: str | Path, content: str | bytes, elsewhere: str = ELSEWHERE, *, folders: bool = False
) -> None:
    """Write a file atomically; raise OutputError, which names it, where that fails.

    `elsewhere` is the advice for a folder that cannot be written to. With `folders` those that the
    file is in are made.
    """
    if folders:
        with refusing(path, elsewhere):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    with whole(path, elsewhere) as file:
        file.write(data)


@contextlib.contextmanager
def whole(path: str | Path, elsewhere: str = ELSEWHERE) -> Iterator[IO[bytes]]:
    """Open a file to be written atomically: it is renamed to `path` at the end of the body.

    If the program is killed, `path` is the old file or the new one. A device such as /dev/stdout
    is written to directly.
    """
    path = Path(path)
    with refusing(path, elsewhere):
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as file:
                yield file
            return
        target = path.resolve()  # the file that a link points to
        unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
        try:
            with unfinished.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def whole_folder(path: str | Path, elsewhere: str = ELSEWHERE) -> Iterator[Path]:
    """Yield a folder to be filled, which becomes `path` at the end of the body.

    Where the body raises, nothing is left. `path` must be new or an empty folder.
    """
    target = Path(path).absolute()
    with refusing(path, elsewhere):
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
        unfinished.mkdir()
        try:
            yield unfinished
            if target.exists():  # perhaps the current folder, which has to stay the same one
                for file in unfinished.iterdir():
                    file.replace(target / file.name)
            else:
                unfinished.replace(target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@contextlib.contextmanager
def temporary(name: str, content: str) -> Iterator[Path]:
    """Yield a temporary file of this name and content; it and its folder are deleted afterwards."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gpukit-"))
        except OSError as error:
            raise OutputError(
                f"cannot make a temporary folder: {error.strerror}. Make room on its disk, or "
                f"{_TEMPORARY}."
            ) from error
        file = Path(folder) / name
        write(file, content, _TEMPORARY)
        yield file


@contextlib.contextmanager
def refusing(path: str | Path, elsewhere: str = ELSEWHERE) -> Iterator[None]:
    """Turn an OSError in the body, which writes `path`, into OutputError."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(_sentence(Path(path), error, elsewhere)) from error


def check(path: str | Path, elsewhere: str = ELSEWHERE) -> None:
    """Raise OutputError if a file cannot be written: to be called before a long computation."""
    path = Path(path)
    with refusing(path, elsewhere):
        if path.is_dir():
            raise _error(errno.EISDIR)
        if not path.exists() or path.is_file():
            _look(path.resolve().parent)


def check_folder(folder: str | Path, elsewhere: str = ELSEWHERE) -> None:
    """Raise OutputError if files cannot be created in a folder, which need not exist yet."""
    nearest = Path(folder)
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    with refusing(folder, elsewhere):
        _look(nearest)


def _look(folder: Path) -> None:
    """Raise the OSError that creating a file in a folder would raise."""
    folder.stat()
    if not folder.is_dir():
        raise _error(errno.ENOTDIR)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _error(errno.EACCES)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _sentence(path: Path, error: OSError, elsewhere: str) -> str:
    """Say which file cannot be written, why, and what to do."""
    if error.errno is None:  # gpukit's own message, or a library's
        return str(error)
    why = os.strerror(error.errno)
    return f"cannot write {path}: {why[:1].lower()}{why[1:]}. {_advice(path, error, elsewhere)}."


def _advice(path: Path, error: OSError, elsewhere: str) -> str:
    if error.errno in _FULL:
        return f"Make room on its disk, or {elsewhere}"
    if error.errno == errno.EISDIR:
        return "It is a folder: name a file in it"
    if error.errno == errno.ENOENT:
        return f"Make the folder {path.parent} first, or {elsewhere}"
    if error.errno == errno.ENOTDIR:
        return f"A part of this path is a file, not a folder: {elsewhere}"
    return elsewhere[:1].upper() + elsewhere[1:]
