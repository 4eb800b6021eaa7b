"""Edits of a function's source (`gpukit.course.edits`), in which lines may be marked.

A finding must be at a line that ends with the comment `# BUG`; context lines may be marked, too.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gpukit.course import edits

MARK = "  # BUG"


class Edited(NamedTuple):
    """A function compiled from edited source, and the marked lines of that source."""

    function: Any
    lines: set[int]


def edit(functions: Sequence[Callable[..., Any]], hunks: str, name: str) -> Edited:
    """Edit the source of functions and execute it; return the last of the functions.

    The old lines of each hunk must occur exactly once, or ValueError is raised.
    """
    file = f"<bug {name}>"
    source = "".join(inspect.getsource(f) for f in functions)
    try:
        text = edits.edited(source, _marking(hunks))
    except ValueError as error:
        raise ValueError(f"the edit {name!r}: {error}") from error
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    scope = dict(functions[-1].__globals__)
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    marked = {k for k, line in enumerate(lines, 1) if line.rstrip("\n").endswith(MARK)}
    return Edited(scope[functions[-1].__name__], marked)


def _marking(hunks: str) -> str:
    """Return hunks in which marked context lines are replaced: removed, and added with the mark."""
    lines: list[str] = []
    for line in hunks.split("\n"):
        if line.startswith(" ") and line.endswith(MARK):
            lines += ["-" + line[1:].removesuffix(MARK), "+" + line[1:]]
        else:
            lines.append(line)
    return "\n".join(lines)
