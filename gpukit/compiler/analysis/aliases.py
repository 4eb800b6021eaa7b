"""Find the variables that may alias a local array: `y = x`, `y = x[1:]`, `y = f(x)`."""

from __future__ import annotations

import ast

from numba.core import types

from gpukit.compiler import tree
from gpukit.compiler.unit import Unit


def of(unit: Unit, name: str) -> set[str]:
    """Return a local array's name and the names of all variables that may alias it."""
    found = {name}
    assigns = [s for s in tree.statements(unit.tree.body) if isinstance(s, ast.Assign)]
    while True:
        reached = [tree.writes(s) for s in assigns if tree.reads(s.value) & found]
        more = {n for names in reached for n in names if not _is_number(unit, n)} - found
        if not more:
            return found
        found |= more


def _is_number(unit: Unit, name: str) -> bool:
    return isinstance(unit.types.get(name), (types.Number, types.Boolean))
