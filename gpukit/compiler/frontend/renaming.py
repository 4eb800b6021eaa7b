"""Split a variable that is used for several purposes into several variables.

Loops that share the name of their variable get separate variables.

Before                          After
    for k in range(4):              for k in range(4):
        s += tile[k]                    s += tile[k]
    for k in range(t, n, 8):        for k_1 in range(t, n, 8):
        s += a[k]                       s += a[k_1]

What is inferred for the variable of one loop then does not affect the other.

>>> def kernel(a, s, t, n):
...     for k in range(4):
...         s += a[k]
...     for k in range(t, n, 8):
...         s += a[k]
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(a, s, t, n):
    for k in range(4):
        s += a[k]
    for k_1 in range(t, n, 8):
        s += a[k_1]

A variable that is later assigned a value of another type becomes a new variable from there on
(`versions`). Numba does the same, and so an integer is not kept in a thread array for floats.

>>> def kernel(a, out, i):
...     x = a[i]
...     out[i] = x
...     if i > 0:
...         x = 0.5 * x
...         out[i - 1] = x
>>> unit = resolve.run(kernel)
>>> run(unit)
>>> versions(unit, {"x"})
True
>>> print(ast.unparse(unit.tree))
def kernel(a, out, i):
    x = a[i]
    out[i] = x
    if i > 0:
        x_1 = 0.5 * x
        out[i - 1] = x_1
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gpukit.compiler import tree
from gpukit.compiler.analysis import liveness
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Rewrite the unit's tree in place."""
    outside = tree.read_outside_loops(unit.tree.body)
    _loops(unit, unit.tree.body, outside, set(), frozenset())


def _loops(
    unit: Unit, body: list[ast.stmt], kept: set[str], seen: set[str], around: frozenset[str]
) -> None:
    """Rename in one list of statements; `around` are the variables of the loops around it."""
    for s in body:
        inner = around
        if isinstance(s, ast.For) and isinstance(s.target, ast.Name):
            name = s.target.id
            # Inside a loop of that name, later code may read the last value of the variable.
            if name in seen and name not in kept | around | tree.writes(s.body):
                s.target.id = unit.renamed(name)
                tree.rename(s.body + s.orelse, {name: s.target.id})
            seen.add(name)
            inner = around | {name}
        for block in tree.blocks(s):
            _loops(unit, block, kept, seen, inner)


def versions(unit: Unit, names: set[str]) -> bool:
    """Split variables at assignments that reach every later use; return whether any was."""
    known = set(names)
    _split(unit, unit.tree.body, known, frozenset(), set(unit.parameters))
    return known != names


def _split(
    unit: Unit, body: list[ast.stmt], names: set[str], later: frozenset[str], seen: set[str]
) -> None:
    """Split in one list of statements; `later` are the names used after the list."""
    for k, s in enumerate(body):
        name = _target(s)
        if name in names and name in seen and name not in later:
            new = unit.renamed(name)
            names.add(new)
            seen.add(new)
            body[k] = tree.at(tree.assign(new, _value(s)), s)
            tree.rename(body[k + 1 :], {name: new})
        elif isinstance(s, ast.If):
            behind = later | _used(body[k + 1 :])
            for block in tree.blocks(s):
                _split(unit, block, names, behind, seen | _used([s.test]))
        elif isinstance(s, (ast.For, ast.While)):
            # A variable read before it is set in an iteration may come from the previous one.
            carried, _ = liveness.flow(s.body)
            behind = later | carried | _used([*tree.heads(s), *s.orelse, *body[k + 1 :]])
            _split(unit, s.body, names, behind, seen | _used(tree.heads(s)))
        seen |= _used([s])


def _target(s: ast.stmt) -> str:
    """Return the name that a statement sets if it does nothing else, or an empty string."""
    target = s.targets[0] if isinstance(s, ast.Assign) and len(s.targets) == 1 else None
    target = s.target if isinstance(s, ast.AugAssign) else target
    return target.id if isinstance(target, ast.Name) else ""


def _value(s: ast.stmt) -> ast.expr:
    if isinstance(s, ast.AugAssign):
        return tree.updated(s)
    assert isinstance(s, ast.Assign)
    return s.value


def _used(body: Sequence[ast.AST]) -> frozenset[str]:
    return frozenset(n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name))
