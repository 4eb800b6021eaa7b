"""What a rank asked for: an operation, its array, and the line of the program that asked."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpukit import errors

PACKAGE = str(Path(errors.__file__).parent) + os.sep


@dataclass(frozen=True)
class Call:
    """One call of a communication function.

    `peer` is the other rank of a message or the root of a broadcast, by its number in the world;
    `file` and `line` are the program's own, the nearest outside of gpukit.
    """

    operation: str
    name: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    peer: int | None = None
    tag: int = 0
    op: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        words = [self.operation]
        if self.op not in ("", "sum"):
            words.append(f"({self.op})")
        if self.shape is not None:
            words.append(f"of {self.name or 'an array'} {self.shape} {self.dtype}")
        if self.peer is not None:
            word = {"send": "to", "recv": "from"}.get(self.operation, "with root")
            words.append(f"{word} rank {self.peer}")
        if self.file:
            place = errors.place(self.file, self.line)  # a cell of a notebook, or a path
            words.append(f"({place.removeprefix(f'{Path(self.file).parent}{os.sep}')})")
        return " ".join(words)


def call(operation: str, array: Any = None, name: str = "", **details: Any) -> Call:
    """Return the call that the program is making."""
    shape, dtype = (None, "") if array is None else (tuple(array.shape), str(array.dtype))
    file, line = program()
    return Call(operation, name, shape, dtype, file=file, line=line, **details)


def program() -> tuple[str, int]:
    """Return the file and the line of the program that is running, outside of gpukit."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
