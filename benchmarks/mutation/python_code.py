"""Mistakes in Python code: small changes to comparisons, constants, calls.

The operators are those of MutPy (AOR, ASR, BCR, COD, COI, CRP, LCR, ROR; the list is in
https://github.com/sixty-north/cosmic-ray/issues/39), Offutt's statement deletion (SDL), and
swapped operands, swapped arguments and lost results. Strings, annotations, decorators,
docstrings, `__repr__` and raised exceptions are not mutated.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BOTH_WAYS = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.LShift, ast.RShift), (ast.And, ast.Or)),
    (ast.BitAnd, ast.BitOr),
)
SWAPPED: dict[type, type] = {
    **dict(_BOTH_WAYS),
    **{second: first for first, second in _BOTH_WAYS},
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitXor: ast.BitAnd,
}
COMMUTE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
UNTOUCHED = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One mistake: its location, the operator's name, the lines before and after."""

    file: str
    line: int
    operator: str
    before: str
    after: str

    @property
    def id(self) -> str:
        """The file and the changed lines: line numbers change with every edit."""
        words = [
            f"{sign} {line.strip()}"
            for sign, text in (("-", self.before), ("+", self.after))
            for line in text.splitlines()
        ]
        return "\n".join([self.file, *words])

    def put_into(self, text: str) -> str:
        """Return the text of the file with the mistake in it."""
        lines = text.splitlines(keepends=True)
        end = self.line - 1 + self.before.count("\n")
        return "".join([*lines[: self.line - 1], self.after, *lines[end:]])


def changed(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def is_text(node: ast.expr) -> bool:
    """Tell whether a node is a string; tests need not cover wording."""
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


def mistakes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the replacements of a node, each with its operator's name."""
    match node:
        case ast.Compare(ops=ops):
            for k, op in enumerate(ops):
                swapped = [*ops[:k], SWAPPED[type(op)](), *ops[k + 1 :]]
                yield "comparison", changed(node, ops=swapped)
        case ast.BinOp(left=left, op=op, right=right) if not (is_text(left) or is_text(right)):
            if type(op) in SWAPPED:
                yield "operator", changed(node, op=SWAPPED[type(op)]())
            if not isinstance(op, COMMUTE):
                yield "operands", changed(node, left=right, right=left)
        case ast.AugAssign(op=op):
            yield "operator", changed(node, op=SWAPPED[type(op)]())
            yield "statement", ast.Pass()
        case ast.BoolOp(op=op, values=values):
            yield "and/or", changed(node, op=SWAPPED[type(op)]())
            for k in range(len(values)):
                yield "condition", changed(node, values=values[:k] + values[k + 1 :])
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "not", operand
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "negated", changed(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", ast.Constant(value + 1)
            yield "constant", ast.Constant(value - 1)
        case ast.Call(args=[first, second, *rest]) if type(first) is type(second):
            if not isinstance(first, ast.Starred) and ast.unparse(node.func) != "isinstance":
                yield "arguments", changed(node, args=[second, first, *rest])
        case ast.Return(value=value) if value is not None and ast.unparse(value) != "None":
            yield "returned", changed(node, value=ast.Constant(None))
        case ast.Continue() | ast.Break():
            yield "jump", ast.Break() if isinstance(node, ast.Continue) else ast.Continue()
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.Raise():
            yield "statement", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", ast.Pass()


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node to mutate."""
    if isinstance(node, UNTOUCHED) or getattr(node, "name", "") in ("__repr__", "__str__"):
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST))


def every(file: str, text: str) -> Iterator[Mutant]:
    """Yield all mistakes in a file.

    >>> [mutant.after for mutant in every("a.py", "b = n - 1")]
    ['b = (n + 1)', 'b = (1 - n)', 'b = n - 2', 'b = n - 0']
    """
    lines = text.splitlines(keepends=True)
    todo: list[ast.AST] = [ast.parse(text)]
    while todo:
        node = todo.pop()
        todo += children(node)
        for operator, instead in mistakes(node):
            yield _written(lines, node, instead, file, operator)


def _written(lines: list[str], node: Any, instead: Any, file: str, operator: str) -> Mutant:
    """Return the mistake as text; of a compound statement only the condition is rewritten."""
    if isinstance(node, ast.If | ast.While):
        node, instead = node.test, instead.test
    old = "".join(lines[node.lineno - 1 : node.end_lineno])
    new = ast.unparse(ast.fix_missing_locations(instead))
    if isinstance(node, ast.expr) and not isinstance(instead, ast.Constant):
        new = f"({new})"
    start = lines[node.lineno - 1].encode()[: node.col_offset].decode()
    end = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
    return Mutant(file, node.lineno, operator, old, start + new + end)


def draw(
    root: Path, folders: Collection[str], count: int, seed: int, spare: Collection[str]
) -> list[Mutant]:
    """Draw lines, and one mistake in each, until `count` mistakes are not among `spare`."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for path in sorted(p for folder in folders for p in (root / folder).rglob("*.py")):
        file = path.relative_to(root).as_posix()
        for mutant in every(file, path.read_text(encoding="utf-8")):
            by_line.setdefault((file, mutant.line), []).append(mutant)
    places = sorted(by_line)
    random.Random(seed).shuffle(places)
    found: dict[str, Mutant] = {}
    for place in places:
        mutant = random.Random(f"{seed} {place}").choice(by_line[place])
        found.setdefault(mutant.id, mutant)
        if sum(name not in spare for name in found) == count:
            break
    return list(found.values())
