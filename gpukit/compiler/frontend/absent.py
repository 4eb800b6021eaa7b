"""Remove the branches of a kernel for arguments that are None in this launch.

>>> def kernel(a, b, out):
...     if b is None:
...         out[0] = a[0]
...     else:
...         out[0] = b[0]
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> run(unit, {"b"})
>>> print(ast.unparse(unit.tree))
def kernel(a, b, out):
    out[0] = a[0]
"""

from __future__ import annotations

import ast

from gpukit.compiler import tree
from gpukit.compiler.frontend import normalise
from gpukit.compiler.unit import Unit


def run(unit: Unit, names: set[str]) -> None:
    """Rewrite the unit's tree in place; `names` are the parameters that are None."""
    names = names - tree.writes(unit.tree)
    if names:
        unit.tree.body = [_Absent(names).visit(s) for s in unit.tree.body]
        unit.tree.body = normalise.live(unit.tree.body) or [ast.Pass()]
        ast.fix_missing_locations(unit.tree)


class _Absent(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(tree.const(None), node) if node.id in self.names else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if len(node.ops) == 1 and all(isinstance(s, ast.Constant) for s in sides):
            same = sides[0].value is sides[1].value  # type: ignore[attr-defined]
            if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                return ast.copy_location(tree.const(same == isinstance(node.ops[0], ast.Is)), node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.copy_location(tree.const(not node.operand.value), node)
        return node
