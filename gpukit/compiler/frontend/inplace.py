"""Inline nested functions that are one expression as expressions.

Before                                  After
    at = lambda r, c: r * width + c         out[row * width + col] = 1
    out[at(row, col)] = 1

The index is then as good as a handwritten one, and an error message can show it. Functions
with statements, and arguments that read memory, are left to `inline`.

>>> def kernel(out, a, i, width):
...     at = lambda r, c=0: r * width + c
...     out[at(i)] = at(i + 1, 2) + at(a[i])
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> run(unit, unit.tree.body)
>>> print(ast.unparse(unit.tree))
def kernel(out, a, i, width):
    out[i * width + 0] = (i + 1) * width + 2 + at_1(a[i])
"""

from __future__ import annotations

import ast
from typing import Any

from gpukit.compiler import kinds, tree
from gpukit.compiler.frontend import binding
from gpukit.compiler.unit import Unit

_DEPTH = 16
# What `normalise` expands; the bodies of nested functions are not normalised yet.
_LATER = kinds.SYNC_POINTS | kinds.ARRAYS | {"grid", "gridsize", "cg.this_grid"}
_PURE = (
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Attribute,
    ast.Tuple,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
)


def run(unit: Unit, body: list[ast.stmt]) -> None:
    """Rewrite statements in place."""
    if unit.nested:
        write = _InPlace(unit)
        for s in body:
            write.visit(s)


class _InPlace(ast.NodeTransformer):
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.depth = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = self.unit.nested.get(getattr(node.func, "id", ""))
        value = _expression(function) if function is not None else None
        if value is None or self.depth >= _DEPTH:
            return node
        if any(isinstance(a, ast.Starred) for a in node.args):
            return node
        bound = binding.of_nested(self.unit, function, node)
        if not all(isinstance(n, _PURE) for a in bound.values() for n in ast.walk(a)):
            return node
        self.depth += 1
        made = self.visit(binding.Rename({}, bound).visit(tree.clone(value)))
        self.depth -= 1
        return tree.at(made, node)  # type: ignore[no-any-return]


def _expression(function: Any) -> ast.expr | None:
    """Return the expression that a function returns, if it does nothing else."""
    body = function.tree.body
    if len(body) != 1 or not isinstance(body[0], ast.Return) or function.inside:
        return None
    value: ast.expr | None = body[0].value
    if value is None or any(tree.called(n) in _LATER for n in ast.walk(value)):
        return None
    return value
