"""Find which values may reach the address or a condition of a load of global memory."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from numba.core import types

from gpukit.compiler import kinds, reductions, tree
from gpukit.compiler.analysis import arrays, expressions, uniformity
from gpukit.compiler.unit import Unit

_WAITS = kinds.BARRIERS | {kinds.GRID_SYNC, "syncwarp"}


class Memory:
    """Tells which expressions load from global memory, and which store to shared memory."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.expressions = expressions.Expressions(unit)
        made = [s for s in tree.statements(unit.tree.body) if kinds.makes_array(s)]
        own: dict[str, set[str]] = {name: set() for name in kinds.ARRAYS}
        for s in made:
            own[tree.called(s.value) or ""] |= tree.writes(s)  # type: ignore[attr-defined]
        self.shared, self.local = own["shared.array"], own["local.array"]
        self.others = self.shared | self.local | set(unit.captured)
        self.roots = arrays.Roots(unit, self.others)

    def loads(self, node: ast.AST) -> bool:
        """Tell whether a node itself loads a value from global memory."""
        if isinstance(node, ast.Subscript):
            if not isinstance(node.ctx, ast.Load) or uniformity.is_size(node):
                return False
            base = self.expressions.type_of(node.value)
            element = hasattr(base, "layout") or isinstance(base, types.Record)
            return element and not self.expressions.is_view(node) and self.is_global(node)
        if isinstance(node, ast.Attribute):
            base = self.expressions.type_of(node.value)
            if expressions.field_name(base, node.attr) is None:
                return False
            reading = isinstance(node.ctx, ast.Load) and not self.expressions.is_view(node)
            return reading and self.is_global(node)
        if not isinstance(node, ast.Call):
            return False
        if (tree.called(node) or "").startswith("atomic."):
            return self.is_global(node.args[0])
        if reductions.reads_array(node):
            return self.is_global(reductions.operand(node))
        named = isinstance(node.func, ast.Name) and node.func.id in self.unit.devices
        return named and any(self.expressions.is_view(a) and self.is_global(a) for a in node.args)

    def is_global(self, node: ast.expr) -> bool:
        """Tell whether an array, or an element of one, may lie in global memory."""
        return bool(self.roots.of(node) - self.others)

    def is_shared(self, node: ast.expr) -> bool:
        """Tell whether an array, or an element of one, lies in shared memory."""
        return bool(self.roots.of(node) & self.shared)

    def all_loads(self, node: ast.AST | Iterable[ast.AST]) -> list[ast.AST]:
        """Return the nodes of a tree that load."""
        nodes = list(tree.walk(node))
        unused = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}  # results of atomics
        return [n for n in nodes if id(n) not in unused and self.loads(n)]

    def stored(self, s: ast.stmt) -> list[ast.expr]:
        """Return what a statement stores to shared memory, or passes to a barrier."""
        if isinstance(s, (ast.Assign, ast.AugAssign)):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            if any(isinstance(t, ast.Subscript) and self.is_shared(t) for t in targets):
                return [s.value]
        found: list[ast.expr] = []
        for n in ast.walk(s) if not tree.blocks(s) else ():
            name = tree.called(n) or ""
            if name in kinds.BARRIERS:
                found += n.args  # type: ignore[attr-defined]
            elif name.startswith("atomic.") and self.is_shared(n.args[0]):  # type: ignore[attr-defined]
                found += n.args[1:]  # type: ignore[attr-defined]
        return found


