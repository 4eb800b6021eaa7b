"""Edits of source text, written as the hunks of a diff.

A line of a hunk begins with " " where it stays, "-" where it goes and "+" where it is new; `@@`
separates hunks.
"""

from __future__ import annotations

import ast
import textwrap


def edited(text: str, hunks: str) -> str:
    """Return a text with its hunks applied.

    The old lines of each hunk must be in the text exactly once, or ValueError is raised.
    """
    lines = text.splitlines()
    found = [_found(lines, hunk.split("\n")) for hunk in hunks.strip("\n").split("\n@@\n")]
    for at, old, new in sorted(found, reverse=True):
        lines[at : at + len(old)] = new
    return "".join(f"{line}\n" for line in lines)


def _found(lines: list[str], hunk: list[str]) -> tuple[int, list[str], list[str]]:
    """Return where a hunk's old lines begin, those lines, and the new ones."""
    unmarked = [line for line in hunk if line[:1] not in ("", " ", "-", "+")]
    if unmarked:
        raise ValueError(f"expected each line of an edit to begin with ' ', - or +, got {unmarked}")
    old = [line[1:] for line in hunk if line[:1] != "+"]
    new = [line[1:] for line in hunk if line[:1] != "-"]
    at = [k for k in range(len(lines)) if old and lines[k : k + len(old)] == old]
    if len(at) != 1:
        raise ValueError(f"expected these lines once, got them {len(at)} times: {old}")
    return at[0], old, new


def with_body(text: str, entry: str, lines: str) -> str:
    """Return a text with other lines under the docstring of its function `entry`."""
    (function,) = [n for n in ast.parse(text).body if getattr(n, "name", "") == entry]
    assert isinstance(function, ast.FunctionDef)
    given, docstring = text.splitlines(), function.body[0]
    own = textwrap.indent(textwrap.dedent(lines).strip("\n"), "    ").splitlines()
    return "\n".join([*given[: docstring.end_lineno], *own, *given[function.end_lineno :], ""])
