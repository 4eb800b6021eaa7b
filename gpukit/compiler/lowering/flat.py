"""Rewrite `a.flat[k]` as an element of the array, which is checked and recorded.

Before                          After
    b.flat[k] = 1                   b[k // b.shape[1], k % b.shape[1]] = 1
    a.flat[k] = 1                   a[k] = 1

If `k` must not be evaluated more than once, it stays: its bounds are checked (`runtime.generic`),
but the checker does not record the access.
"""

from __future__ import annotations

import ast
import functools

from numba.core import types

from gpukit.compiler import facts, tree
from gpukit.compiler.analysis.expressions import Expressions
from gpukit.compiler.analysis.rematerialise import PURE_NODES
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Rewrite the unit's tree in place; the types of its variables are known."""
    if any(isinstance(n, ast.Attribute) and n.attr == "flat" for n in ast.walk(unit.tree)):
        unit.tree = _Elements(Expressions(unit)).visit(unit.tree)
        ast.fix_missing_locations(unit.tree)


class _Elements(ast.NodeTransformer):
    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        base = node.value
        if not (isinstance(base, ast.Attribute) and base.attr == "flat"):
            return node
        kind, index = self.expressions.type_of(base.value), self.expressions.type_of(node.slice)
        if not isinstance(kind, types.Array) or not isinstance(index, types.Integer):
            return node
        pure = all(isinstance(n, PURE_NODES) for n in ast.walk(node.slice))
        if kind.ndim == 0 or (kind.ndim > 1 and not pure):
            return node
        axes = _axes(base.value, node.slice, kind.ndim)
        at = axes[0] if kind.ndim == 1 else ast.Tuple(axes, ast.Load())
        made = ast.copy_location(ast.Subscript(base.value, at, node.ctx), node)
        facts.note(made, **facts.of(node)._asdict())
        return made


def _axes(array: ast.expr, index: ast.expr, ndim: int) -> list[ast.expr]:
    """Return the index of each axis; a negative one counts from the end in the first."""
    shape = [tree.expr("a.shape[k]", a=array, k=tree.const(axis)) for axis in range(ndim)]
    axes = []
    for axis in range(ndim):
        inner = [tree.clone(n) for n in shape[axis + 1 :]]
        at = tree.clone(index)
        if inner:
            size = functools.reduce(lambda one, two: ast.BinOp(one, ast.Mult(), two), inner)
            at = ast.BinOp(at, ast.FloorDiv(), size)
        axes.append(ast.BinOp(at, ast.Mod(), tree.clone(shape[axis])) if axis else at)
    return axes
