"""Find variables that are cheaper to recompute than to store for each thread.

`i = cuda.grid(1)` needs no memory across a barrier: it is recomputed from the indices where it is
used. Such a variable is set once, from values that are set once, without reading memory; every use
comes after it, in the same innermost loop.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(a, n):
...     i = cuda.grid(1)
...     last = n - 1
...     x = a[i]
...     j = i + last
...     i2 = i
...     i2 += 1
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> sorted(run(unit, Uniformity(unit)))
['i', 'j', 'last']
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.core import types

from gpukit.compiler import numba_types, tree
from gpukit.compiler.analysis import arrays
from gpukit.compiler.analysis.uniformity import Uniformity
from gpukit.compiler.unit import Unit

PURE_NODES = (
    ast.Constant,
    ast.Name,
    ast.BinOp,
    ast.UnaryOp,
    ast.Tuple,
    ast.Attribute,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.Compare,
    ast.cmpop,
    ast.BoolOp,
    ast.boolop,
)
_MAX_NODES = 60


def run(unit: Unit, uniformity: Uniformity) -> dict[str, ast.expr]:
    """Return the rematerialised variables with the expressions that define them."""
    return _Finder(unit, uniformity).find()


def is_shape(node: ast.AST, kinds: Mapping[str, Any]) -> bool:
    """Tell whether an expression reads the shape of an array: `a.shape[0]`, `a.size`.

    `kinds` are the Numba types of variables: a record may have a field of such a name.
    """
    if isinstance(node, ast.Subscript):
        whole = isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")
        return whole and isinstance(node.value.value, ast.Name) and is_shape(node.value, kinds)  # type: ignore[attr-defined]
    if not isinstance(node, ast.Attribute) or node.attr not in arrays.SIZES:
        return False
    base = kinds.get(node.value.id) if isinstance(node.value, ast.Name) else None
    return not isinstance(base, (types.Record, types.BaseTuple))


_PURE = (abs, len, bool)


def cast(node: ast.AST) -> types.Type | None:
    """Return the numeric type to which a call converts; for `int` and `float` the widest."""
    function = tree.function_of(node)
    if function is int or function is float:
        return types.int64 if function is int else types.float64
    return next((kind for f, kind in _CASTS if function is f or function is kind), None)


_CASTS = [
    (getattr(np, name), getattr(types, name)) for name in (*numba_types.NUMBERS, "intp", "uintp")
]


def is_pure(node: ast.Call) -> bool:
    """Tell whether a call is pure, without reading memory: a cast, `min` and the like.

    `max(tile)` is not: it reads an array.
    """
    of_numbers = tree.calls(node, min, max) and len(node.args) > 1
    pure = of_numbers or tree.calls(node, *_PURE) or cast(node) is not None
    return not node.keywords and pure


class _Finder:
    def __init__(self, unit: Unit, uniformity: Uniformity) -> None:
        self.unit = unit
        self.uniformity = uniformity
        self.counts: dict[str, int] = {}
        self.definitions: dict[str, ast.expr] = {}
        self.read_ok: dict[str, bool] = {}
        self._count()
        self._scan(unit.tree.body, set())

    def _count(self) -> None:
        for p in self.unit.parameters:
            self.counts[p] = 1
        for node in ast.walk(self.unit.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.counts[node.id] = self.counts.get(node.id, 0) + 1

    def _scan(self, body: list[ast.stmt], visible: set[str]) -> None:
        """Walk in order; a read of a variable outside `visible` rules it out.

        `visible` are the variables set before, in this loop or around it.
        """
        for s in body:
            self._check_reads(s, visible)
            if isinstance(s, ast.Assign) and len(s.targets) == 1:
                target = s.targets[0]
                if isinstance(target, ast.Name):
                    self.definitions[target.id] = s.value
            if isinstance(s, (ast.For, ast.While)):
                inner = set(visible)
                inner |= tree.writes(s.target) if isinstance(s, ast.For) else set()
                self._scan(s.body, inner)
                self._scan(s.orelse, set(visible))
            elif isinstance(s, ast.If):
                self._scan(s.body, visible)
                self._scan(s.orelse, visible)
            else:
                visible |= tree.writes(s)

    def _check_reads(self, s: ast.stmt, visible: set[str]) -> None:
        read = tree.reads(tree.heads(s)) if tree.blocks(s) else tree.reads(s)
        for name in read - visible:
            self.read_ok[name] = False

    def find(self) -> dict[str, ast.expr]:
        rematerialised: dict[str, ast.expr] = {}
        parameters = set(self.unit.parameters)
        for name, value in self.definitions.items():
            if self.counts[name] != 1 or name in parameters:
                continue
            if self.read_ok.get(name, True) and self._is_pure(value, rematerialised):
                rematerialised[name] = value
        return rematerialised

    def _is_pure(self, value: ast.expr, rematerialised: dict[str, ast.expr]) -> bool:
        if sum(1 for _ in ast.walk(value)) > _MAX_NODES:
            return False
        return self._pure(value, rematerialised)

    def _pure(self, node: ast.AST, rematerialised: dict[str, ast.expr]) -> bool:
        if tree.intrinsic(node) is not None:
            return True
        if isinstance(node, ast.Name):
            return self._name_is_stable(node.id, rematerialised)
        if is_shape(node, self.unit.types):
            inner = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
            return all(self._name_is_stable(n.id, rematerialised) for n in inner)
        if isinstance(node, ast.Call):
            return is_pure(node) and all(self._pure(a, rematerialised) for a in node.args)
        if not isinstance(node, PURE_NODES) or isinstance(node, ast.Attribute):
            return False
        return all(self._pure(child, rematerialised) for child in ast.iter_child_nodes(node))

    def _name_is_stable(self, name: str, rematerialised: dict[str, ast.expr]) -> bool:
        if name in rematerialised or name not in self.counts:
            return True  # a captured object, which is never assigned
        if self.counts[name] != 1:
            return False
        return name not in self.uniformity.varying
