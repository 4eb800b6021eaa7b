"""Rewrite record fields whose names are also attributes of arrays as subscripts.

Before                          After
    n = point.size                  n = point["size"]
    config.shape[i] = 0             config[2][i] = 0

A record or a named tuple may have a field `size`. After this pass `.size` is always the size of an
array. If there is no such field, no types are inferred.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.np import numpy_support

from gpukit import errors
from gpukit.compiler import facts, refuse, tree
from gpukit.compiler.analysis.expressions import Expressions
from gpukit.compiler.lowering import typing
from gpukit.compiler.unit import Unit


def run(unit: Unit, arguments: dict[str, types.Type]) -> None:
    """Rewrite the unit's tree in place; `arguments` are the types of arguments and captures."""
    names = {n.attr for n in ast.walk(unit.tree) if isinstance(n, ast.Attribute)}
    names = {name for name in names if hasattr(np.ndarray, name)}
    if names & set(_fields_of([*arguments.values(), *map(_type, unit.globals.values())])):
        unit.types = dict(arguments)
        with contextlib.suppress(NumbaError, errors.GpukitError):  # reported at compilation
            unit.types = typing.of_variables(unit, arguments)
            unit.tree = _Subscripts(unit, names).visit(unit.tree)
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if node.attr in names:
                raise refuse.invalid(
                    unit,
                    node,
                    f"A kernel cannot set the {node.attr} of an array.",
                    "reshape it on the host, before the launch",
                )


def _type(value: Any) -> types.Type | None:
    """Return the type of a dtype, which an array created in the kernel may have."""
    if isinstance(value, types.Type):
        return value
    if isinstance(value, np.dtype) and value.names:
        return numpy_support.from_dtype(value)
    return None


def _fields_of(kinds: Any) -> Iterator[str]:
    """Yield the names of all fields that values of these types may have."""
    for kind in kinds:
        if isinstance(kind, types.Array):
            yield from _fields_of([kind.dtype])
        elif isinstance(kind, types.Record):
            yield from kind.fields
            yield from _fields_of(map(kind.typeof, kind.fields))
        elif isinstance(kind, types.BaseTuple):
            yield from getattr(kind, "fields", ())
            yield from _fields_of(kind)


class _Subscripts(ast.NodeTransformer):
    def __init__(self, unit: Unit, names: set[str]) -> None:
        self.expressions, self.names = Expressions(unit), names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        kind: Any = self.expressions.type_of(node.value) if node.attr in self.names else None
        if not isinstance(kind, (types.Record, types.BaseNamedTuple)):
            return node
        names = list(kind.fields)
        if node.attr not in names:
            return node
        key = node.attr if isinstance(kind, types.Record) else names.index(node.attr)
        made = ast.copy_location(ast.Subscript(node.value, tree.const(key), node.ctx), node)
        facts.note(made, **facts.of(node)._asdict())
        return ast.fix_missing_locations(made)
