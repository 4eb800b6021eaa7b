"""Edits of a function's source, written as the hunks of a diff.

A line begins with " " where it stays, "-" where it goes and "+" where it is new; `@@` separates
hunks. A line that ends with the comment `# BUG` is where a finding must be; a line that stays may
carry the mark, too.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

MARK = "  # BUG"


class Edited(NamedTuple):
    """A function made from edited source, and the lines of that source that carry the mark."""

    function: Any
    lines: set[int]


def edit(functions: Sequence[Callable[..., Any]], hunks: str, name: str) -> Edited:
    """Edit the source of functions and run it; return what the last name of them stands for.

    The old lines of each hunk must occur exactly once, or ValueError is raised.
    """
    lines = [line for f in functions for line in inspect.getsource(f).splitlines()]
    for hunk in hunks.strip("\n").split("\n@@\n"):
        lines = _replaced(lines, hunk.split("\n"), name)
    file, text = f"<bug {name}>", "".join(f"{line}\n" for line in lines)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = dict(functions[-1].__globals__)
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    marked = {k for k, line in enumerate(lines, 1) if line.endswith(MARK)}
    return Edited(scope[functions[-1].__name__], marked)


def _replaced(lines: list[str], hunk: list[str], name: str) -> list[str]:
    strange = [line for line in hunk if line[:1] not in ("", " ", "-", "+")]
    if strange:
        raise ValueError(f"the edit {name!r} has a line that begins with none of ' -+': {strange}")
    old = [line[1:].removesuffix(MARK) for line in hunk if line[:1] != "+"]
    new = [line[1:] for line in hunk if line[:1] != "-"]
    at = [k for k in range(len(lines)) if old and lines[k : k + len(old)] == old]
    if len(at) != 1:
        raise ValueError(f"the edit {name!r} needs these lines once, not {len(at)} times: {old}")
    return lines[: at[0]] + new + lines[at[0] + len(old) :]
