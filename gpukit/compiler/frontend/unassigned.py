"""Find variables that may be read before they are assigned, and instrument them.

    if x > 0:
        v = x
    out[i] = v

Python raises UnboundLocalError; a GPU continues with whatever the register holds, and Numba with
zero. `instrument` makes an instrumented kernel detect it: for each such variable there is a local
array, which is written where the variable is assigned and read where it is read, so that the
checker finds a read before the first write. `doubtful` returns the reads to warn of without a run:
those after an `if` without an `else`, whose own conditions share no variable with it.

>>> def kernel(x, out, i):
...     if x[i] > 0:
...         v = x[i]
...     out[i] = v
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> instrument(unit)
>>> print(ast.unparse(unit.tree))
def kernel(x, out, i):
    assigned_v = cuda.local.array(1, 'int8')
    if x[i] > 0:
        v = x[i]
        assigned_v[0] = 1
    seen_v = assigned_v[0]
    out[i] = v
"""

from __future__ import annotations

import ast
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpukit import errors
from gpukit.compiler import kinds, tree
from gpukit.compiler.unit import Unit

_ARRAY = "cuda.local.array(1, 'int8')"
_EXCHANGES = kinds.SHUFFLES | kinds.VOTES  # lanes may pass a value that no lane uses

# What is known of a variable: () if it is assigned; else variables on which that depends.
_ASSIGNED: frozenset[str] = frozenset()
_State = dict[str, frozenset[str]]


class Read(NamedTuple):
    """A statement, and a variable that it may read unassigned."""

    name: str
    statement: ast.stmt


def instrument(unit: Unit) -> None:
    """Make an instrumented kernel track for each doubtful variable whether it is assigned."""
    found = _Walk(unit.tree, strict=True).reads
    arrays = {read.name: unit.named("assigned_{}", read.name) for read in found}
    if not arrays:
        return
    unit.assigned = {array: unit.as_written(name) for name, array in arrays.items()}
    before: dict[int, list[str]] = {}
    for read in found:
        before.setdefault(id(read.statement), []).append(read.name)
    body = _marked(unit, unit.tree.body, arrays, before)
    made = [s for array in arrays.values() for s in _at(f"{array} = {_ARRAY}", unit.tree)]
    unit.tree.body = [*made, *body]
    ast.fix_missing_locations(unit.tree)


_warned: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()


def warn(unit: Unit) -> None:
    """Warn of the first doubtful read of a function, once."""
    found = doubtful(unit)
    if not found or unit.function in _warned:
        return
    _warned.add(unit.function)
    name, s = found[0]
    text = (
        f"{unit.name}: {name} has a value only if an `if` before this line was taken; otherwise a "
        "GPU continues with whatever the register holds. What to do: assign it before the `if`, "
        "or in an `else`."
    )
    warnings.warn_explicit(text, errors.KernelWarning, unit.source.file, s.lineno)


def doubtful(unit: Unit) -> list[Read]:
    """Return the reads of variables that surely have a path to them without an assignment."""
    return _Walk(unit.tree, strict=False).reads


def _marked(
    unit: Unit, body: list[ast.stmt], arrays: dict[str, str], before: Mapping[int, list[str]]
) -> list[ast.stmt]:
    new: list[ast.stmt] = []
    for s in body:
        for name in before.get(id(s), ()):
            new += _at(f"{unit.named('seen_{}', name)} = {arrays[name]}[0]", s)
        for part in ("body", "orelse"):
            if getattr(s, part, None):
                setattr(s, part, _marked(unit, getattr(s, part), arrays, before))
        own = _sets(s)
        marks = [m for n, a in arrays.items() if n in own for m in _at(f"{a}[0] = 1", s)]
        if isinstance(s, ast.For):
            s.body = [*marks, *s.body]
        new += [s] if isinstance(s, ast.For) else [s, *marks]
    return new


def _at(text: str, like: ast.stmt) -> list[ast.stmt]:
    """Return statements with the line of another."""
    return [tree.at(s, like) for s in tree.stmts(text)]


def _sets(s: ast.stmt) -> set[str]:
    """Return the variables that a statement itself sets."""
    if isinstance(s, ast.For):
        return tree.writes(s.target)
    return set() if tree.blocks(s) else tree.writes(s)


@dataclass
class _Loop:
    """The current loop: what is known where it is left by `break`."""

    breaks: list[_State] = field(default_factory=list)


