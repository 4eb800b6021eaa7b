"""Follow chains of dependent loads: how often a warp must wait for memory before it can go on.

In the kernel of a profile, a variable beside each value that a load decides holds the value's
*depth*: how many loads of global memory had to finish, one after the other, before it was known. A
load is one deeper than its address and the conditions under which it is made. Only values that can
reach an address or a condition of a load are followed; all other loads have depth 1, which the
engine counts without help (`checked/engine/trips.py`).

At a barrier the threads wait for what has been stored to shared memory: what follows is as deep as
the deepest of these values, so reads of shared memory need no depths of their own.

>>> from gpukit.compiler import intrinsics as cuda
>>> from numba.core import types
>>> def kernel(following, out, node):
...     while node >= 0:
...         node = following[node]
...     out[0] = node
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> unit.types = {n: types.int64[:] for n in ("following", "out")} | {"node": types.int64}
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(following, out, node):
    depth_1 = 0
    control_2 = 0
    control_2 = depth_1
    depth_1 = max(depth_1, control_2)
    while node >= 0:
        node = following[node]
        depth_1 = max(cuda.trips.load(max(depth_1, control_2)), control_2)
        control_2 = max(control_2, depth_1)
        depth_1 = max(depth_1, control_2)
    out[0] = node
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from numba.core import types

from gpukit.compiler import checker_state, facts, kinds, reductions, refuse, tree
from gpukit.compiler.analysis import arrays, expressions, uniformity
from gpukit.compiler.unit import Unit

# The calls that this pass inserts, and what they tell the engine.
CALLS = {
    "trips.load": checker_state.TRIP_LOAD,  # (depth of address and conditions) -> depth of value
    "trips.store": checker_state.TRIP_STORE,  # (depth of a value stored to shared memory)
    "trips.give": checker_state.TRIP_GIVE,  # (depth of what a lane passes to a warp operation)
    "trips.taken": checker_state.TRIP_TAKEN,  # () -> the largest depth that lanes have given
}
_EXCHANGES = kinds.SHUFFLES | kinds.VOTES
_WAITS = kinds.BARRIERS | {kinds.GRID_SYNC, "syncwarp"}


def run(unit: Unit) -> None:
    """Insert the depths that matter into the unit's tree, whose types must be known."""
    flow = _Flow(unit)
    if flow.matters():
        depths = _Depths(unit, flow)
        body = depths.body(unit.tree.body, None)
        unit.tree.body = [*depths.first(), *body]
        ast.fix_missing_locations(unit.tree)


def lower(rewriter: Any, name: str, node: ast.Call) -> ast.expr:
    """Return the call of the engine for one of CALLS."""
    load, location = facts.of(node).load, 0
    if load is not None:
        array = ast.unparse(load.args[0] if isinstance(load, ast.Call) else arrays.base(load))
        location = rewriter.location(load, array, refuse.written(load, rewriter.unit))
    rewriter.uses_thread = True
    parts: list[ast.expr] = [
        tree.const(CALLS[name]),
        tree.const(location >> checker_state.LOCATION_SHIFT),
        tree.expr("thread - first_thread"),
        node.args[0] if node.args else tree.const(0),
    ]
    hook = rewriter.helper("hooks", "trip")
    return tree.call(hook, tree.name("_context"), ast.Tuple(parts, ast.Load()))


