"""The normal form of an answer: what is left of its code when names and spelling do not matter.

It consists of the entry and of the functions and constants that it needs. Local names, parameters
and functions are numbered in order of appearance, imported names have their full origin.
Docstrings, comments, annotations and decorators are dropped, arithmetic on constants is done, an
augmented assignment is written out, and `a > b` is `b < a`.
"""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

# Fields of the syntax tree that do not change what a kernel computes, or not in every Python.
_DROPPED = {
    *("ctx", "kind", "type_comment", "type_params", "annotation", "returns", "decorator_list"),
    *("simple", "type_ignores"),
}
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
Number = int | float
_FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# `numba.float32` is `numpy.float32`, and `gpukit.cuda` is `numba.cuda`.
_ALIKE = re.compile(r"^(gpukit|numpy|numba(\.types)?)\.")
_LARGE, _SHIFT = 2**32, 64  # what is folded is smaller
# Longer code has no normal form. It is a stranger's: constants that name each other twice would
# double the tokens with each line.
_CHARACTERS, _TOKENS = 200_000, 20_000


def tokens(source: str, entry: str) -> list[str]:
    """Return the normal form of the answer `entry` as tokens; none if there is no such answer.

    >>> first = "def f(x, out):  # doubled\\n    out[0] = 2 * 4 * x"
    >>> tokens(first, "f") == tokens("N = 0x8\\ndef f(a, b):\\n  b[0] = (N*a)", "f")
    True
    """
    if len(source) > _CHARACTERS:
        return []
    try:
        module = _Module(ast.parse(source))
        given = module.tokens(entry) if entry in module.functions else iter(())
        found = list(itertools.islice(given, _TOKENS + 1))
        return found if len(found) <= _TOKENS else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


class _Module:
    """The names that a module binds, and the tokens of its functions."""

    def __init__(self, tree: ast.Module) -> None:
        body = list(_statements(tree.body))
        self.functions = {n.name: n for n in body if isinstance(n, _FUNCTIONS)}
        self.imports = dict(_imported(body))
        self.constants: dict[str, ast.expr] = {}
        for node in body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._bind(node.targets[0], node.value)
            elif isinstance(node, ast.AnnAssign) and node.value:
                self._bind(node.target, node.value)
        self.numbers: dict[str, str] = {}  # of the functions, in order of appearance
        self.inlined: list[str] = []  # constants that are being read
        self.scope = _Scope(self, set())

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.constants[target.id] = value

    def tokens(self, entry: str) -> Iterator[str]:
        """Yield the tokens of `entry`, then those of each function that was named so far."""
        self.called(entry)
        written: set[str] = set()
        while remaining := [name for name in self.numbers if name not in written]:
            written.add(remaining[0])
            yield from self._function(self.functions[remaining[0]])

    def _function(self, node: ast.AST) -> Iterator[str]:
        inner = (name for one in ast.walk(node) if one is not node for name in _binds(one))
        scope = _Scope(self, set(inner))
        yield type(node).__name__
        for name, value in ast.iter_fields(node):
            if name not in {*_DROPPED, "name"}:
                yield from scope.field(value)

    def called(self, name: str) -> str:
        """Return the number of a function."""
        return self.numbers.setdefault(name, f"f{len(self.numbers)}")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those inside try and if statements.

    Those that run where all goes well come last: the last one that binds a name counts.
    """
    for node in body:
        for handler in node.handlers if isinstance(node, ast.Try) else ():
            yield from _statements(handler.body)
        if isinstance(node, (ast.Try, ast.If)):
            yield from _statements([*node.orelse, *node.body])
        yield node


def _imported(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind, and their origin."""
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or root, root
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