class _Walk:
    """Walks a function once and records what may be read unassigned.

    `strict` assumes that every path is possible. Otherwise a loop runs at least once, and its
    assignments hold after it; `if` and `elif` that all set a variable are exhaustive; and
    conditions that share a variable with those of the assignment imply them.
    """

    def __init__(self, function: ast.FunctionDef, *, strict: bool) -> None:
        self.strict = strict
        self.reads: list[Read] = []
        self.own = tree.writes(function)
        self.roots = _roots(function)
        self.loops: list[_Loop] = []
        given = function.args
        arguments = [*given.posonlyargs, *given.args, *([given.vararg] if given.vararg else [])]
        self._body(function.body, {a.arg: _ASSIGNED for a in arguments})

    def _body(self, body: list[ast.stmt], state: _State | None) -> _State | None:
        """Return what is known after statements; None if that is unreachable."""
        for s in body:
            if state is None:
                return None
            state = self._statement(s, state)
        return state

    def _statement(self, s: ast.stmt, state: _State) -> _State | None:
        self._check(s, state)
        if isinstance(s, ast.If):
            return self._if(s, state)
        if isinstance(s, (ast.For, ast.While)):
            return self._loop(s, state)
        if isinstance(s, (ast.Break, ast.Continue)):
            if isinstance(s, ast.Break) and self.loops:
                self.loops[-1].breaks.append(state)
            return None
        if isinstance(s, (ast.Return, ast.Raise)):
            return None
        return state | dict.fromkeys(_sets(s), _ASSIGNED)

    def _check(self, s: ast.stmt, state: _State) -> None:
        heads: list[ast.AST] = list(tree.heads(s)) if tree.blocks(s) else [s]
        for name in dict.fromkeys(n for head in heads for n in _read(head)):
            if name not in self.own:
                continue
            if state.get(name, {name}) != _ASSIGNED and (self.strict or name in state):
                self.reads.append(Read(name, s))
                state[name] = _ASSIGNED  # report each only once

    def _if(self, s: ast.If, state: _State) -> _State | None:
        names = self._behind(tree.reads(s.test))
        one = self._body(s.body, self._under(state, names))
        other = self._body(s.orelse, self._under(state, names))
        if one is None or other is None:
            left = other if one is None else one
            return None if left is None else self._under(left, names)
        known: _State = {}
        for name in {*one, *other}:
            both = name in one and name in other
            if both and one[name] == other[name] == _ASSIGNED:
                known[name] = _ASSIGNED
            elif not self.strict:
                again = name in state and state[name] != _ASSIGNED
                chain = name in one and len(s.orelse) == 1 and isinstance(s.orelse[0], ast.If)
                sets = self._behind(tree.writes(s))
                known[name] = _ASSIGNED if again or (chain and name in other) else names | sets
        return known

    def _under(self, state: _State, names: frozenset[str]) -> _State:
        """Return what is known under a condition on some variables."""
        if self.strict:
            return dict(state)
        return {n: _ASSIGNED if recorded & names else recorded for n, recorded in state.items()}

    def _loop(self, s: ast.For | ast.While, state: _State) -> _State | None:
        loop = _Loop()
        self.loops.append(loop)
        inside = dict(state)
        if isinstance(s, ast.For) or not self.strict:
            inside |= dict.fromkeys(_sets(s) if self.strict else tree.writes(s), _ASSIGNED)
        end = self._body(s.body, inside)
        self.loops.pop()
        endless = isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value
        at_least_once = not self.strict or _runs(s)
        ends: list[_State] = [] if endless else [end if end and at_least_once else dict(state)]
        if not self.strict:
            ends = [inside]
        elif ends and s.orelse:
            ends = [e for e in (self._body(s.orelse, ends[0]),) if e is not None]
        ways = [*ends, *(loop.breaks if self.strict else [])]
        if not ways:
            return None
        return {n: _ASSIGNED for n in ways[0] if all(w.get(n, "") == _ASSIGNED for w in ways)}

    def _behind(self, names: set[str]) -> frozenset[str]:
        """Return variables and those they are computed from."""
        return frozenset(names).union(*(self.roots.get(n, ()) for n in names))


def _roots(function: ast.FunctionDef) -> dict[str, set[str]]:
    """Return for each variable those that its values are computed from, transitively."""
    found: dict[str, set[str]] = {}
    for s in tree.statements(function.body):
        parts = [s.iter] if isinstance(s, ast.For) else [] if tree.blocks(s) else [s]
        for name in _sets(s):
            found.setdefault(name, set()).update(tree.reads(parts))
    grew = True
    while grew:
        grew = False
        for names in found.values():
            more = set().union(*(found.get(n, ()) for n in names)) - names
            names |= more
            grew = grew or bool(more)
    return found


def _runs(s: ast.For | ast.While) -> bool:
    """Tell whether a loop surely runs once: over a range of a constant length."""
    if not isinstance(s, ast.For) or not isinstance(s.iter, ast.Call):
        return False
    if not tree.calls(s.iter, range):
        return False
    numbers = [a.value for a in s.iter.args if isinstance(a, ast.Constant)]
    whole = len(numbers) == len(s.iter.args) and all(type(n) is int for n in numbers)
    return whole and len(range(*numbers)) > 0  # type: ignore[arg-type]


def _read(node: ast.AST) -> Iterator[str]:
    """Yield the variables that a statement or expression itself surely reads."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    if isinstance(node, ast.Lambda) or tree.called(node) in _EXCHANGES:
        return
    if isinstance(node, ast.IfExp):
        parts: list[ast.AST] = [node.test]
    elif isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.Compare):
        parts = [node.left, node.comparators[0]]
    else:
        parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield from _read(part)
