"""Turn `for` loops that contain a sync point and vary between threads into `while` loops."""

from __future__ import annotations

import ast

from gpukit.compiler import kinds, refuse, tree
from gpukit.compiler.analysis import loops
from gpukit.compiler.analysis.uniformity import Uniformity
from gpukit.compiler.frontend import jumps
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Turn the loops of a unit; raise Unsupported for one that is not over `range`."""
    whole_grid = any(tree.called(n) == kinds.GRID_SYNC for n in ast.walk(unit.tree))
    while True:
        found = Uniformity(unit, whole_grid=whole_grid)
        loop = _varying_loop(unit.tree.body, found)
        if loop is None:
            return
        if not loops.is_range(unit, loop.iter):
            raise refuse.unsupported(
                unit,
                loop,
                "A loop that contains a barrier and differs between threads must be over "
                "range(...).",
                "write for k in range(...)",
            )
        first, new = jumps.as_while(unit, loop)
        _replace(unit.tree.body, loop, [*first, new])


def _varying_loop(body: list[ast.stmt], found: Uniformity) -> ast.For | None:
    for s in tree.statements(body):
        if isinstance(s, ast.For) and kinds.synchronises(s) and found.varies(s.iter):
            return s
    return None


def _replace(body: list[ast.stmt], old: ast.stmt, new: list[ast.stmt]) -> bool:
    for k, s in enumerate(body):
        if s is old:
            body[k : k + 1] = new
            return True
        if any(_replace(b, old, new) for b in tree.blocks(s)):
            return True
    return False
