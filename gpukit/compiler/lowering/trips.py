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
from collections.abc import Iterable
from typing import Any

from numba.core import types

from gpukit.compiler import checker_state, facts, kinds, reductions, refuse, tree
from gpukit.compiler.analysis import arrays, loads
from gpukit.compiler.unit import Unit

# The calls that this pass inserts, and what they tell the engine.
CALLS = {
    "trips.load": checker_state.TRIP_LOAD,  # (depth of address and conditions) -> depth of value
    "trips.store": checker_state.TRIP_STORE,  # (depth of a value stored to shared memory)
    "trips.give": checker_state.TRIP_GIVE,  # (depth of what a lane passes to a warp operation)
    "trips.taken": checker_state.TRIP_TAKEN,  # () -> the largest depth that lanes have given
}
_EXCHANGES = kinds.SHUFFLES | kinds.VOTES


def run(unit: Unit) -> None:
    """Insert the depths that matter into the unit's tree, whose types must be known."""
    flow = loads.Flow(unit)
    if flow.matters():
        depths = _Depths(unit, flow)
        body = depths.body(unit.tree.body, None)
        unit.tree.body = [*depths.first(), *body]
        ast.fix_missing_locations(unit.tree)


def lower(rewriter: Any, name: str, node: ast.Call) -> ast.expr:
    """Return the call of the engine for one of CALLS."""
    load, location = facts.of(node).load, 0
    if load is not None:
        array = ast.unparse(_array(load))
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


def _array(load: Any) -> ast.expr:
    """Return the array that a node loads from: an access, a reduction, an atomic or a call."""
    if not isinstance(load, ast.Call):
        return arrays.base(load)
    return arrays.base(reductions.operand(load)) if reductions.reads_array(load) else load.args[0]


class _Depths:
    """Inserts the statements that compute depths."""

    def __init__(self, unit: Unit, flow: loads.Flow) -> None:
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
        value = loads.value_of(s)
        exchange = tree.called(value) in _EXCHANGES and bool(tree.writes(s) & set(self.names))
        before: list[ast.stmt] = []
        if exchange:
            given = self._largest(self.depth(value, control), control)
            before = [self._call("trips.give", [given], s)]
        after: list[ast.stmt] = []
        done = False
        for targets, part in loads.assigned(s, self.memory.local):
            kept = [n for n in tree.in_order(targets, s) if n in self.names]
            found = tree.call("cuda.trips.taken") if exchange else self.depth(part, control)
            partly = isinstance(s, ast.AugAssign) or bool(targets & self.memory.local)
            for n in kept:
                old = tree.name(self.names[n]) if partly else None
                deep = self._largest(old, found, control)
                if tree.key(deep) != tree.key(old):
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
