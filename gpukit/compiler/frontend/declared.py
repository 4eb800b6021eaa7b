"""Inline a device function that was declared with signatures, including its casts.

Before                                     After
    @cuda.jit("f4(f4[:], i4)", ...)            i_1 = cast(a, j)      (to int32)
    def at(a, i):                              at_value_2 = a[i_1]
        return a[i]                            v = cast(a, j, at_value_2)      (to float32)
    v = at(a, j)

Which of several signatures applies is decided once types are known.
"""

from __future__ import annotations

import ast
from typing import Any

from numba.core import types
from numba.core.typing.templates import Signature

from gpukit.compiler import numba_types, tree
from gpukit.compiler.frontend import binding, captures
from gpukit.compiler.runtime import signature_casts
from gpukit.compiler.unit import Unit


class Casts:
    """The casts of one call; none for a function without signatures."""

    def __init__(self, unit: Unit, inner: Unit, device: Any, call: ast.Call) -> None:
        self.unit, self.inner, self.name, self.call = unit, inner, inner.name, call
        given = [numba_types.signature(s) for s in captures.declared(device)]
        self.cases = [Signature(r or types.undefined, kinds, None) for kinds, r in given]
        self.values: list[ast.expr] = []

    def arguments(self, bound: binding.Bound) -> list[ast.stmt]:
        """Cast the arguments, in place; return what to run first. Arrays are not cast."""
        if not self.cases or any(len(c.args) != len(bound) for c in self.cases):
            self.cases = []
            return []
        first: list[ast.stmt] = []
        for parameter, value in bound.items():
            if not binding.is_plain(value):
                name = self.unit.renamed(parameter, of=self.inner)
                first.append(tree.at(tree.assign(name, value), self.call))
                bound[parameter] = tree.name(name)
        self.values = list(bound.values())
        for k, parameter in enumerate(bound):
            if not all(isinstance(c.args[k], _MEMORY) for c in self.cases):
                cast = signature_casts.argument(self.name, self.cases, k)
                bound[parameter] = self._call(cast, self.values)
        return first

    def result(self, target: str) -> tuple[str, list[ast.stmt]]:
        """Return the name for the function's value, and the statements that cast it to `target`."""
        if not target or not self.values or all(c.return_type in _NOTHING for c in self.cases):
            return target, []
        name = self.unit.fresh(f"{self.name}_value")
        cast = signature_casts.result(self.name, self.cases)
        made = self._call(cast, [*self.values, tree.name(name)])
        return name, [tree.at(tree.assign(target, made), self.call)]

    def _call(self, cast: Any, values: list[ast.expr]) -> ast.expr:
        name = self.unit.fresh("cast")
        self.unit.globals[name] = cast
        return tree.at(tree.call(tree.name(name), *tree.clone(values)), self.call)  # type: ignore[no-any-return]


_MEMORY = (types.Array, types.Record)
_NOTHING = (types.undefined, types.none)
