"""Find whether stores depend on data in memory or only on the launch shape.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(keys, out, flag, n):
...     i = cuda.grid(1)
...     k = keys[i]
...     last = n - 1
...     kept = 0
...     if k > 0:
...         kept = last
...         flag[0] = 1
...     out[k] = i
...     keys[i] = 0
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> found = stores(unit)
>>> sorted(found.by_data), sorted(found.by_shape)
(['flag', 'out'], ['keys'])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from numba.core import types

from gpukit.compiler import conditions, kinds, tree
from gpukit.compiler.analysis import arrays, expressions, uniformity
from gpukit.compiler.unit import Unit

_EXCHANGES = kinds.SHUFFLES | kinds.VOTES | kinds.BARRIERS
_GEOMETRY = kinds.THREAD_VALUES | {f"blockIdx.{a}" for a in tree.AXES}


class Stores(NamedTuple):
    """The arrays of a kernel by what determines which of their elements are written.

    `by_data` have a store whose index or condition depends on data in memory; `by_shape` have one
    whose index depends on the thread or block, and that neither data nor the value of an argument
    can skip. An array with stores of both kinds is in both.
    """

    by_data: set[str]
    by_shape: set[str]


def stores(unit: Unit) -> Stores:
    """Return the unit's arrays by what determines which of their elements are written."""
    data, geometry = _Data(unit), _Geometry(unit)
    settings = _Settings(unit, geometry)
    roots = arrays.Roots(unit)
    found = Stores(set(), set())
    both = zip(data.placed(unit.tree.body), settings.placed(unit.tree.body), strict=True)
    for (s, under), (_, set_) in both:
        for target in _targets(s):
            names = roots.of(target)
            indices = [n.slice for n in _chain(target) if isinstance(n, ast.Subscript)]
            base = arrays.base(target)
            if under or any(map(data.depends, [*indices, base])):
                found.by_data.update(names)
            elif not set_ and any(map(geometry.depends, [*indices, base])):
                found.by_shape.update(names)
    return found


def _targets(s: ast.stmt) -> Iterator[ast.expr]:
    """Yield the elements, fields and parts of arrays that a statement writes."""
    own = tree.heads(s) if tree.blocks(s) else [s]
    for n in tree.walk(own):
        if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, ast.Store):
            yield n


def _chain(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression such as `a[i].x[k]` and its bases, the outermost first."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        yield node
        node = node.value


class _Source:
    """The variables of a unit that depend on a source, by data flow or by control flow."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.names: set[str] = set()
        before = -1
        while before != len(self.names):
            before = len(self.names)
            for s, under in self.placed(unit.tree.body):
                loop = isinstance(s, ast.For) and (under or self.depends(s.iter))
                plain = not tree.blocks(s) and (under or self.depends(s))
                self.names |= tree.writes(s.target if loop else s) if loop or plain else set()  # type: ignore[attr-defined]

    def is_source(self, node: ast.AST) -> bool:
        """Tell whether a node itself is a source."""
        raise NotImplementedError

    def depends(self, node: ast.AST) -> bool:
        """Tell whether an expression or statement depends on a source."""
        return any(
            self.is_source(n)
            or (isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self.names)
            for n in ast.walk(node)
        )

    def decides(self, head: ast.expr) -> bool:
        """Tell whether a source determines if the body of a statement with this head runs."""
        return self.depends(head)

    def placed(self, body: list[ast.stmt], under: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
        """Yield all statements, each with True if a source determines whether it runs."""
        for s in body:
            yield s, under
            inner = under or any(map(self.decides, tree.heads(s)))
            for block in tree.blocks(s):
                yield from self.placed(block, inner)
            under = under or self._leaves(s)

    def _leaves(self, s: ast.stmt) -> bool:
        """Tell whether a source determines if the code after a statement runs."""
        inside = [h for n in tree.statements([s]) for h in tree.heads(n)]
        return bool(tree.exits([s])) and any(map(self.decides, inside))


class _Data(_Source):
    """Dependence on data in memory or on other threads."""

    def __init__(self, unit: Unit) -> None:
        self.expressions = expressions.Expressions(unit)
        super().__init__(unit)

    def is_source(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            return not self.expressions.is_view(node) and not uniformity.is_size(node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            record = isinstance(self.expressions.type_of(node.value), types.Record)
            return record and not self.expressions.is_view(node)
        name = tree.called(node) or ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in self.unit.devices  # a device function may read memory
        return name.startswith("atomic.") or name in _EXCHANGES


class _Geometry(_Source):
    """Dependence on the thread or block index."""

    def is_source(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and tree.intrinsic(node) in _GEOMETRY


class _Settings(_Source):
    """Dependence on a condition that all threads share, that is, on the value of an argument."""

    def __init__(self, unit: Unit, geometry: _Geometry) -> None:
        self.geometry = geometry
        super().__init__(unit)

    def is_source(self, node: ast.AST) -> bool:
        return False  # a value decides nothing; only a condition does

    def decides(self, head: ast.expr) -> bool:
        if isinstance(head, (ast.Constant, ast.Call)):  # `while True`, `range(n)`
            return False
        return any(
            self.depends(c) or not self.geometry.depends(c) for c in conditions.conjuncts(head)
        )
