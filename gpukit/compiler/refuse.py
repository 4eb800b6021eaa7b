"""Errors about a kernel's source: which line, which rule, what to write instead."""

from __future__ import annotations

import ast

from gpukit import errors
from gpukit.compiler.unit import Unit

# Nodes that a kernel may hold. Everything else is refused at its line.
ALLOWED: tuple[type[ast.AST], ...] = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign,
    ast.For, ast.While, ast.If, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert,
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant,
    ast.Attribute, ast.Subscript, ast.Name, ast.Tuple, ast.Slice, ast.keyword, ast.Starred,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.Delete,
)  # fmt: skip

_FIX: dict[type[ast.AST], tuple[str, str]] = {
    ast.List: ("a list", "use cuda.local.array(shape, dtype) or a tuple"),
    ast.ListComp: ("a list comprehension", "write a for loop over a cuda.local.array"),
    ast.DictComp: ("a dict comprehension", "write a for loop over arrays"),
    ast.SetComp: ("a set comprehension", "write a for loop over arrays"),
    ast.GeneratorExp: ("a generator expression", "write a for loop"),
    ast.Dict: ("a dict", "use arrays, or a named tuple made on the host"),
    ast.Set: ("a set", "use arrays"),
    ast.Lambda: ("a lambda", "write a function with @cuda.jit(device=True) outside the kernel"),
    ast.Try: ("try/except", "test for the bad case with if; a GPU thread cannot catch errors"),
    ast.With: ("a with statement", "do this on the host, before the launch"),
    ast.Import: ("an import", "import at the top of the file"),
    ast.ImportFrom: ("an import", "import at the top of the file"),
    ast.ClassDef: ("a class", "define it outside the kernel"),
    ast.Yield: ("yield", "write results to an array"),
    ast.YieldFrom: ("yield from", "write results to an array"),
    ast.Await: ("await", "kernels are not coroutines"),
    ast.Global: ("global", "pass an array to the kernel and write to it"),
    ast.Nonlocal: ("nonlocal", "pass an array to the kernel and write to it"),
    ast.JoinedStr: ("an f-string", "print the parts: print('i =', i)"),
    ast.NamedExpr: (":=", "write the assignment as a statement of its own"),
}


def invalid(unit: Unit, node: ast.AST, message: str, fix: str = "") -> errors.Invalid:
    """Return the error for a construct that no CUDA target accepts."""
    return errors.Invalid(message, **_place(unit, node), fix=fix)


def unsupported(unit: Unit, node: ast.AST, message: str, fix: str = "") -> errors.Unsupported:
    """Return the error for a construct that gpukit cannot compile yet."""
    return errors.Unsupported(message, **_place(unit, node), fix=fix)


def _place(unit: Unit, node: ast.AST) -> dict[str, str | int]:  # type: ignore[misc]
    line = getattr(node, "lineno", unit.tree.lineno)
    return {
        "kernel": unit.name,
        "file": unit.source.file,
        "line": line,
        "source": unit.source.line(line),
    }


def check_nodes(unit: Unit) -> None:
    """Raise `errors.Invalid` at the first node that a kernel cannot hold."""
    for statement in unit.tree.body:
        for node in ast.walk(statement):
            _check_node(unit, node)


def _check_node(unit: Unit, node: ast.AST) -> None:
    if isinstance(node, ast.FunctionDef):
        raise unsupported(
            unit, node, "A kernel cannot define another function.",
            "move it out of the kernel and decorate it with @cuda.jit(device=True)",
        )  # fmt: skip
    for kind, (what, fix) in _FIX.items():
        if isinstance(node, kind):
            raise invalid(unit, node, f"A kernel cannot contain {what}.", fix)
    if not isinstance(node, ALLOWED):
        what = type(node).__name__
        raise invalid(unit, node, f"A kernel cannot contain this construct ({what}).")
