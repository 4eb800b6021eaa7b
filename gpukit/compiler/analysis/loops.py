"""Facts about the range of a loop."""

from __future__ import annotations

import ast

from gpukit.compiler import tree
from gpukit.compiler.unit import Unit


def is_range(unit: Unit, node: ast.expr) -> bool:
    """Tell whether an expression is a call of Python's `range`."""
    return isinstance(node, ast.Call) and not node.keywords and tree.calls(node, range)


def is_positive(unit: Unit, node: ast.expr) -> bool:
    """Tell whether an expression is surely greater than zero: sizes, and products of them."""
    name = tree.intrinsic(node)
    if name is not None:
        return name.startswith(("blockDim", "gridDim"))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value > 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add)):
        return is_positive(unit, node.left) and is_positive(unit, node.right)
    if isinstance(node, ast.Name):
        values = [
            s.value
            for s in tree.statements(unit.tree.body)
            if node.id in tree.writes(s) and isinstance(s, ast.Assign)
        ]
        once = (
            sum(
                1
                for n in ast.walk(unit.tree)
                if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)
            )
            == 1
        )
        return once and len(values) == 1 and is_positive(unit, values[0])
    return False
