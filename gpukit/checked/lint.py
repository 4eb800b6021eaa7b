"""Accidental float64: what Numba computes in float64 in a float32 kernel, and why.

A float literal is float64 in Numba, an integer divided by an integer is float64, and so is a
float32 together with an integer. On most GPUs float64 runs 32 or 64 times slower than float32.

One operation whose result becomes a float32 at once, such as `out[i] = 2 * x[i]`, is done in
float32 by the GPU's compiler, if float32 holds the literal exactly: both round to the same value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from gpukit.compiler import facts, locations, pipeline, refuse, tree
from gpukit.compiler.analysis.expressions import Expressions
from gpukit.compiler.frontend import captures
from gpukit.compiler.lowering import typing
from gpukit.compiler.runtime import float4
from gpukit.compiler.unit import Unit

_WIDE = (types.float64, types.complex128)


_SMALL = 16  # bits of the widest integers whose sum with a float32 is float32

# Of these, float64 rounded to float32 is what float32 gives (LLVM's InstCombine narrows them).
_NARROWED = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Accident(NamedTuple):
    """One expression that is float64: its location, its text, and what made it so.

    `causes` are the literals, integers and arguments that did, as written in the source, `kinds`
    their types.
    """

    location: Any
    what: str
    reason: str
    causes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def accidents(
    function: Any,
    argument_types: tuple[Any, ...],
    floats: frozenset[int] = frozenset(),
    chosen: bool = False,
) -> list[Accident]:
    """Return the float64 expressions of a kernel whose arrays of floats are all float32.

    Those of its device functions are included.

    `floats` are the places of arguments that are Python's floats: nobody chose float64 for them.
    With `chosen`, float64 that the kernel asks for itself is among them: arrays of its own and
    conversions, by which a float64 array of its own is no reason to look no further.
    """
    from numba import typeof

    from gpukit.compiler.frontend import absent

    unit = pipeline.front(function, whole=True)
    arguments = dict(zip(unit.parameters, argument_types, strict=True))
    absent.run(unit, {name for name, kind in arguments.items() if str(kind) == "none"})
    arguments |= {n: typeof(captures.host(a)) for n, a in unit.captured.items()}
    accidental = {unit.parameters[k] for k in floats}
    given = {k for n, k in arguments.items() if n not in accidental}
    unit.types = dict(arguments)
    if _is_wide(given, unit):  # whatever the others are, which takes long to infer
        return []
    unit.types = typing.run(unit, arguments)
    if types.float32 not in _dtypes(unit) or (not chosen and _is_wide(given, unit)):
        return []
    finder = Finder(unit, chosen)
    finder.accidental = accidental - tree.writes(unit.tree)
    finder.run()
    return finder.found


def _is_wide(given: set[Any], unit: Unit) -> bool:
    return any(kind in given | _dtypes(unit) for kind in _WIDE)


def _dtypes(unit: Unit) -> set[Any]:
    """Return the dtypes of the arrays whose types are known so far."""
    chosen = {n: t for n, t in unit.types.items() if n not in set(_views(unit))}
    return {getattr(t, "dtype", None) for t in chosen.values() if hasattr(t, "layout")}


def _views(unit: Unit) -> Iterator[str]:
    """Yield the names of 16-byte views of vectors: complex128, but not for arithmetic."""
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            function = unit.globals.get(getattr(node.value.func, "id", ""))
            if function in (float4.as_float4, float4.as_16_bytes):
                yield from tree.writes(node)


class Finder:
    """Finds the first cause that makes an expression float64."""

    def __init__(self, unit: Unit, chosen: bool = False) -> None:
        self.unit, self.chosen = unit, chosen
        self.expressions = Expressions(unit)
        self.found: list[Accident] = []
        self.accidental: set[str] = set()  # arguments that are float64 by accident
        self.lines: set[int] = set()
        # Expressions that become float32 at once, by id, and the objects that keep the ids valid.
        self.narrowed: dict[int, ast.AST] = {}

    def run(self) -> None:
        """Check every statement."""
        self._find_narrowed()
        self._library()
        for s in tree.statements(self.unit.tree.body):
            if _is_library(s):
                continue
            value = getattr(s, "value", None)
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
                self._assigned(s)
            elif isinstance(s, ast.AugAssign):
                self._combined(s)
            if isinstance(value, ast.expr):
                self._walk(value)
            for head in tree.heads(s):
                self._walk(head)
            if (choice := facts.of(s).chosen) is not None:
                self._walk(choice)

    def _library(self) -> None:
        """Report the calls of gpukit's own functions that return float64.

        What they compute internally is not for the user to change.
        """
        nodes = (n for n in ast.walk(self.unit.tree) if not facts.of(n).library_line)
        wanted = tree.reads(n for n in nodes if isinstance(n, ast.Name))
        for s in tree.statements(self.unit.tree.body):
            if isinstance(s, ast.Assign) and _is_library(s) and tree.writes(s.targets) & wanted:
                if self.expressions.type_of(s.value) in _WIDE:
                    self._report(s.value, "call")

    def _assigned(self, s: ast.Assign) -> None:
        """Report `total = 0.0`: the variable is float64 from here on.

        So is what an array holds that was made with `np.float64`.
        """
        literal = s.value.operand if isinstance(s.value, ast.UnaryOp) else s.value
        kind = self.unit.types.get(s.targets[0].id)  # type: ignore[attr-defined]
        if _is_float(literal) and kind in _WIDE:
            self._report(s.value, "literal")
        elif self.chosen and isinstance(s.value, ast.Call):
            converted = kind in _WIDE and self.expressions.is_cast(s.value)
            if converted or getattr(kind, "dtype", None) in _WIDE:
                self._report(s.value, "chosen")

    def _combined(self, s: ast.AugAssign) -> None:
        both = tree.updated(s)
        if self._is_single(both.left) and self._narrows(both):
            self.narrowed[id(both)] = both
        self._walk(both)

    def _find_narrowed(self) -> None:
        """Collect the operations whose result is stored as float32, or converted to it, at once.

        Also through a variable that is read for nothing else.
        """
        stored = [v for n in ast.walk(self.unit.tree) for v in self._as_single(n)]
        once = {v.id for v in stored if isinstance(v, ast.Name)}
        nodes = [n for n in ast.walk(self.unit.tree) if isinstance(n, ast.Name)]
        known = {id(v) for v in stored}
        once -= {n.id for n in nodes if isinstance(n.ctx, ast.Load) and id(n) not in known}
        written = [n.id for n in nodes if isinstance(n.ctx, ast.Store)]
        for node in ast.walk(self.unit.tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name in once and written.count(name) == 1:
                    stored.append(node.value)
        self.narrowed |= {id(v): v for v in map(_unsigned, stored) if self._narrows(v)}

    def _as_single(self, node: ast.AST) -> list[ast.expr]:
        """Return the expressions whose value a node stores as float32, or converts to it."""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            return [node.value] if self._is_single(node.targets[0]) else []
        if isinstance(node, ast.Call) and node.args:
            last = node.args[-1]
            if (tree.called(node) or "").startswith("atomic."):
                return [last] if self._is_single(node) else []
            return [last] if self.expressions.is_cast(node) and self._is_single(node) else []
        return []

    def _is_single(self, node: ast.AST) -> bool:
        return bool(self.expressions.type_of(node) == types.float32)

    def _narrows(self, node: ast.AST) -> bool:
        """Tell whether an operation in float32 has the same value as in float64, rounded."""
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, _NARROWED):
            return False
        return all(self._is_single(s) or _is_exact(s) for s in _sides(node))

    def _walk(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call) and self.expressions.is_cast(node):
            inner = node.args[0] if node.args else None
            if inner is not None and not self.expressions.is_folded(inner):
                if self.chosen and self._is_wide(node):
                    self._report(node, "chosen")
                self._walk(inner)
            return
        if isinstance(node, ast.IfExp) and self._mixed(node):
            self._report(node.body if _is_float(node.body) else node.orelse, "literal")
            return
        if isinstance(node, ast.BinOp) and self._is_wide(node):
            reason = "" if id(node) in self.narrowed else self._why(node)
            if reason:
                self._report(node, reason)
                return
        if isinstance(node, ast.Call) and self._is_wide(node) and self.expressions.is_math(node):
            given = [self.expressions.type_of(a) for a in node.args]
            if not any(g in _WIDE for g in given) or any(map(_is_float, node.args)):
                self._report(node, "math")
                return
        if isinstance(node, ast.Call) and tree.calls(node, min, max) and self._is_wide(node):
            if any(map(self._is_cause, node.args)):
                self._report(node, "literal")
                return
        for child in ast.iter_child_nodes(node):
            self._walk(child)

    def _why(self, node: ast.BinOp) -> str:
        """Return what makes an operation float64 whose operands are not, "" if nothing does."""
        sides = (node.left, node.right)
        given = [self.expressions.type_of(s) for s in sides]
        if any(_is_float(s) or self._is_constant(s) for s in sides):
            return "literal"
        if any(isinstance(s, ast.Name) and s.id in self.accidental for s in sides):
            return "argument"
        if any(isinstance(s, ast.Call) and self.expressions.function(s) is float for s in sides):
            return "float"
        if any(self._widens(s) and not _is_number(s) for s in sides):
            if why := self._inner(node):
                return why
        if any(g in _WIDE or g is None for g in given):
            return ""
        whole = [isinstance(g, (types.Integer, types.Boolean)) for g in given]
        if all(whole):
            return "division" if isinstance(node.op, ast.Div) else ""
        return "integer" if any(whole) else ""

    def _inner(self, node: ast.BinOp) -> str:
        """Return what makes an operand of an operation float64, "" if nothing in it does."""
        inner = [s for s in map(_unsigned, _sides(node)) if isinstance(s, ast.BinOp)]
        reasons = (self._why(s) or self._inner(s) for s in inner if self._is_wide(s))
        return next(filter(None, reasons), "")

    def _is_wide(self, node: ast.AST) -> bool:
        return self.expressions.type_of(node) in _WIDE

    def _widens(self, node: ast.AST) -> bool:
        """Tell whether an expression is an integer that makes a float32 beside it float64."""
        kind = self.expressions.type_of(node)
        return isinstance(kind, types.Integer) and kind.bitwidth > _SMALL

    def _is_cause(self, side: ast.AST) -> bool:
        """Tell whether an operand, also of `min` and `max`, makes a float32 beside it float64."""
        return _is_number(side) or self._widens(side)

    def _is_quotient(self, node: ast.BinOp) -> bool:
        """Tell whether an operation divides integers: that is float64, whatever its operands."""
        return isinstance(node.op, ast.Div) and all(map(self._widens, _sides(node)))

    def _is_constant(self, node: ast.expr) -> bool:
        """Tell whether a name is a global constant that NumPy made, such as np.sqrt(2)."""
        value = self.unit.globals.get(node.id) if isinstance(node, ast.Name) else None
        return isinstance(value, np.float64)

    def _mixed(self, node: ast.IfExp) -> bool:
        """Tell whether a conditional expression mixes a literal with something not float64."""
        sides = (node.body, node.orelse)
        others = [self.expressions.type_of(s) for s in sides if not _is_float(s)]
        return len(others) == 1 and isinstance(others[0], types.Float) and others[0] not in _WIDE

    def _report(self, node: ast.AST, reason: str) -> None:
        location = locations.get(locations.number(self.unit, node, "", ""))
        if location.line not in self.lines:
            self.lines.add(location.line)
            what = refuse.written(node, self.unit)
            kinds = {
                refuse.written(c, self.unit): str(self.expressions.type_of(c))
                for c in self._causes(node)
                if reason not in ("division", "chosen")
            }
            if not all(_stands_in(cause, what) for cause in kinds):
                reason, kinds = "argument", {}  # the caller's name for the function's parameter
            self.found.append(Accident(location, what, reason, tuple(kinds), tuple(kinds.values())))

    def _causes(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what makes an expression float64, in the order of the source.

        If each were float32, the expression would be float32.
        """
        if not self._is_wide(node):
            return
        if isinstance(node, ast.Constant):
            yield node
        elif isinstance(node, ast.Name):
            yield from [node] if node.id in self.accidental else []
        elif isinstance(node, ast.UnaryOp):
            yield from [node] if _is_float(node) else self._causes(node.operand)
        elif isinstance(node, ast.Call):
            if not tree.calls(node, min, max):
                yield from filter(_is_float, node.args)
                return
            for argument in node.args:
                yield from [argument] if self._is_cause(argument) else self._causes(argument)
        elif isinstance(node, ast.BinOp):
            floats = (isinstance(self.expressions.type_of(s), types.Float) for s in _sides(node))
            beside_float = any(floats) or self._is_quotient(node)
            for side in _sides(node):
                if isinstance(node.op, ast.Pow) and side is node.right and _is_whole(side):
                    continue  # a float32 to the power of a whole number stays float32
                if beside_float and self._is_cause(side):
                    yield side
                else:
                    yield from self._causes(side)