class _Scope:
    """A function, whose local names have numbers of their own; or the module, which has none."""

    def __init__(self, module: _Module, local: set[str]) -> None:
        self.module, self.local = module, local
        self.names: dict[str, str] = {}
        self.numbers: dict[ast.AST, Number | None] = {}  # of arithmetic

    def field(self, value: Any) -> Iterator[str]:
        if isinstance(value, list):
            for one in value:
                yield from self.field(one)
            yield ";"
        elif isinstance(value, ast.AST):
            yield from self._node(value)
        else:
            yield repr(value)

    def _node(self, node: ast.AST) -> Iterator[str]:
        number = self._number(node)
        if number is not None:
            yield repr(number)
        elif isinstance(node, ast.Name):
            yield from self._name(node.id)
        elif isinstance(node, ast.arg):
            yield self._local(node.arg)
        elif isinstance(node, ast.Attribute) and (origin := self._origin(node)):
            yield _ALIKE.sub("", origin)
        elif isinstance(node, ast.Pass) or _is_text(node):
            return
        elif isinstance(node, ast.AugAssign):
            yield "Assign"
            yield from self.field([node.target])
            yield from self._node(ast.BinOp(node.target, node.op, node.value))
        elif isinstance(node, ast.AnnAssign):
            if node.value:
                yield "Assign"
                yield from self.field([node.target])
                yield from self._node(node.value)
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _FLIPPED and not node.ops[1:]:
            turned = [_FLIPPED[type(node.ops[0])]()]
            yield from self._node(ast.Compare(node.comparators[0], turned, [node.left]))
        else:
            yield type(node).__name__
            for name, value in ast.iter_fields(node):
                if name not in _DROPPED:
                    yield from self.field(value)

    def _name(self, name: str) -> Iterator[str]:
        module = self.module
        if name in self.local:
            yield self._local(name)
        elif name in module.imports:
            yield _ALIKE.sub("", module.imports[name])
        elif name in module.functions:
            yield module.called(name)
        elif name in module.constants and name not in module.inlined:
            module.inlined.append(name)
            yield from module.scope.field(module.constants[name])
            module.inlined.pop()
        else:
            yield name

    def _local(self, name: str) -> str:
        return self.names.setdefault(name, f"v{len(self.names)}")

    def _origin(self, node: ast.expr) -> str:
        """Return the full name of an attribute of an imported name; nothing for other values."""
        if isinstance(node, ast.Attribute):
            base = self._origin(node.value)
            return f"{base}.{node.attr}" if base else ""
        if not isinstance(node, ast.Name) or node.id in self.local:
            return ""
        return self.module.imports.get(node.id, "")

    def _number(self, node: ast.AST) -> Number | None:
        """Return the value of an expression of constants; None for every other one."""
        if isinstance(node, ast.Constant):
            value = node.value
            return value if isinstance(value, Number) and not isinstance(value, bool) else None
        if isinstance(node, (ast.UnaryOp, ast.Name, ast.BinOp)):
            if node not in self.numbers:
                self.numbers[node] = self._computed(node)
            return self.numbers[node]
        return None

    def _computed(self, node: ast.UnaryOp | ast.Name | ast.BinOp) -> Number | None:
        if isinstance(node, ast.Name):
            inlined, bound = self.module.inlined, self.module.constants.get(node.id)
            if bound is None or node.id in inlined or node.id in self.local:
                return None
            inlined.append(node.id)
            value = self.module.scope._number(bound)
            inlined.pop()
            return value
        if isinstance(node, ast.UnaryOp):
            value = self._number(node.operand) if isinstance(node.op, ast.USub) else None
            return None if value is None else -value
        left, right = self._number(node.left), self._number(node.right)
        return None if left is None or right is None else _folded(node.op, left, right)


def _binds(node: ast.AST) -> list[str]:
    """Return the names that a node of a function binds."""
    if isinstance(node, ast.Name):
        return [node.id] if not isinstance(node.ctx, ast.Load) else []
    if isinstance(node, ast.arg):
        return [node.arg]
    return [node.name] if isinstance(node, _FUNCTIONS) else []


def _is_text(node: ast.AST) -> bool:
    """Tell whether a statement is a docstring or another constant, which does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _folded(op: ast.operator, left: Any, right: Any) -> Number | None:
    if type(op) not in _FOLDED or abs(left) > _LARGE or abs(right) > _LARGE:
        return None
    if isinstance(op, ast.LShift) and not 0 <= right < _SHIFT:
        return None
    try:
        value: Number = _FOLDED[type(op)](left, right)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return value
