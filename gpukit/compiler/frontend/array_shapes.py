"""Reject shapes of shared and local arrays that Numba's GPU compiler does not evaluate."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from typing import Any, NamedTuple

import numpy as np

from gpukit.compiler import intrinsics, kinds, refuse, tree
from gpukit.compiler.unit import Unit


def check(unit: Unit, static: Callable[[ast.AST], Any], own: Set[str]) -> None:
    """Check all shapes before names of constants are replaced by literals.

    `static` returns the object that an expression refers to, `own` are the local variables.
    """
    _Shapes(unit, static, own).check()


class _Shapes(NamedTuple):
    unit: Unit
    static: Callable[[ast.AST], Any]
    own: Set[str]

    def check(self) -> None:
        for node in (n for t in self.unit.trees for n in ast.walk(t)):
            if isinstance(node, ast.Call):
                name = intrinsics.name_of(self.static(node.func))
                if name in kinds.ARRAYS:
                    self._check_call(node, name)

    def _check_call(self, node: ast.Call, name: str) -> None:
        """Reject a constant shape that Numba's GPU compiler does not evaluate.

        It accepts numbers, and names of numbers and of tuples of them: 2 * 32, which Python folds,
        but not 2 * WARP. Checked here, before names of constants are replaced by literals.
        """
        shapes = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "shape")]
        for part in (part for shape in shapes for part in self._worked_out(shape)):
            if self._is_constant(part):
                text = refuse.written(part)
                raise refuse.invalid(
                    self.unit,
                    node,
                    f"The shape of a cuda.{name} must be a number or the name of one: "
                    f"the GPU compiler does not evaluate {text}.",
                    f"define a constant outside the kernel: SIZE = {text}",
                )

    def _worked_out(self, node: ast.expr) -> Iterator[ast.expr]:
        """Yield the parts of a shape that are neither numbers nor names of them."""
        if isinstance(node, ast.Tuple):
            for element in node.elts:
                yield from self._worked_out(element)
        elif isinstance(node, ast.Name) and node.id in self.own:
            for value in self._values_of(node.id):
                yield from [] if isinstance(value, ast.Name) else self._worked_out(value)
        elif isinstance(node, ast.Name):
            yield from [node] * isinstance(self.static(node), np.integer)
        elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Attribute)):
            # A quotient is a float, which is never a valid shape.
            integer = not isinstance(getattr(node, "op", None), ast.Div)
            yield from [node] * (integer and any(isinstance(n, ast.Name) for n in ast.walk(node)))

    def _is_constant(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression has the same value in every thread of every launch."""
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                name = intrinsics.name_of(self.static(part))
                if name is not None and name != "warpsize":
                    return False
            if isinstance(part, ast.Name) and part.id in self.own:
                values = self._values_of(part.id)
                below = seen | {part.id}
                if part.id in seen or not all(self._is_constant(v, below) for v in values):
                    return False
                if not values:
                    return False
        return True

    def _values_of(self, name: str) -> list[ast.expr]:
        """Return the values assigned to a local; nothing if it is also set in another way."""
        stores = [n for t in self.unit.trees for n in ast.walk(t) if _stores(n, name)]
        values = [
            s.value
            for t in self.unit.trees
            for s in tree.statements(t.body)
            if isinstance(s, ast.Assign) and any(target in stores for target in s.targets)
        ]
        return values if len(values) == len(stores) else []


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name