def _is_library(s: ast.stmt) -> bool:
    """Tell whether a statement is in a function of gpukit."""
    parts = (s, getattr(s, "value", s))
    return any(part is not None and facts.of(part).library_line for part in parts)


def _sides(node: ast.BinOp) -> tuple[ast.expr, ast.expr]:
    return node.left, node.right


def _unsigned(node: ast.AST) -> ast.AST:
    """Return the operand of a sign, which only flips one bit."""
    return node.operand if isinstance(node, ast.UnaryOp) else node


def _is_number(node: ast.AST) -> bool:
    return isinstance(_unsigned(node), ast.Constant)


def _is_whole(node: ast.AST) -> bool:
    number = _unsigned(node)
    return isinstance(number, ast.Constant) and isinstance(number.value, int)


def _stands_in(part: str, what: str) -> bool:
    """Tell whether an expression is part of another one or of a statement, by their source.

    >>> _stands_in("n", "total /= n"), _stands_in("n", "total + number")
    (True, False)
    """
    nodes = [n for n in ast.walk(ast.parse(what)) if isinstance(n, ast.expr)]
    return tree.key(ast.parse(part, mode="eval").body) in map(tree.key, nodes)


def _is_exact(node: ast.AST) -> bool:
    """Tell whether an expression is a literal that float32 holds exactly.

    >>> [_is_exact(tree.expr(text)) for text in ("2", "-0.5", "0.1", "16777217")]
    [True, True, False, False]
    """
    node = _unsigned(node)
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (int, float)):
        return False
    return bool(float(np.float32(node.value)) == node.value)


def _is_float(node: ast.AST) -> bool:
    """Tell whether an expression is a literal of type float64."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, float)
