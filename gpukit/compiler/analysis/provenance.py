"""Which variables depend on data: on what memory holds, not only on indices and sizes.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(keys, out, n):
...     i = cuda.grid(1)
...     k = keys[i]
...     last = n - 1
...     kept = 0
...     if k > 0:
...         kept = last
...     out[k] = i
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> sorted(from_data(unit)), sorted(written_by_data(unit))
(['k', 'kept'], ['out'])
"""

from __future__ import annotations

import ast

from gpukit.compiler import kinds, tree
from gpukit.compiler.analysis import uniformity
from gpukit.compiler.unit import Unit


def from_data(unit: Unit) -> set[str]:
    """Return the variables whose values depend on what memory holds."""
    found: set[str] = set()
    before = -1
    while before != len(found):
        before = len(found)
        _scan(unit.tree.body, found, False)
    return found


def _scan(body: list[ast.stmt], found: set[str], under: bool) -> None:
    for s in body:
        if isinstance(s, (ast.If, ast.For, ast.While)):
            inner = under or any(_depends(h, found) for h in tree.heads(s))
            if isinstance(s, ast.For) and inner:
                found |= tree.writes(s.target)
            for block in tree.blocks(s):
                _scan(block, found, inner)
        elif under or _depends(s, found):
            found |= tree.writes(s)


def _depends(node: ast.AST, found: set[str]) -> bool:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id in found and isinstance(n.ctx, ast.Load):
            return True
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load):
            if not uniformity.is_size(n):
                return True
        name = tree.called(n) or ""
        if name.startswith("atomic.") or name in kinds.SHUFFLES | kinds.VOTES | kinds.BARRIERS:
            return True
    return False


def written_by_data(unit: Unit) -> set[str]:
    """Return the arrays that are written at places, or under conditions, that depend on data."""
    found = from_data(unit)
    places: set[str] = set()
    _stores(unit.tree.body, found, False, places)
    return places


def _stores(body: list[ast.stmt], found: set[str], under: bool, places: set[str]) -> None:
    for s in body:
        if isinstance(s, (ast.If, ast.For, ast.While)):
            inner = under or any(_depends(h, found) for h in tree.heads(s))
            for block in tree.blocks(s):
                _stores(block, found, inner, places)
            continue
        for n in ast.walk(s):
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
                if under or _depends(n.slice, found) or not isinstance(n.value, ast.Name):
                    places |= tree.reads(n.value)
