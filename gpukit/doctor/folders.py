"""The folders that gpukit writes to by default, their contents and their size.

Caches can be recreated, so `clear` empties them, but only of files that gpukit has written:
GPUKIT_CACHE_DIR may name a folder that holds other files as well.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpukit.compiler import cache_folder

_KERNEL = re.compile(r"[0-9a-f]{40}")  # file names of compiler/cache.py
_VERSION = re.compile(r"[0-9a-f]{16}")  # folder names of checked/engine/entries.py


@dataclass(frozen=True)
class Folder:
    """A folder, and what gpukit wrote there: `holds` in words, `cache` if it can be recreated."""

    holds: str
    path: str
    files: int
    bytes: int
    cache: bool


def look(answers: Path | None = None) -> list[Folder]:
    """Return the folders, caches first; `answers` is the folder of the answers."""
    found = [_folder(holds, where, parts, True) for holds, where, parts in _caches()]
    if answers is not None:
        mine = [*answers.glob(".progress.*"), *answers.glob("*/*/answer*.py")]
        found.append(_folder("your answers and grades", answers, mine, False))
    pages = Path("gpukit-play").absolute()  # unless `gpukit play --folder` names another
    if pages.is_dir():
        found.append(_folder("pages of `gpukit play`", pages, pages.glob("*.html"), False))
    return found


def clear() -> list[Folder]:
    """Empty the caches; return what was removed from each folder that held something."""
    removed = []
    for holds, where, parts in _caches():
        gone = _folder(holds, where, parts, True)
        for part in parts:
            if part.is_dir():
                shutil.rmtree(part)
            else:
                part.unlink(missing_ok=True)
        removed += [gone] if parts else []
    return removed


def _caches() -> list[tuple[str, Path, list[Path]]]:
    """Return what each cache holds, its folder, and which of its files are gpukit's."""
    found = []
    with contextlib.suppress(OSError):  # there may be no folder for temporary files
        shown = Path(tempfile.gettempdir())
        found = [("pages opened by Player.open()", shown, _listed(shown, "gpukit-*.html"))]
    kernels, checker = cache_folder.folder(), cache_folder.checker_folder()
    if kernels is not None and checker is not None:
        named = [p for p in _listed(kernels) if _KERNEL.fullmatch(p.name) and p.is_file()]
        versions = [p for p in _listed(checker) if _VERSION.fullmatch(p.name)]
        found.insert(0, ("compiled kernels", kernels, named))
        found.insert(1, ("the compiled checker", checker, versions))
    return found


def _listed(folder: Path, pattern: str = "*") -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:  # missing, or not readable
        return []


def _folder(holds: str, where: Path, parts: Iterable[Path], cache: bool) -> Folder:
    """Return a folder with the number and size of all files in its `parts`."""
    sizes = []
    for part in parts:
        with contextlib.suppress(OSError):  # deleted meanwhile, or not readable
            files = part.rglob("*") if part.is_dir() else [part]
            sizes += [file.stat().st_size for file in files if file.is_file()]
    return Folder(holds, str(where), len(sizes), sum(sizes), cache)


def size(number: int) -> str:
    """Return a number of bytes in a suitable unit.

    >>> size(0), size(2_300), size(45_600_000)
    ('0 bytes', '2.3 kB', '45.6 MB')
    """
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= bytes_:
            return f"{number / bytes_:.3g} {unit}"
    return f"{number} byte{'' if number == 1 else 's'}"
