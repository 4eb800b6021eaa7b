"""A source line that Numba rejects, and the advice about it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpukit.compiler import tree
from gpukit.compiler.frontend import source
from gpukit.compiler.unit import Unit


class Advice(NamedTuple):
    """The violated rule and what to do; function and line only where Numba's are wrong."""

    rule: str
    fix: str
    function: Any = None
    line: int = 0


@dataclass
class Line:
    """A rejected line: its expressions, what its names refer to, and Numba's message.

    `inferred` are Numba's IR of the function and the types inferred for its variables.
    """

    unit: Unit
    python: Any
    function: ast.FunctionDef
    nodes: list[ast.AST]
    meaning: Callable[[ast.AST], Any]
    said: str
    inferred: tuple[Any, dict[str, Any]] | None = None

    def of_kind(self, *kinds: type[Any]) -> Iterator[Any]:
        """Yield the nodes of some kinds, outer before inner."""
        yield from (n for n in self.nodes if isinstance(n, kinds))

    def values(self, name: str) -> list[ast.expr]:
        """Return what the function assigns to a name."""
        found = (s for s in tree.statements(self.function.body) if isinstance(s, ast.Assign))
        return [s.value for s in found if any(_is_name(t, name) for t in s.targets)]


def line_of(unit: Unit, function: Any, line: int, said: str) -> Line:
    from gpukit.compiler.frontend import resolve

    found = source.find(function)
    meaning = resolve.meaning(function, found)
    return Line(unit, function, found.tree, _nodes(found.tree, line), meaning, said)


def functions(unit: Unit) -> list[Any]:
    """Return the function of a unit and those that it calls, directly or not."""
    from gpukit.compiler.frontend import resolve

    found = [unit.function]
    for function in found:
        called = unit if function is unit.function else resolve.run(function, device=True)
        found += [d.py_func for d in called.devices.values() if d.py_func not in found]
    return found


def _nodes(function: ast.FunctionDef, line: int) -> list[ast.AST]:
    """Return the nodes of the innermost statement at a line, without those it encloses."""
    found: list[ast.stmt] = [
        s for s in tree.statements(function.body) if s.lineno <= line <= (s.end_lineno or line)
    ]
    if not found:
        return []
    own = tree.heads(found[-1]) if tree.blocks(found[-1]) else [found[-1]]
    return [n for part in own for n in ast.walk(part)]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