class _Memory:
    """Tells which expressions load from global memory, and which store to shared memory."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.expressions = expressions.Expressions(unit)
        self.roots = arrays.Roots(unit)
        made = [s for s in tree.statements(unit.tree.body) if kinds.makes_array(s)]
        own: dict[str, set[str]] = {name: set() for name in kinds.ARRAYS}
        for s in made:
            own[tree.called(s.value) or ""] |= tree.writes(s)  # type: ignore[attr-defined]
        self.shared, self.local = own["shared.array"], own["local.array"]
        self.others = self.shared | self.local | set(unit.captured)

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


class _Flow:
    """Finds the variables whose depths matter, from all assignments and whatever their order.

    `loaded` are those that a loaded value may decide, `followed` those of them that may reach the
    address or a condition of a load; `based` is whether loads follow barriers that wait for loads.
    """

    def __init__(self, unit: Unit) -> None:
        self.memory = memory = _Memory(unit)
        self.places = list(_places(unit.tree.body, ()))
        self.assigned = [
            (targets, value, controls)
            for s, controls in self.places
            for targets, value in _assigned(s, memory.local)
        ]
        self.loaded = self._closed(set(), lambda names, parts: self._is_loaded(parts, names))
        body = unit.tree.body
        self.based = _loads_after_barrier(memory, body) and any(
            self._is_loaded(memory.stored(s), self.loaded)
            or tree.called(_value(s)) == kinds.GRID_SYNC
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


class _Depths:
    """Inserts the statements that compute depths."""

    def __init__(self, unit: Unit, flow: _Flow) -> None:
        self.unit, self.flow, self.memory = unit, flow, flow.memory
        self.names = {n: unit.fresh("depth") for n in tree.in_order(flow.followed, unit.tree)}
        self.controls: list[str] = []
        self.again: set[Any] = set()  # keys of loads in the conditions around a statement

    def first(self) -> list[ast.stmt]:
        """Return the statements that begin the kernel."""
        names = [*self.names.values(), *self.controls]
        self.unit.types |= dict.fromkeys(names, types.int64)
        return [self._added(tree.assign(n, tree.const(0)), self.unit.tree.body[0]) for n in names]

    def body(self, body: list[ast.stmt], control: ast.expr | None) -> list[ast.stmt]:
        """Return statements with the depths of what they set, under conditions of a depth."""
        new: list[ast.stmt] = []
        for s in body:
            if isinstance(s, (ast.If, ast.For, ast.While)):
                new += self._compound(s, control)
            else:
                new += self._simple(s, control)
        return new

    # ---- statements -----------------------------------------------------------------------

    def _simple(self, s: ast.stmt, control: ast.expr | None) -> list[ast.stmt]:
        value = _value(s)
        exchange = tree.called(value) in _EXCHANGES and bool(tree.writes(s) & set(self.names))
        before: list[ast.stmt] = []
        if exchange:
            given = self._largest(self.depth(value, control), control)
            before = [self._call("trips.give", [given], s)]
        after: list[ast.stmt] = []
        done = False
        for targets, part in _assigned(s, self.memory.local):
            kept = [n for n in tree.in_order(targets, s) if n in self.names]
            found = tree.call("cuda.trips.taken") if exchange else self.depth(part, control)
            partly = isinstance(s, ast.AugAssign) or bool(targets & self.memory.local)
            for n in kept:
                old = tree.name(self.names[n]) if partly else None
                deep = self._largest(old, found, control)
                after.append(self._added(tree.assign(self.names[n], deep), s))
                found = tree.name(self.names[n])  # the loads are made once
            done = done or bool(kept)
        shared = self._deepest([self.depth(e, control) for e in self.memory.stored(s)])
        if self.flow.based and shared is not None:
            after.append(self._call("trips.store", [shared], s))
            done = True
        if not done and not exchange:
            used = not (isinstance(s, ast.Expr) and self.memory.loads(value))
            parts = [s] if used else list(ast.iter_child_nodes(value))
            after += self._loads_alone(parts, control, s)
        return [*before, s, *after]

    def _compound(
        self, s: ast.If | ast.For | ast.While, control: ast.expr | None
    ) -> list[ast.stmt]:
        head = tree.heads(s)[0]
        deep = self.depth(head, control)
        if deep is None:
            s.body, s.orelse = self.body(s.body, control), self.body(s.orelse, control)
            return [s]
        name = self.unit.fresh("control")
        self.controls.append(name)
        inside = tree.writes([*s.body, *s.orelse, *([s.target] if isinstance(s, ast.For) else [])])
        set_here = [self.names[n] for n in tree.in_order(inside, s) if n in self.names]
        raised = [
            self._added(tree.assign(n, self._largest(tree.name(n), tree.name(name))), s)
            for n in set_here
        ]
        first = self._added(tree.assign(name, self._largest(deep, control)), s)
        before = self.again
        if isinstance(s, ast.If):
            self.again = before | {tree.key(n) for n in self.memory.all_loads(head)}
        s.body, s.orelse = self.body(s.body, tree.name(name)), self.body(s.orelse, tree.name(name))
        self.again = before
        if isinstance(s, ast.While):
            deep = self._largest(tree.name(name), self.depth(head, tree.name(name)))
            s.body += [self._added(tree.assign(name, deep), s), *tree.clone(raised)]
        return [first, *raised, s]

    def _loads_alone(
        self, parts: list[Any], control: ast.expr | None, like: ast.stmt
    ) -> list[ast.stmt]:
        """Return the calls for loads whose values reach nothing that is followed."""
        deep = self._deepest([self.depth(part, control) for part in parts])
        if deep is None or not any(tree.called(n) == "trips.load" for n in ast.walk(deep)):
            return []
        return [self._added(ast.Expr(deep), like)]

    # ---- expressions ----------------------------------------------------------------------

    def depth(self, e: ast.AST, control: ast.expr | None) -> ast.expr | None:
        """Return the depth of an expression's value, None for 0; made under `control`."""
        if isinstance(e, ast.Name):
            followed = e.id in self.names and isinstance(e.ctx, ast.Load)
            return tree.name(self.names[e.id]) if followed else None
        inner = self._deepest([self.depth(n, control) for n in ast.iter_child_nodes(e)])
        if not self.memory.loads(e):
            return inner
        if tree.key(e) in self.again:  # a compiler has loaded it for the condition
            return self._deepest([inner, control])
        address = self._deepest([inner, control])
        if address is None and not self.flow.based and not isinstance(e, ast.Call):
            return tree.const(1)
        made = tree.call("cuda.trips.load", address or tree.const(0))
        facts.note(made, load=e)
        return made

    def _deepest(self, depths: Iterable[ast.expr | None]) -> ast.expr | None:
        found = list({tree.key(d): d for d in depths if d is not None}.values())
        return functools.reduce(_larger, map(tree.clone, found)) if found else None

    def _largest(self, *depths: ast.expr | None) -> ast.expr:
        return self._deepest(depths) or tree.const(0)

    def _call(self, name: str, arguments: list[ast.expr], like: ast.stmt) -> ast.stmt:
        return self._added(ast.Expr(tree.call(f"cuda.{name}", *arguments)), like)

    def _added(self, s: ast.stmt, like: ast.AST) -> ast.stmt:
        made: ast.stmt = tree.at(s, like)
        facts.note(made, added=True)
        return made


def _larger(a: ast.expr, b: ast.expr) -> ast.expr:
    return tree.call(tree.builtin(max), a, b)


def _value(s: ast.stmt) -> Any:
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


def _assigned(s: ast.stmt, local: set[str]) -> list[tuple[set[str], ast.AST]]:
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


def _loads_after_barrier(memory: _Memory, body: list[ast.stmt]) -> bool:
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
