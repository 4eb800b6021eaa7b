"""Unroll loops over `literal_unroll(...)`: repeat the body for each element.

Before                                  After
    for v in literal_unroll(t):             v_1 = t[0]
        out[0] += v                         out[0] += v_1
                                            v_2 = t[1]
                                            out[0] += v_2

Elements of a tuple may have several types, so a loop cannot iterate over them; a constant element
may index such a tuple. Numba and numba-cuda unroll tuples, numba-cuda-mlir (since 0.6) ranges as
well.

>>> from numba import literal_unroll
>>> def kernel(out, a, b):
...     t = a, b
...     for k in literal_unroll(range(2)):
...         if t[k] < 0:
...             break
...         out[k] = t[k]
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> run(unit, {})
>>> print(ast.unparse(unit.tree))
def kernel(out, a, b):
    t = (a, b)
    left_1 = False
    for k_2 in range(1):
        if t[0] < 0:
            left_1 = True
            break
        out[0] = t[0]
    if not left_1:
        for k_3 in range(1):
            if t[1] < 0:
                left_1 = True
                break
            out[1] = t[1]
"""

from __future__ import annotations

import ast
import collections
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from gpukit.compiler import facts, refuse, tree
from gpukit.compiler.unit import Unit

_WRITTEN_OUT = (bool, int, float, complex, str, type(None))


def is_used(unit: Unit) -> bool:
    """Tell whether a function calls `literal_unroll`, which may depend on its caller's types."""
    unrolls = _literal_unroll()
    return any(value is unrolls for value in unit.globals.values() if unrolls)


def _literal_unroll() -> Any:
    """Return Numba's function, None if Numba is not imported, which would be slow."""
    return getattr(sys.modules.get("numba.misc.special"), "literal_unroll", None)


def run(unit: Unit, arguments: Mapping[str, Any]) -> None:
    """Rewrite the unit's tree in place; `arguments` are the Numba types that are known."""
    if is_used(unit):
        unit.tree.body = _Unroll(unit, arguments).body(unit.tree.body)
        ast.fix_missing_locations(unit.tree)


