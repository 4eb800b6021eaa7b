"""Find integer expressions of the form `factor * threadIdx.x + rest`, the rest fixed along a row.

A row is the threads of a block that differ in threadIdx.x only. Such a form gives the range of an
index over a row, and the part of a row for which a guard such as `i < n` holds.

>>> from gpukit.compiler import tree
>>> i = tree.expr("cuda.blockIdx.x * 4 + cuda.threadIdx.x")
>>> form = Forms({"i": i}, {}, {"n"})
>>> f = form.of(tree.expr("2 * i + n"))
>>> f.factor, ast.unparse(f.rest)
(2, '2 * (cuda.blockIdx.x * 4) + n')
>>> form.of(tree.expr("a[i]")) is None
True
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from numba.core import types

from gpukit.compiler import kinds, tree
from gpukit.compiler.analysis import rematerialise

_ZERO = ast.Constant(0)


@dataclass(frozen=True)
class Form:
    """`factor * threadIdx.x + rest`; `rest` is fixed along a row."""

    factor: int
    rest: ast.expr

    def at(self, x: ast.expr) -> ast.expr:
        """Return the value at one position in the row."""
        if self.factor == 0:
            return self.rest
        return _add(_times(x, tree.const(self.factor)), self.rest)


class Forms:
    """Finds forms, given rematerialised variables, types and the names fixed along a row."""

    def __init__(
        self, rematerialised: dict[str, ast.expr], types: dict[str, Any], fixed: set[str]
    ) -> None:
        self.rematerialised = rematerialised
        self.types = types
        self.fixed = fixed

    def with_fixed(self, names: set[str]) -> Forms:
        """Return the same with more names fixed along a row."""
        return Forms(self.rematerialised, self.types, self.fixed | names)

    def is_fixed(self, node: ast.AST) -> bool:
        """Tell whether an expression has one value along a row and reads no memory."""
        name = tree.intrinsic(node)
        if name is not None:
            return name in kinds.BLOCK_VALUES or name in ("threadIdx.y", "threadIdx.z")
        if isinstance(node, ast.Name):
            if node.id in self.rematerialised:
                return self.is_fixed(self.rematerialised[node.id])
            return node.id in self.fixed
        if rematerialise.is_shape(node, self.types):
            return all(self.is_fixed(n) for n in ast.walk(node) if isinstance(n, ast.Name))
        if isinstance(node, ast.Call):
            return rematerialise.is_pure(node) and all(self.is_fixed(a) for a in node.args)
        if not isinstance(node, rematerialise.PURE_NODES) or isinstance(node, ast.Attribute):
            return False
        return all(self.is_fixed(child) for child in ast.iter_child_nodes(node))

    def is_integer(self, node: ast.AST) -> bool:
        """Tell whether an expression is an integer, judged by its names and operators."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Pow)):
            return False
        if isinstance(node, ast.Call):
            kind = rematerialise.cast(node)
            if isinstance(kind, types.Float) or kind == types.uint64:
                return False
            if kind is not None:  # whatever it converts; `int` of a uint64 stays uint64
                return not (tree.calls(node, int) and any(map(self._is_uint64, ast.walk(node))))
        if isinstance(node, ast.Name) and node.id in self.types:
            kind = self.types[node.id]
            signed = getattr(kind, "signed", None)
            return (signed is not None or hasattr(kind, "layout")) and not self._is_uint64(node)
        return all(self.is_integer(child) for child in ast.iter_child_nodes(node))

    def _is_uint64(self, node: ast.AST) -> bool:
        kind = self.types.get(node.id) if isinstance(node, ast.Name) else None
        return getattr(kind, "signed", None) is False and kind.bitwidth == 64  # type: ignore[union-attr]

    def of(self, node: ast.AST) -> Form | None:
        """Return the form of an integer expression, or None."""
        if tree.intrinsic(node) == "threadIdx.x":
            return Form(1, _ZERO)
        if isinstance(node, ast.expr) and self.is_fixed(node):
            return Form(0, self.written_out(node)) if self.is_integer(node) else None
        if isinstance(node, ast.Name) and node.id in self.rematerialised:
            return self.of(self.rematerialised[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return _scaled(self.of(node.operand), -1)
        if isinstance(node, ast.BinOp):
            found = self._binary(node)
            # A larger factor could overflow 64 bits within a row.
            return found if found is not None and abs(found.factor) < 2**31 else None
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            if rematerialise.cast(node) == types.int64:
                return self.of(node.args[0])
        return None

    def written_out(self, node: ast.expr) -> ast.expr:
        """Return an expression with the rematerialised variables replaced by their definitions."""
        return _WriteOut(self.rematerialised).visit(tree.clone(node))  # type: ignore[no-any-return]

    def _binary(self, node: ast.BinOp) -> Form | None:
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return Form(left.factor + right.factor, _add(left.rest, right.rest))
        if isinstance(node.op, ast.Sub):
            return Form(left.factor - right.factor, _subtract(left.rest, right.rest))
        if isinstance(node.op, ast.Mult):
            for a, b in ((left, right), (right, left)):
                if a.factor == 0 and isinstance(a.rest, ast.Constant):
                    return _scaled(b, a.rest.value)
        return None


class _WriteOut(ast.NodeTransformer):
    def __init__(self, rematerialised: dict[str, ast.expr]) -> None:
        self.rematerialised = rematerialised

    def visit_Name(self, node: ast.Name) -> ast.AST:
        made = self.rematerialised.get(node.id)
        return node if made is None else self.visit(tree.clone(made))


def _is(node: ast.AST, value: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _add(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(a, 0):
        return b
    if _is(b, 0):
        return a
    if isinstance(a, ast.Constant) and isinstance(b, ast.Constant):
        return tree.const(a.value + b.value)  # type: ignore[operator]
    return ast.BinOp(a, ast.Add(), b)


def _subtract(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(b, 0):
        return a
    if isinstance(a, ast.Constant) and isinstance(b, ast.Constant):
        return tree.const(a.value - b.value)  # type: ignore[operator]
    return ast.BinOp(a, ast.Sub(), b)


def _times(a: ast.expr, b: ast.expr) -> ast.expr:
    if _is(a, 1):
        return b
    if _is(b, 1):
        return a
    return ast.BinOp(a, ast.Mult(), b)


def _scaled(form: Form | None, by: Any) -> Form | None:
    if form is None or not isinstance(by, int):
        return None
    rest = tree.const(0) if _is(form.rest, 0) else _times(tree.const(by), form.rest)
    if isinstance(form.rest, ast.Constant):
        rest = tree.const(form.rest.value * by)  # type: ignore[operator]
    return Form(form.factor * by, rest)


@dataclass(frozen=True)
class Bound:
    """A limit on threadIdx.x: it is at least (`lower`) or below (`upper`) a fixed value."""

    lower: ast.expr | None = None
    upper: ast.expr | None = None


def bounds(forms: Forms, test: ast.expr) -> list[Bound] | None:
    """Return the limits that a comparison sets on threadIdx.x, or None if it sets none."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    left, right = forms.of(test.left), forms.of(test.comparators[0])
    if left is None or right is None:
        return None
    factor = left.factor - right.factor
    rest = _subtract(right.rest, left.rest)  # factor * x  OP  rest
    op: ast.cmpop = test.ops[0]
    if factor < 0:
        factor, rest = -factor, _times(tree.const(-1), rest)
        op = _MIRROR.get(type(op), type(op))()
    if factor == 0:
        return None

    def below(e: ast.expr) -> ast.expr:
        return _divide_up(e, factor)  # x < e / factor  <=>  x < ceil(e / factor)

    one_more = _add(rest, tree.const(1))
    if isinstance(op, ast.Lt):
        return [Bound(upper=below(rest))]
    if isinstance(op, ast.LtE):
        return [Bound(upper=below(one_more))]
    if isinstance(op, ast.GtE):
        return [Bound(lower=below(rest))]
    if isinstance(op, ast.Gt):
        return [Bound(lower=below(one_more))]
    if isinstance(op, ast.Eq):
        return [Bound(lower=below(rest)), Bound(upper=below(one_more))]
    return None


def guard(forms: Forms, test: ast.expr) -> list[tuple[Form, ast.expr]]:
    """Return the form of an index and the size that bounds it, for `i < n` and `n > i`."""
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.Gt))):
        return []
    index, size = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.Gt):
        index, size = size, index
    form = forms.of(index)
    if form is None or form.factor < 0 or not forms.is_fixed(size) or len(test.ops) != 1:
        return []
    return [(form, forms.written_out(size))]


_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}


def _divide_up(e: ast.expr, by: int) -> ast.expr:
    if by == 1:
        return e
    return tree.expr("-(-e // by)", e=e, by=tree.const(by))
