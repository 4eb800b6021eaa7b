"""Convert the float bounds of ranges to integers, once types are known.

Before                                  After
    for k in range(a.size / 4):             for k in range(whole_int32(a.size / 4)):

Numba accepts such a range, and converts each bound to an int32; loops over threads need integer
bounds. A `while` loop that `strides` turned into a range compares with the float itself, so it
becomes a `while` loop again.

>>> from numba.core import types
>>> def kernel(out, n, m):
...     for k in range(n, m):
...         out[k] = k
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> unit.types = {"n": types.float32, "m": types.int64}
>>> run(unit)
True
>>> print(ast.unparse(unit.tree))
def kernel(out, n, m):
    for k in range(whole_int32(n), m):
        out[k] = k
"""

from __future__ import annotations

import ast
from typing import Any

from numba.core import types

from gpukit.compiler import facts, tree
from gpukit.compiler.analysis import expressions, loops
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> bool:
    """Rewrite the unit's tree in place; return whether types must be inferred again."""
    bounds = _Bounds(unit)
    new: list[ast.stmt] = []
    for k, s in enumerate(unit.tree.body):
        made = bounds.visit(s)
        made = made if isinstance(made, list) else [made]
        new += made
        unit.coarsened += len(made) - 1 if k < unit.coarsened else 0
    unit.tree.body = new
    ast.fix_missing_locations(unit.tree)
    return bounds.changed


class _Bounds(ast.NodeTransformer):
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.expressions = expressions.Expressions(unit)
        self.changed = False

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        if not loops.is_range(self.unit, node.iter):
            return node
        over: Any = node.iter
        if facts.of(over).was_while and any(map(self._is_float, over.args)):
            return self._while(node)
        over.args = [self._whole(a) for a in over.args]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if facts.of(node).range_bound:
            node.value = self._whole(node.value)
        return node

    def _is_float(self, bound: ast.expr) -> bool:
        return isinstance(self.expressions.type_of(bound), types.Float)

    def _whole(self, bound: ast.expr) -> ast.expr:
        if not self._is_float(bound):
            return bound
        self.changed = True
        name = self.unit.named("whole_int32")
        self.unit.globals[name] = types.int32
        whole = tree.name(name)
        facts.note(whole, means=types.int32)
        return tree.at(tree.call(whole, bound), bound)  # type: ignore[no-any-return]

    def _while(self, loop: ast.For) -> list[ast.stmt]:
        self.changed = True
        name = loop.target.id  # type: ignore[attr-defined]
        start, stop, step = loop.iter.args  # type: ignore[attr-defined]
        following = ast.AugAssign(tree.store(name), ast.Add(), step)
        test = ast.Compare(tree.name(name), [ast.Lt()], [stop])
        again = ast.While(test, [*loop.body, following], [])
        return [tree.assign(name, start, loop), tree.at(again, loop)]
