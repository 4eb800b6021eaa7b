"""Split conditions at their `and`s, and join them."""

from __future__ import annotations

import ast

from gpukit.compiler import facts, tree


def conjuncts(test: ast.expr) -> list[ast.expr]:
    """Split a condition at its `and`s, `&`s of comparisons, chained comparisons and negated `or`s.

    >>> [ast.unparse(c) for c in conjuncts(tree.expr("0 <= i < n and not (j >= m or p)"))]
    ['0 <= i', 'i < n', 'j < m', 'not p']
    >>> [ast.unparse(c) for c in conjuncts(tree.expr("(i < n) & (j < m)"))]
    ['i < n', 'j < m']
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [c for v in test.values for c in conjuncts(v)]
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        sides = [test.left, *test.comparators]
        return [ast.Compare(sides[k], [op], [sides[k + 1]]) for k, op in enumerate(test.ops)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _negated(test)
    if isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitAnd):
        if all(isinstance(s, ast.Compare) for s in (test.left, test.right)):
            return conjuncts(test.left) + conjuncts(test.right)
    return [test]


OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def _negated(test: ast.UnaryOp) -> list[ast.expr]:
    inner = test.operand
    if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
        return conjuncts(inner.operand)
    if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.Or):
        return [c for v in inner.values for c in conjuncts(ast.UnaryOp(ast.Not(), v))]
    if isinstance(inner, ast.Compare) and len(inner.ops) == 1:
        opposite = OPPOSITE.get(type(inner.ops[0]))
        if opposite is not None:
            flipped = ast.Compare(inner.left, [opposite()], inner.comparators)
            facts.note(flipped, negated=True)
            return [flipped]
    return [test]


def conjunction(parts: list[ast.expr]) -> ast.expr:
    """Join conditions with `and`; `True` where there are none."""
    if not parts:
        return tree.const(True)
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), list(parts))
