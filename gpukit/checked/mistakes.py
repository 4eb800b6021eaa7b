"""Statements that cannot be meant: values that get lost, expressions whose value is discarded,
division by a literal zero, and globals that were changed after the kernel was compiled.

Numba's CUDA target accepts all four silently.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from gpukit.compiler import facts, locations, refuse, tree
from gpukit.compiler.diagnostics import mistakes
from gpukit.compiler.frontend import resolve, source
from gpukit.compiler.unit import Unit


class Mistake(NamedTuple):
    """One mistake: its class of findings, its location, its text, and which variant it is."""

    kind: str
    location: Any
    what: str
    reason: str = ""


def written(function: Any, arguments: tuple[types.Type, ...]) -> list[Mistake]:
    """Return the mistakes in the source of a kernel, and of the functions that it calls.

    `arguments` are the kernel's numba types.
    """
    whole = resolve.run(function)
    given = dict(zip(whole.parameters, arguments, strict=True))
    found = [*_lost(whole, given), *_without_effect(whole), *_divisions(whole)]
    for called in mistakes.functions(whole)[1:]:
        unit = resolve.run(called, device=True)
        if not refuse.is_library(unit.source.file, whole.source.file):
            found += [*_lost(unit, {}), *_without_effect(unit), *_divisions(unit)]
    return found


def _mistake(unit: Unit, node: ast.AST, kind: str, what: str, reason: str = "") -> Mistake:
    return Mistake(kind, locations.get(locations.number(unit, node)), what, reason)


# ---- values that get lost ----------------------------------------------------------------------


def _lost(unit: Unit, given: dict[str, types.Type]) -> Iterator[Mistake]:
    """Find parameters that are set and not read again: the caller does not see the value.

    `given` are the types of a kernel's parameters; it is empty for a device function.
    """
    read_inside = {name for inner in unit.nested.values() for name in inner.reads}
    for name in unit.parameters:
        sets = [s for s in tree.statements(unit.tree.body) if _sets(s, name)]
        stores = [n for n in ast.walk(unit.tree) if _is(n, name, ast.Store)]
        if not sets or len(stores) != len(sets) or name in read_inside:
            continue
        if not any(_is_read_after(unit.tree.body, s, name) for s in sets):
            reason = _reason(given.get(name)) if given else "function"
            if reason:
                yield _mistake(
                    unit, sets[0], "lost-value", refuse.written(_target(sets[0])), reason
                )


def _reason(kind: Any) -> str:
    if isinstance(kind, types.Array):
        return "array"
    return "number" if isinstance(kind, (types.Number, types.Boolean)) else ""


def _target(statement: ast.stmt) -> ast.expr:
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    assert isinstance(statement, ast.AugAssign)
    return statement.target


def _sets(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
        return False
    is_assignment = isinstance(statement, (ast.Assign, ast.AugAssign))
    return is_assignment and _is(_target(statement), name, ast.Store)


def _is(node: ast.AST, name: str, context: type[ast.expr_context]) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, context)


def _is_read_after(body: list[ast.stmt], setting: ast.stmt, name: str) -> bool:
    """Tell whether a name is read after a statement that sets it, or earlier in a loop around it.

    A read only to set it again does not count: `best = max(best, x)`, `if x > best: best = x`.
    """
    behind = False
    for s in body:
        inside = any(n is setting for n in ast.walk(s))
        if inside and s is not setting:
            if isinstance(s, (ast.For, ast.While)) and _reads(s, name):
                return True
            if any(_is_read_after(block, setting, name) for block in tree.blocks(s)):
                return True
        behind_it = behind and not inside
        if behind_it and _reads(s, name):
            return True
        behind = behind or inside
    return False


def _reads(s: ast.stmt, name: str) -> bool:
    """Tell whether a statement reads a name for more than to set it again."""
    if _only_sets(s, name):
        return False
    blocks = tree.blocks(s)
    own = tree.heads(s) if blocks else [s]
    if any(_is(n, name, ast.Load) for part in own for n in ast.walk(part)):
        return True
    return any(_reads(inner, name) for block in blocks for inner in block)


def _only_sets(s: ast.stmt, name: str) -> bool:
    if isinstance(s, ast.If):
        return all(_only_sets(inner, name) for block in tree.blocks(s) for inner in block)
    return _sets(s, name)


# ---- expressions whose value is discarded -------------------------------------------------------


def _without_effect(unit: Unit) -> Iterator[Mistake]:
    """Find statements that compute a value and discard it, as `a[i] == 0` where `=` is meant.

    `p == 0 and f(a)` calls something under a condition, which is an effect.
    """
    for s in (s for function in unit.trees for s in tree.statements(function.body)):
        if isinstance(s, ast.Expr) and not _is_called(s.value):
            reason = "equality" if _may_store(s.value) else ""
            yield _mistake(unit, s, "no-effect", refuse.written(s.value), reason)


def _is_called(e: ast.expr) -> bool:
    """Tell whether an expression is a call, or a conditional call."""
    if isinstance(e, (ast.BoolOp, ast.IfExp)):
        return any(isinstance(n, ast.Call) for n in ast.walk(e))
    return isinstance(e, (ast.Call, ast.Constant))


def _may_store(e: ast.expr) -> bool:
    """Tell whether a comparison would be an assignment, were its `==` written as `=`."""
    if not isinstance(e, ast.Compare) or [type(op) for op in e.ops] != [ast.Eq]:
        return False
    return isinstance(e.left, (ast.Name, ast.Subscript, ast.Attribute))


# ---- division by zero --------------------------------------------------------------------------


def _divisions(unit: Unit) -> Iterator[Mistake]:
    """Find integers that are divided by a literal 0, which is no error on a GPU."""
    for node in (n for function in unit.trees for n in ast.walk(function)):
        if not isinstance(node, (ast.BinOp, ast.AugAssign)):
            continue
        divisor = node.right if isinstance(node, ast.BinOp) else node.value
        if isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.Div)) and _is_zero(divisor):
            yield _mistake(unit, node, "zero-division", refuse.written(node))


def _is_zero(node: ast.expr) -> bool:
    """Tell whether a divisor is a literal 0; a named constant may be guarded."""
    literal = isinstance(node, ast.Constant) and type(node.value) is int and node.value == 0
    return literal and facts.of(node).written.isdigit()


# ---- globals that were changed -----------------------------------------------------------------


class Outside:
    """The global numbers and arrays that a kernel and its functions use."""

    def __init__(self, function: Any) -> None:
        self.uses: list[tuple[Unit, ast.expr, Any]] = []
        whole = resolve.run(function)
        for called in mistakes.functions(whole):
            unit = whole if called is function else resolve.run(called, device=True)
            found = source.find(called)
            meaning = resolve.meaning(called, found)
            for node in ast.walk(ast.Module(found.tree.body, [])):
                if isinstance(node, (ast.Name, ast.Attribute)) and _is_value(meaning(node)):
                    self.uses.append((unit, node, meaning))
        values = [meaning(node) for _, node, meaning in self.uses]
        self.values = [v.copy() if isinstance(v, np.ndarray) else v for v in values]

    def changed(self) -> list[Mistake]:
        """Return the first use of each value that has changed since this was made."""
        found: dict[str, Mistake] = {}
        for (unit, node, meaning), before in zip(self.uses, self.values, strict=True):
            if not _same(before, meaning(node)):
                what = refuse.written(node)
                found.setdefault(what, _mistake(unit, node, "stale-constant", what))
        return list(found.values())


def _is_value(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic, np.ndarray))


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        same = before.shape == after.shape and before.dtype == after.dtype
        return same and before.tobytes() == after.tobytes()
    return bool(type(before) is type(after) and (before == after or before != before))