class _Unroll:
    def __init__(self, unit: Unit, arguments: Mapping[str, Any]) -> None:
        self.unit = unit
        self.kept = tree.read_outside_loops(unit.tree.body)
        stored = collections.Counter(unit.parameters)
        stored.update(
            n.id
            for n in ast.walk(unit.tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        # The values of variables assigned once, and the types of parameters never assigned.
        assigned = [v for n in ast.walk(unit.tree) for v in _named(n)]
        self.values = {name: value for name, value in assigned if stored[name] == 1}
        self.arguments = {name: kind for name, kind in arguments.items() if stored[name] == 1}

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [new for s in body for new in self._statement(s)]

    def _statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.For) and tree.calls(s.iter, _literal_unroll()):
            return self._loop(s, s.iter.args[0])  # type: ignore[attr-defined]
        self.values |= {k: v for k, v in _named(s) if k in self.values}
        for field in ("body", "orelse"):
            if getattr(s, field, None):
                setattr(s, field, self.body(getattr(s, field)))
        return [s]

    def _loop(self, s: ast.For, sequence: ast.expr) -> list[ast.stmt]:
        parts = self._parts(sequence)
        if parts is None and not self.arguments:
            return [s]  # left to the caller, which knows the types
        if parts is None:
            raise refuse.unsupported(
                self.unit,
                s.iter,
                "literal_unroll repeats the body of a loop for each element of "
                "a tuple, or of a range of constants.",
                f"loop over {refuse.written(sequence, self.unit)} without literal_unroll",
            )
        made: list[ast.stmt] = []
        if not isinstance(sequence, ast.Name) and not all(map(_is_constant, parts)):
            name = self.unit.fresh("unrolled")
            self.unit.source_names[name] = refuse.written(sequence, self.unit)
            self.values[name] = sequence
            made, sequence = [tree.at(tree.assign(name, sequence), s)], tree.name(name)
        left = self.unit.fresh("left") if "break" in tree.exits(s.body) else ""
        if left:
            made.append(tree.at(tree.assign(left, tree.const(False)), s))
        for k, part in enumerate(parts):
            item = (
                part if _is_constant(part) else ast.Subscript(sequence, tree.const(k), ast.Load())
            )
            copy = self._copy(s, tree.at(tree.clone(item), s.iter), left)
            made += self._unless(left if k else "", copy, s)
        return made + self._unless(left, self.body(s.orelse), s)

    def _copy(self, s: ast.For, item: ast.expr, left: str) -> list[ast.stmt]:
        """Return the loop's body for one element."""
        body, target = tree.clone(s.body), tree.clone(s.target)
        own = tree.writes(target) - self.kept
        first: list[ast.stmt] = []
        if isinstance(item, ast.Constant) and own and not own & tree.writes(body):
            body = [_Constant(target.id, item).visit(b) for b in body]
        else:
            names = {name: self.unit.renamed(name) for name in own}
            tree.rename([target, *body], names)
            first = [tree.at(ast.Assign([target], item), s)]
            self.values |= dict(_named(first[0]))
        exits = tree.exits(body)
        body = first + self.body(body)
        if not exits & {"break", "continue"}:
            return body
        once = tree.at(tree.store(self.unit.renamed(next(iter(tree.writes(s.target))))), s)
        body = _leaving(body, left) if left else body
        return [tree.at(ast.For(once, tree.over(tree.const(1)), body, []), s)]

    def _unless(self, left: str, body: list[ast.stmt], s: ast.For) -> list[ast.stmt]:
        if not (left and body):
            return body
        return [tree.at(ast.If(ast.UnaryOp(ast.Not(), tree.name(left)), body, []), s)]

    def _parts(self, sequence: Any) -> Sequence[Any] | None:
        """Return what is known of each element: an expression or a type; None if no tuple."""
        if isinstance(sequence, (ast.Tuple, ast.List)):
            starred = any(isinstance(e, ast.Starred) for e in sequence.elts)
            return None if starred else sequence.elts
        if tree.calls(sequence, range):
            ends = [self._integer(a) for a in sequence.args]
            known = [end for end in ends if end is not None]
            return [tree.const(k) for k in range(*known)] if len(known) == len(ends) else None
        if isinstance(sequence, ast.Subscript):
            parts, at = self._parts(sequence.value), self._integer(sequence.slice)
            if parts is None or at is None or not -len(parts) <= at < len(parts):
                return None
            return self._parts(parts[at])
        if not isinstance(sequence, ast.Name):
            return _parts_of_type(sequence)
        if isinstance(self.unit.constants.get(sequence.id), (tuple, list)):
            return [_expression(v) for v in self.unit.constants[sequence.id]]
        value = self.values.get(sequence.id, self.arguments.get(sequence.id))
        return None if value is None else self._parts(value)

    def _integer(self, node: ast.expr) -> int | None:
        """Return the value of an expression that is a constant integer."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self._integer(node.operand)
            return None if operand is None else -operand
        if isinstance(node, ast.Name) and node.id in self.values:
            return self._integer(self.values[node.id])
        if isinstance(node, ast.Name):
            node = tree.const(self.unit.constants.get(node.id))
        value = node.value if isinstance(node, ast.Constant) else None
        return value if type(value) is int else None


def _named(s: ast.AST) -> list[tuple[str, ast.expr]]:
    """Return name and value of an assignment to a name."""
    if not isinstance(s, ast.Assign):
        return []
    return [(t.id, s.value) for t in s.targets if isinstance(t, ast.Name)]


def _parts_of_type(kind: Any) -> Sequence[Any] | None:
    from numba.core import types  # imported only when something is unrolled

    return tuple(kind) if isinstance(kind, types.BaseTuple) else None


def _expression(value: Any) -> Any:
    """Return a captured value as an expression: tuples as displays, None if it has no literal."""
    if isinstance(value, (tuple, list)):
        return ast.Tuple([_expression(v) for v in value], ast.Load())
    return tree.const(value) if type(value) in _WRITTEN_OUT else None


def _is_constant(part: Any) -> bool:
    return isinstance(part, ast.Constant)


def _leaving(body: list[ast.stmt], left: str) -> list[ast.stmt]:
    """Set a flag before each `break` out of the body."""
    made: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Break):
            made.append(tree.at(tree.assign(left, tree.const(True)), s))
        elif not isinstance(s, (ast.For, ast.While)):
            for field in ("body", "orelse"):
                if getattr(s, field, None):
                    setattr(s, field, _leaving(getattr(s, field), left))
        made.append(s)
    return made


class _Constant(ast.NodeTransformer):
    """Replaces a variable by a constant."""

    def __init__(self, name: str, value: ast.Constant) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.name:
            return node
        made = ast.copy_location(tree.const(self.value.value), node)
        facts.note(made, **facts.of(node)._asdict())
        return made