class Flow:
    """Finds the variables whose depths matter, from all assignments and whatever their order.

    `loaded` are those that a loaded value may decide, `followed` those of them that may reach the
    address or a condition of a load; `based` is whether loads follow barriers that wait for loads.
    """

    def __init__(self, unit: Unit) -> None:
        self.memory = memory = Memory(unit)
        self.places = list(_places(unit.tree.body, ()))
        self.assigned = [
            (targets, value, controls)
            for s, controls in self.places
            for targets, value in assigned(s, memory.local)
        ]
        self.loaded = self._closed(set(), lambda names, parts: self._is_loaded(parts, names))
        body = unit.tree.body
        self.based = _loads_after_barrier(memory, body) and any(
            self._is_loaded(memory.stored(s), self.loaded)
            or tree.called(value_of(s)) == kinds.GRID_SYNC
            for s, _ in self.places
        )
        wanted: set[str] = set()
        for s, controls in self.places:
            own = tree.heads(s) if tree.blocks(s) else [s]
            for load in memory.all_loads(own):
                again = own if isinstance(s, ast.While) else []
                wanted |= tree.reads([*_address(load), *controls, *again])
            if self.based:
                wanted |= tree.reads(memory.stored(s))
        before = -1
        while before != len(wanted):
            before = len(wanted)
            for targets, value, controls in self.assigned:
                if targets & wanted:
                    wanted |= tree.reads([value, *controls])
        self.followed = wanted & self.loaded

    def _closed(self, names: set[str], reached: Any) -> set[str]:
        before = -1
        while before != len(names):
            before = len(names)
            for targets, value, controls in self.assigned:
                if reached(names, [value, *controls]):
                    names |= targets
        return names

    def _is_loaded(self, parts: list[Any], names: set[str]) -> bool:
        return bool(self.memory.all_loads(parts) or tree.reads(parts) & names)

    def matters(self) -> bool:
        """Tell whether a load can be deeper than 1."""
        if self.followed or self.based:
            return True
        for s, controls in self.places:
            loads = self.memory.all_loads(tree.heads(s) if tree.blocks(s) else [s])
            if any(isinstance(n, ast.Call) for n in loads):
                return True  # an atomic: the engine does not know whether its result is used
            if loads and (self.memory.all_loads(controls) or any(map(self._nests, loads))):
                return True
        return False

    def _nests(self, load: ast.AST) -> bool:
        return bool(self.memory.all_loads(_address(load)))


def value_of(s: ast.stmt) -> Any:
    """Return the value of a statement, itself where it has none."""
    return getattr(s, "value", None) or s


def _address(load: ast.AST) -> list[ast.AST]:
    """Return the parts of a load that decide which element it loads."""
    return list(ast.iter_child_nodes(load))


def _places(
    body: list[ast.stmt], controls: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """Yield all statements with the conditions and ranges around them."""
    for s in body:
        yield s, controls
        for inner in tree.blocks(s):
            yield from _places(inner, (*controls, *tree.heads(s)))


def assigned(s: ast.stmt, local: set[str]) -> list[tuple[set[str], ast.AST]]:
    """Return the variables and local arrays that a statement sets, with what they are set to."""
    if isinstance(s, ast.For):
        return [(tree.writes(s.target), s.iter)]
    if not isinstance(s, (ast.Assign, ast.AugAssign)) or kinds.makes_array(s):
        return []
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]
    names = {n.id for t in targets for n in _names(t)}
    names |= {arrays.root(t) for t in targets if isinstance(t, ast.Subscript)} & local
    return [(names, s.value)] if names else []


def _names(target: ast.expr) -> list[ast.Name]:
    """Return the variables in a target, not those in its indices."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [n for t in target.elts for n in _names(t)]
    return [target] if isinstance(target, ast.Name) else []


def _loads_after_barrier(memory: Memory, body: list[ast.stmt]) -> bool:
    """Tell whether a load may follow a barrier: behind it, or in a loop around both."""
    waited = False
    for s in body:
        loads = bool(memory.all_loads(s))
        waits = any(tree.called(n) in _WAITS for n in ast.walk(s))
        if loads and waits and isinstance(s, (ast.For, ast.While)):
            return True
        if any(_loads_after_barrier(memory, b) for b in tree.blocks(s)) or (loads and waited):
            return True
        waited = waited or waits
    return False
