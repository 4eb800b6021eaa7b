"""Find which variables a list of statements reads before setting them, and which it surely sets."""

from __future__ import annotations

import ast

from gpukit.compiler import tree


def flow(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """Return the names that a body may read before it sets them, and those it surely sets."""
    exposed: set[str] = set()
    sure: set[str] = set()
    for s in body:
        if isinstance(s, ast.If):
            exposed |= tree.reads(s.test) - sure
            one, two = flow(s.body), flow(s.orelse)
            exposed |= (one[0] | two[0]) - sure
            sure |= one[1] & two[1]
        elif isinstance(s, (ast.For, ast.While)):
            exposed |= tree.reads(tree.heads(s)) - sure
            own = tree.writes(s.target) if isinstance(s, ast.For) else set()
            exposed |= flow(s.body)[0] - sure - own
            exposed |= flow(s.orelse)[0] - sure
        else:
            exposed |= tree.reads(s) - sure
            sure |= tree.writes(s)
    return exposed, sure
