"""Which files a process writes, renames or removes, noted for the one who started it."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

# It has started a program, or removed a tree, whose files are not noted by their whole names.
ANYTHING = "*"
_NAME = (str, bytes, os.PathLike)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {"os.link", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate"}
_CHANGES_ANYTHING = {
    *("os.exec", "os.posix_spawn", "os.spawn", "os.system", "shutil.rmtree", "subprocess.Popen")
}


def follow(audit_log: str) -> None:
    """Note in the file `audit_log` from now on what this process and its copies change."""
    noted = os.open(audit_log, os.O_WRONLY | os.O_APPEND)

    def hook(event: str, given: tuple[Any, ...]) -> None:
        with contextlib.suppress(OSError, ValueError):  # of a name that is none
            for file in _changed(event, given):
                os.write(noted, os.fsencode(file) + b"\0")

    sys.addaudithook(hook)


def _changed(event: str, given: tuple[Any, ...]) -> list[str]:
    if event in _CHANGES_ANYTHING:
        return [ANYTHING]
    if event == "open":
        name, _, flags = given
        names: tuple[Any, ...] = (name,) if flags & _WRITES else ()
    else:
        names = given if event in _CHANGES else ()
    return [os.path.realpath(os.fsdecode(n)) for n in names if isinstance(n, _NAME)]


def read(audit_log: Path) -> set[str]:
    """Return the files and folders that were noted, and ANYTHING."""
    return {os.fsdecode(name) for name in audit_log.read_bytes().split(b"\0") if name}
