"""Floats where integers are required: which variable became one, in which line, and why."""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpukit.compiler import tree
from gpukit.compiler.diagnostics.mistakes.line import Advice, Line

# Numba's names of the bitwise operations, and gpukit's functions for shifts.
_OPERATIONS: dict[str, tuple[type[ast.AST], str]] = {
    **dict.fromkeys(("xor", "ixor"), (ast.BitXor, "^")),
    **dict.fromkeys(("and_", "iand"), (ast.BitAnd, "&")),
    **dict.fromkeys(("or_", "ior"), (ast.BitOr, "|")),
    **dict.fromkeys(("lshift", "ilshift", "left"), (ast.LShift, "<<")),
    **dict.fromkeys(("rshift", "irshift", "right"), (ast.RShift, ">>")),
    "invert": (ast.Invert, "~"),
}


class _Change(NamedTuple):
    """An assignment to a variable, and the type of its value."""

    statement: ast.stmt
    kind: Any


def bits(line: Line) -> Advice | None:
    """A bitwise operation on a float: `c ^= v`, `x & 1`, `~x`."""
    said = re.search(r">>> (\w+)\((.*?)\) There are", line.said)
    if said is None or said[1] not in _OPERATIONS or "float" not in said[2]:
        return None
    operation, sign = _OPERATIONS[said[1]]
    given = re.sub(r"Literal\[\w+\]\(.*?\)", "int64", said[2]).split(", ")
    for node in line.of_kind(ast.AugAssign, ast.BinOp, ast.UnaryOp):
        if not isinstance(node.op, operation):
            continue
        for operand, kind in zip(_operands(node), given, strict=False):
            if kind.startswith("float"):
                return _advice(line, node, operand, sign, kind)
    return None


def _operands(node: ast.AugAssign | ast.BinOp | ast.UnaryOp) -> list[ast.expr]:
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return [node.target, node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]


def _advice(line: Line, node: ast.AST, operand: ast.expr, sign: str, kind: str) -> Advice | None:
    name = ast.unparse(operand)
    changes = _changes(line, name) if isinstance(operand, ast.Name) else []
    rule = f"{sign} works on the bits of integers, and {name} is a {kind}"
    mixed = _mixed(changes)
    if mixed is not None:
        return _of_two_types(rule, name, changes, *mixed)
    divided = next((c for c in changes if _divides(c.statement)), None)
    if divided is not None:
        where = divided.statement.lineno
        return Advice(f"{rule}: / in line {where} gives a float.", f"write // in line {where}")
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor)
    if power or _beside_a_comparison(line, node):
        return None  # meant as a power, or as `and`
    if isinstance(node, ast.AugAssign) and operand is node.target:
        return Advice(f"{rule}.", f"convert it to an integer before: {name} = int({name})")
    return Advice(f"{rule}.", f"write int({name})")


def _of_two_types(
    rule: str, name: str, changes: list[_Change], one: _Change, other: _Change
) -> Advice:
    """Advise to convert the first unsigned value of the variable to a signed one."""
    fix = f"give it one type: np.int64(...) where {name} gets an unsigned value"
    for statement, kind in changes:
        if isinstance(statement, ast.Assign) and not getattr(kind, "signed", True):
            value = f"{name} = np.int64({ast.unparse(statement.value)})"
            fix = f"give it one type: {value} in line {statement.lineno}"
            break
    return Advice(
        f"{rule}: it is {one.kind} in line {one.statement.lineno} and {other.kind} in line "
        f"{other.statement.lineno}, and the common type of these is float64.",
        fix,
    )


def _divides(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, ast.Div)
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)


def _beside_a_comparison(line: Line, node: ast.AST) -> bool:
    compared = [n for n in line.nodes if isinstance(n, ast.Compare)]
    return any(n is node for c in compared for n in ast.walk(c))


def _mixed(changes: list[_Change]) -> tuple[_Change, _Change] | None:
    """Return two assignments of integers whose common type is a float."""
    from gpukit.compiler.kernel_target import kernel_target

    for one, other in itertools.combinations(changes, 2):
        common = kernel_target.typing_context.unify_types(one.kind, other.kind)
        integers = all("int" in str(c.kind) for c in (one, other))
        if integers and str(common).startswith("float"):
            return one, other
    return None


def _changes(line: Line, name: str) -> list[_Change]:
    """Return the assignments to a variable, in order, each with the type of its own value."""
    if line.inferred is None:
        return []
    code, kinds = line.inferred
    found: list[_Change] = []
    for statement in tree.statements(line.function.body):
        if name in _targets(statement):
            kind = _Types(code, kinds, found[-1].kind if found else None).of_line(statement.lineno)
            found += [_Change(statement, kind)] if kind is not None else []
    return found


def _targets(statement: ast.stmt) -> list[str]:
    targets: list[ast.expr] = getattr(statement, "targets", [])
    if isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    return [t.id for t in targets if isinstance(t, ast.Name)]


def _is_binary(value: Any) -> bool:
    from numba.core import ir

    return isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop")


class _Types:
    """The type that each line assigns to a variable, if the variable was of type `before`.

    Numba infers only the common type of all of them, which is what must be explained.
    """

    def __init__(self, code: Any, kinds: dict[str, Any], before: Any) -> None:
        self.code, self.kinds, self.before = code, kinds, before
        self.itself = ""

    def of_line(self, line: int) -> Any:
        from numba.core import ir

        for target, value in self._assignments():
            if target.loc.line == line and not target.name.startswith("$"):
                self.itself = target.name.partition(".")[0]
                computed = isinstance(value, ir.Var) or _is_binary(value)
                return self._of(value) if computed else self._found(target)
        return None

    def _assignments(self) -> Iterator[tuple[Any, Any]]:
        from numba.core import ir

        for block in self.code.blocks.values():
            for statement in block.find_insts(ir.Assign):
                if not (isinstance(statement.value, ir.Expr) and statement.value.op == "phi"):
                    yield statement.target, statement.value

    def _found(self, variable: Any) -> Any:
        from numba.core import types

        return types.unliteral(self.kinds.get(variable.name, types.undefined))

    def _of(self, value: Any) -> Any:
        """Return the type of an operand or of the expression that computes it."""
        from numba.core import ir
        from numba.core.errors import TypingError

        from gpukit.compiler.kernel_target import kernel_target

        if isinstance(value, ir.Var):
            if value.name.partition(".")[0] == self.itself and self.before is not None:
                return self.before
            made = next((v for t, v in self._assignments() if t.name == value.name), None)
            if value.is_temp and _is_binary(made):
                return self._of(made)
            return self._found(value)
        sides = self._of(value.lhs), self._of(value.rhs)
        with contextlib.suppress(TypingError):
            found = kernel_target.typing_context.resolve_function_type(value.fn, sides, {})
            return found.return_type if found is not None else None
        return None
