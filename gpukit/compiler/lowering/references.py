"""Write out references to records in instrumented kernels, so that fields are checked one by one.

Before                     After
    r = points[i]              points[i].x = 1
    r.x = 1                    out[i] = points[i].y
    out[i] = r.y

`r = points[i]` reads nothing: `r` stands for the record in its place. Only where what names the
record stays as it is, and all that uses `r` stands behind it in the same list of statements.

>>> from gpukit.compiler.frontend import resolve
>>> def kernel(points, out, i):
...     r = points[i]
...     r.x = 1
...     out[i] = r.y
>>> unit = resolve.run(kernel)
>>> unit.types = {"r": types.Record([], 0, False)}
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(points, out, i):
    points[i].x = 1
    out[i] = points[i].y
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from numba.core import types

from gpukit.compiler import tree
from gpukit.compiler.unit import Unit

# What names a record: names and numbers, but nothing that is read from memory or called.
_STEADY = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple,
    ast.expr_context,
)  # fmt: skip


def run(unit: Unit) -> None:
    """Put records in place of the names that stand for them; types are known."""
    names = [n for n in ast.walk(unit.tree) if isinstance(n, ast.Name)]
    uses = Counter((n.id, type(n.ctx)) for n in names)
    unit.tree.body = _body(unit, unit.tree.body, uses)


def _body(unit: Unit, body: list[ast.stmt], uses: Counter[Any]) -> list[ast.stmt]:
    body = list(body)
    for s in body:
        for part in ("body", "orelse"):
            if getattr(s, part, None):
                setattr(s, part, _body(unit, getattr(s, part), uses))
    for k in range(len(body) - 1, -1, -1):
        name, rest = _reference(unit, body[k]), body[k + 1 :]
        if name and rest and _is_steady(body[k], name, rest, uses):
            put = _Put(name, body[k].value)  # type: ignore[attr-defined]
            body[k:] = [put.visit(s) for s in rest]
    return body


def _reference(unit: Unit, s: ast.stmt) -> str:
    """Return the name in `name = array[index]`, if that is a record."""
    if not isinstance(s, ast.Assign) or not isinstance(s.targets[0], ast.Name):
        return ""
    name = s.targets[0].id
    record = isinstance(unit.types.get(name), types.Record) and isinstance(s.value, ast.Subscript)
    return name if record and len(s.targets) == 1 else ""


def _is_steady(s: Any, name: str, rest: list[ast.stmt], uses: Counter[Any]) -> bool:
    inside = [n for part in (s.value.value, s.value.slice) for n in ast.walk(part)]
    if not all(isinstance(n, _STEADY) or tree.intrinsic(n) for n in inside) or not isinstance(
        s.value.value, ast.Name
    ):
        return False
    loads = sum(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        for t in rest
        for n in ast.walk(t)
    )
    alone = uses[name, ast.Store] == 1 and loads == uses[name, ast.Load]
    return alone and not tree.writes(rest) & tree.reads(s.value)


class _Put(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self.name:
            return node
        made: ast.expr = tree.clone(self.value)
        for n in ast.walk(made):
            ast.copy_location(n, node)
        return made
