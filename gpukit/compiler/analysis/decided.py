"""Mark the accesses that are reached only if an atomic returned a certain value.

A thread that waits for a flag tests its value: `if cuda.atomic.add(flag, 0, 0) == 1:` decides
whether the code after it runs. A fence and an atomic order only such accesses. A thread that reads
the flag and continues in any case has not waited.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(data, flag, out):
...     while cuda.atomic.cas(flag, 0, 0, 1) != 0:
...         pass
...     out[0] = data[0]
>>> def careless(data, flag, out):
...     out[1] = cuda.atomic.add(flag, 0, 0)
...     out[0] = data[0]
>>> from gpukit.compiler.frontend import resolve
>>> def shown(function):
...     unit = resolve.run(function)
...     run(unit)
...     found = [n for n in ast.walk(unit.tree) if isinstance(n, ast.Subscript)]
...     return sorted({ast.unparse(n.value) for n in found if facts.of(n).decided})
>>> shown(kernel), shown(careless)
(['data', 'out'], [])
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gpukit.compiler import facts, intrinsics, tree
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Mark the accesses of a unit's tree: their nodes get the fact `decided`."""
    if not any((tree.called(n) or "").startswith("atomic.") for n in ast.walk(unit.tree)):
        return
    from_atomic: set[str] = set()
    before = -1
    while before != len(from_atomic):
        before = len(from_atomic)
        _Walk(from_atomic).body(unit.tree.body, False)


def has_fences(unit: Unit) -> bool:
    """Tell whether a unit has fences and atomics, which together order accesses."""
    names = {tree.called(n) or "" for n in ast.walk(unit.tree)}
    atomic = any(n.startswith("atomic.") for n in names)
    return atomic and not names.isdisjoint(intrinsics.FENCE_NAMES)


class _Walk:
    """Walks a tree with the names of variables and arrays that depend on an atomic's result."""

    def __init__(self, from_atomic: set[str]) -> None:
        self.from_atomic = from_atomic

    def body(self, body: list[ast.stmt], under: bool) -> None:
        """Mark a body; `under`: it is reached only if an atomic returned a certain value."""
        for s in body:
            heads = tree.heads(s)
            if not heads:
                self._statement(s, under)
                continue
            _mark(heads, under)
            inner = under or any(map(self._is_from_atomic, heads))
            if isinstance(s, ast.For) and inner:
                self.from_atomic |= tree.writes(s.target)
            for block in tree.blocks(s):
                self.body(block, inner)
            waits = isinstance(s, ast.While) or any(map(tree.exits, tree.blocks(s)))
            under = under or (inner and waits) or self._is_left_by_atomic(s)

    def _statement(self, s: ast.stmt, under: bool) -> None:
        _mark([s], under)
        if under or self._is_from_atomic(s):
            self.from_atomic |= tree.writes(s)
            for n in ast.walk(s):
                if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
                    self.from_atomic |= tree.reads(n.value)

    def _is_left_by_atomic(self, s: ast.stmt) -> bool:
        """Tell whether a loop is left because of what an atomic returned."""
        if not isinstance(s, (ast.For, ast.While)):
            return False
        tests = (n for inner in s.body for n in ast.walk(inner) if isinstance(n, ast.If))
        return any(self._is_from_atomic(n.test) and tree.exits([n], inner=False) for n in tests)

    def _is_from_atomic(self, node: ast.AST) -> bool:
        names = tree.reads(node)
        atomic = any((tree.called(n) or "").startswith("atomic.") for n in ast.walk(node))
        return atomic or not names.isdisjoint(self.from_atomic)


def _mark(nodes: Iterable[ast.AST], under: bool) -> None:
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, (ast.Subscript, ast.Call)):
                facts.note(n, decided=under)
