"""Edits of a function's source (`gpukit.course.edits`), whose lines may carry a mark.

A line that ends with the comment `# BUG` is where a finding must be; a line that stays may carry
the mark, too.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gpukit.course import edits

MARK = "  # BUG"


class Edited(NamedTuple):
    """A function made from edited source, and the lines of that source that carry the mark."""

    function: Any
    lines: set[int]


def edit(functions: Sequence[Callable[..., Any]], hunks: str, name: str) -> Edited:
    """Edit the source of functions and run it; return what the last name of them stands for.

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
    """Return hunks in which a marked line that stays is one that goes and a new one."""
    lines: list[str] = []
    for line in hunks.split("\n"):
        if line.startswith(" ") and line.endswith(MARK):
            lines += ["-" + line[1:].removesuffix(MARK), "+" + line[1:]]
        else:
            lines.append(line)
    return "\n".join(lines)
