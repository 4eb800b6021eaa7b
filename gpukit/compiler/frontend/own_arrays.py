"""Hoist the creation of shared and local arrays to the start of a kernel.

Before                                       After
    if i < n:                                    a = cuda.local.array(4, float32)
        a = cuda.local.array(4, float32)         if i < n:
        a[0] = i                                     a[0] = i

On a GPU such an array is allocated from the start: a shared one once per block, a local one once
per thread, the same in each iteration of a loop. Its name can be bound at the start, too, if it is
assigned only once; else it is assigned where the source does.

>>> import numpy as np
>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(a, out, n):
...     i = cuda.threadIdx.x
...     if i < n:
...         own = cuda.local.array(4, np.float32)
...         a = cuda.shared.array(32, np.float32)
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(a, out, n):
    own = cuda.local.array(4, np_float32)
    a_1 = cuda.shared.array(32, np_float32)
    i = cuda.threadIdx.x
    if i < n:
        a = a_1

A device function has its shared arrays once, however often it is called: once for each signature
that it is compiled for. `mark` records this where its body is inlined, and `share` gives those
arrays one name as soon as types are known.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from gpukit.compiler import facts, kinds, tree
from gpukit.compiler.frontend import captures
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Move the unit's arrays to the start of its tree, in place."""
    stores = Counter(
        n.id
        for n in ast.walk(unit.tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    once = {name for name, count in stores.items() if count == 1} - set(unit.parameters)
    move = _Move(unit, once)
    body = move.body(unit.tree.body)
    unit.tree.body = [*move.first, *body]


class _Move(ast.NodeTransformer):
    def __init__(self, unit: Unit, once: set[str]) -> None:
        self.unit = unit
        self.once = once  # names that are assigned once
        self.first: list[ast.stmt] = []

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new = [made for s in body if (made := self.visit(s)) is not None]
        return new or [tree.at(ast.Pass(), body[0])]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        target = node.targets[0]
        if not kinds.makes_array(node) or len(node.targets) > 1 or not isinstance(target, ast.Name):
            return self.generic_visit(node)
        if target.id in self.once:
            self.first.append(node)
            return None
        node.value = self._named(node.value, target.id)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return self._named(node, "array") if tree.called(node) in kinds.ARRAYS else node

    def _named(self, call: ast.expr, base: str) -> ast.expr:
        name = self.unit.renamed(base)
        self.first.append(tree.assign(name, call, call))
        return ast.copy_location(tree.name(name), call)

    def _inside(self, node: Any) -> Any:
        for head in ("test", "iter"):
            if hasattr(node, head):
                setattr(node, head, self.visit(getattr(node, head)))
        node.body = self.body(node.body)
        node.orelse = self.body(node.orelse) if node.orelse else []
        return node

    visit_If = visit_For = visit_While = _inside


def has_frame(device: Any) -> bool:
    """Tell whether a device function is called and not inlined by Numba."""
    return getattr(device, "targetoptions", {}).get("inline") not in (True, "always")


def mark(function: ast.FunctionDef, device: Any, given: list[ast.expr]) -> None:
    """Record in the shared arrays of a device function to which function they belong.

    `given` are the arguments where its body is inlined. A function that Numba itself inlines, with
    `inline`, has its arrays once per call.
    """
    if not has_frame(device):
        return
    calls = (n for n in ast.walk(function) if tree.called(n) == "shared.array")
    for number, call in enumerate(calls):
        facts.note(call, shared_array=facts.SharedArray(device, number, tuple(given)))


def share(unit: Unit) -> None:
    """Merge the shared arrays that calls of a device function have in common."""
    seen: dict[Any, str] = {}
    names: dict[str, str] = {}
    for s in unit.tree.body:
        array = facts.of(s.value).shared_array if kinds.makes_array(s) else None  # type: ignore[attr-defined]
        if array is not None:
            kinds_ = () if _casts(array.function) else tuple(_kind(unit, e) for e in array.given)
            name = s.targets[0].id  # type: ignore[attr-defined]
            names[name] = seen.setdefault((id(array.function), array.number, kinds_), name)
    tree.rename(unit.tree, {name: first for name, first in names.items() if name != first})


def _casts(device: Any) -> bool:
    """Tell whether a device function is compiled for one signature only."""
    return len(captures.declared(device)) == 1


def _kind(unit: Unit, given: ast.expr) -> object:
    """Return what Numba specialises a function for: types, and values of integer literals."""
    if isinstance(given, ast.Name):
        return unit.types.get(given.id, given.id)
    if isinstance(given, ast.Constant):
        return type(given.value) if isinstance(given.value, float) else repr(given.value)
    if isinstance(given, ast.Tuple):
        return tuple(_kind(unit, e) for e in given.elts)
    return tree.key(given)
