"""Where in a user's program an operation was called, and the names of arrays and streams there."""

from __future__ import annotations

import linecache
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np

_PACKAGE = Path(__file__).resolve().parents[2]
_STANDARD = sysconfig.get_paths()["stdlib"]
_PACKAGES = ("site-packages", "dist-packages")
_LIBRARIES = tuple(str(Path(m.__file__).parent) for m in (np, numba) if m.__file__)
_OURS = str(_PACKAGE)
_RUNNERS = (str(_PACKAGE / "cli"), str(_PACKAGE / "standin"))  # what calls a user's script
_MOST_ITEMS = 64  # of a list that is searched for a stream


class Place(NamedTuple):
    """A line of a program; `kernel` is the function around it, "" for a module."""

    kernel: str
    file: str
    line: int

    @property
    def source(self) -> str:
        """The text of the line."""
        return linecache.getline(self.file, self.line)


def caller() -> FrameType | None:
    """Return the innermost frame of a user's program; None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_RUNNERS):
            return None
        if not _is_library(file):
            return frame
        frame = frame.f_back
    return None


def _is_library(file: str) -> bool:
    """Tell whether a file belongs to gpukit, NumPy, Numba or Python itself."""
    if file.startswith((_OURS, *_LIBRARIES, "<frozen")):
        return True
    return file.startswith(_STANDARD) and not any(name in file for name in _PACKAGES)


def of_frame(frame: FrameType | None) -> Place:
    """Return the line that a frame is in."""
    if frame is None:
        return Place("", "", 0)
    name = frame.f_code.co_name
    return Place("" if name.startswith("<") else name, frame.f_code.co_filename, frame.f_lineno)


def name_of(frame: FrameType | None, is_it: Callable[[Any], bool]) -> str:
    """Return the program's name for the object for which `is_it` is true: `s`, `self.stream`.

    An item of a list is preferred to the variable of a loop over it. "" if there is none.
    """
    scopes = [] if frame is None else [frame.f_locals, frame.f_globals]
    for scope in scopes:
        for variable, value in list(scope.items()):
            for text, item in _inside(variable, value):
                if is_it(item):
                    return text
        for variable, value in list(scope.items()):
            if is_it(value):
                return variable
    return ""


def _inside(variable: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the items of a list, a dictionary or an object, and their source text."""
    if isinstance(value, (list, tuple)):
        for k, item in enumerate(value[:_MOST_ITEMS]):
            yield f"{variable}[{k}]", item
    elif isinstance(value, dict) and not variable.startswith("__"):
        for key, item in list(value.items())[:_MOST_ITEMS]:
            yield f"{variable}[{key!r}]", item
    elif not isinstance(value, (type, ModuleType)) and hasattr(value, "__dict__"):
        if not type(value).__module__.startswith(("gpukit", "numpy", "numba")):
            for key, item in list(vars(value).items())[:_MOST_ITEMS]:
                yield f"{variable}.{key}", item
