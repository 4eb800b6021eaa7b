"""Which files a sandbox shows: Python, its packages, gpukit, and nothing of the teacher's."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from gpukit.classroom import chosen
from gpukit.compiler import cache_folder

ROOT = Path(__file__).resolve().parents[3]  # the folder that gpukit is imported from
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib")
_SYSTEM = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")


def python() -> list[str]:
    """Return the folders of Python, of installed packages and of gpukit, each once."""
    places = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    found = {os.path.realpath(p) for p in places} | {sys.prefix, str(ROOT / "gpukit")}
    found = {place for place in found if Path(place).exists()} - {"/", "/usr"}
    return sorted(p for p in found if not any(_is_below(p, other) for other in found))


def _is_below(path: str, other: str) -> bool:
    return path != other and Path(other) in Path(path).parents


def caches() -> list[str]:
    """Return the folders in which gpukit keeps compiled functions."""
    folders = (cache_folder.folder(), cache_folder.checker_folder())
    return [str(folder) for folder in folders if folder is not None and folder.exists()]


def system() -> list[str]:
    """Return what Python needs of the system: shared libraries."""
    return [place for place in (*_LIBRARIES, *_SYSTEM) if Path(place).exists()]


def drivers() -> list[str]:
    """Return the files that call host code: all that an answer's process sees of an exercise."""
    every = (exercise.driver for exercise in chosen.known())
    return [str(driver.resolve()) for driver in every if driver is not None]


def environment() -> dict[str, str]:
    """Return the environment of all answers: nothing of the teacher's own is in it."""
    cache = cache_folder.folder()
    return {
        "GPUKIT_TARGET": "cpu",
        "GPUKIT_CACHE_DIR": str(cache) if cache else "",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": "/tmp",
    }
