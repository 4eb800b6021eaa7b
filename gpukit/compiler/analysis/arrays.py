"""Find which array an expression accesses, and whether it accesses one element."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import Any

from numba.core import types

from gpukit.compiler import kinds, shapes, tree
from gpukit.compiler.unit import Unit

SIZES = ("shape", "strides", "size", "ndim", "itemsize", "nbytes")  # these read no element


def root(node: ast.expr) -> str:
    """Return the name that an expression such as `a[i].x` begins with; none for `a.shape`."""
    sizes = any(isinstance(n, ast.Attribute) and n.attr in SIZES for n in ast.walk(node))
    first = base(node)
    return first.id if isinstance(first, ast.Name) and not sizes else ""


def base(node: ast.expr) -> ast.expr:
    """Return the innermost base of an expression: `a` of `a[i].x[k]`."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node


class Roots:
    """The arrays that variables refer to: `row = a[i]`, `r = points[i]`, `pair = (a, b)`.

    Those in `own` refer to themselves, whatever they are set to.
    """

    def __init__(self, unit: Unit, own: Collection[str] = ()) -> None:
        self.unit = unit
        self.known: dict[str, set[str]] = {}
        views = [s for s in tree.statements(unit.tree.body) if isinstance(s, ast.Assign)]
        before = -1
        while before != sum(map(len, self.known.values())):
            before = sum(map(len, self.known.values()))
            for s in views:
                for name in filter(self._reaches, tree.writes(s).difference(own)):
                    self.known.setdefault(name, set()).update(self._made_of(s.value))

    def of(self, node: ast.expr) -> set[str]:
        """Return the names of the arrays that an expression such as `r.x[k]` may access."""
        first = base(node)
        return self.behind(first.id) if isinstance(first, ast.Name) else set()

    def behind(self, name: str) -> set[str]:
        """Return the names of the arrays that a variable may refer to: itself, if it is one."""
        return self.known.get(name) or {name}

    def behind_all(self, names: Iterable[str]) -> set[str]:
        """Return the names of the arrays that any of these variables may refer to."""
        return set().union(*map(self.behind, names))

    def _made_of(self, value: ast.expr) -> set[str]:
        return self.behind_all(filter(self._reaches, tree.reads(value)))

    def _reaches(self, name: str) -> bool:
        kind = self.unit.types.get(name)
        return isinstance(kind, (types.Array, types.Record, types.BaseTuple))


def is_whole(unit: Unit, node: ast.Subscript) -> bool:
    """Tell whether a subscript accesses one element of an array of known type."""
    kind = unit.types.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if kind is None or not hasattr(kind, "layout"):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) != kind.ndim:
        return False
    return not any(isinstance(p, (ast.Slice, ast.Starred)) for p in parts) and not (
        kind.ndim == 1 and _is_tuple(unit, parts[0])
    )


def _is_tuple(unit: Unit, node: ast.expr) -> bool:
    kind = unit.types.get(node.id) if isinstance(node, ast.Name) else None
    return hasattr(kind, "count") or not _surely_integer(unit, node, kind)


def _surely_integer(unit: Unit, node: ast.expr, kind: Any) -> bool:
    if isinstance(node, ast.Name):
        return hasattr(kind, "bitwidth")
    return isinstance(
        node, (ast.BinOp, ast.Constant, ast.UnaryOp, ast.Call, ast.Attribute, ast.Subscript)
    )


def request_of(unit: Unit, name: str) -> tuple[str, tuple[int, ...], Any, ast.Call]:
    """Return kind, shape, dtype and call of the array that a kernel creates under a name."""
    for s in tree.statements(unit.tree.body):
        if isinstance(s, ast.Assign) and name in tree.writes(s):
            kind = tree.called(s.value)
            if kind in kinds.ARRAYS:
                shape, dtype = shapes.request(unit, s.value)  # type: ignore[arg-type]
                return kind, shape, dtype, s.value  # type: ignore[return-value]
    raise KeyError(name)
