"""Errors about a kernel's source: which line, which rule, what to write instead."""

from __future__ import annotations

import ast
import functools
import os
import sys
from pathlib import Path
from typing import Any, TypeVar

from gpukit import errors
from gpukit.compiler import debuggers, facts, tree
from gpukit.compiler.frontend import source
from gpukit.compiler.unit import Unit

_Error = TypeVar("_Error", bound=errors.CompileError)
_PACKAGE = os.path.join(Path(__file__).resolve().parents[1], "")  # noqa: PTH118  (with a separator)
_BOOK = os.path.join(_PACKAGE, "kernels", "")  # noqa: PTH118

# Nodes that a kernel may contain. All others are rejected at their line.
ALLOWED: tuple[type[ast.AST], ...] = (
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.For,
    ast.While,
    ast.If,
    ast.Expr,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Raise,
    ast.Assert,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.IfExp,
    ast.Compare,
    ast.Call,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Name,
    ast.Tuple,
    ast.Slice,
    ast.keyword,
    ast.Starred,
    ast.Lambda,
    ast.expr_context,
    ast.boolop,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
)

_FIX: dict[type[ast.AST], tuple[str, str]] = {
    ast.List: ("a list", "use cuda.local.array(shape, dtype) or a tuple"),
    ast.ListComp: ("a list comprehension", "write a for loop over a cuda.local.array"),
    ast.DictComp: ("a dict comprehension", "write a for loop over arrays"),
    ast.SetComp: ("a set comprehension", "write a for loop over arrays"),
    ast.GeneratorExp: ("a generator expression", "write a for loop"),
    ast.Dict: ("a dict", "use arrays, or a named tuple made on the host"),
    ast.Set: ("a set", "use arrays"),
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
    ast.NamedExpr: (":=", "write the assignment as a separate statement"),
    ast.Delete: ("del", "remove it; a kernel's variables end with its thread"),
    ast.Match: ("match", "write if, elif and else"),
    ast.AsyncFunctionDef: ("an async function", "kernels are not coroutines"),
    ast.AsyncFor: ("async for", "kernels are not coroutines"),
    ast.AsyncWith: ("async with", "kernels are not coroutines"),
}


def invalid(unit: Unit, node: ast.AST, message: str, fix: str = "") -> errors.Invalid:
    """Return the error for a construct that no CUDA target accepts."""
    return numba_class(errors.Invalid)(message, **_place(unit, node), fix=fix)


@functools.cache
def _numba_class(kind: type[_Error]) -> type[_Error]:
    from numba.core.errors import TypingError

    def init(self: Any, message: str, **place: Any) -> None:
        kind.__init__(self, message, **place)
        self.msg, self.loc = message, None

    members = {"__init__": init, "__str__": kind.__str__, "__module__": kind.__module__}
    return type(kind.__name__, (kind, TypingError), members)


def numba_class(kind: type[_Error]) -> type[_Error]:
    """Return an error class that is also Numba's TypingError, for code that catches that.

    If Numba is not imported, no caller can be catching its errors.
    """
    return _numba_class(kind) if "numba" in sys.modules else kind  # type: ignore[arg-type]


def unsupported(unit: Unit, node: ast.AST, message: str, fix: str = "") -> errors.Unsupported:
    """Return the error for a construct that gpukit cannot compile yet."""
    return errors.Unsupported(message, **_place(unit, node), fix=fix)


def _place(unit: Unit, node: ast.AST) -> dict[str, Any]:
    kernel, file, line, source = where(unit, node)
    return {"kernel": kernel, "file": file, "line": line, "source": source}


def where(unit: Unit, node: ast.AST) -> tuple[str, str, int, str]:
    """Return function, file, line and text of a node; an inlined one has its original location."""
    line = getattr(node, "lineno", unit.tree.lineno)
    origin = facts.of(node).inlined_from
    if is_made(unit, node):
        return source.place(source.shown(unit.function))
    if origin is None:
        return unit.name, unit.source.file, line, unit.source.line(line)
    name, found = origin
    return name, found.file, line, found.line(line)


def is_made(unit: Unit, node: ast.AST) -> bool:
    """Tell whether a node is in the generated kernel of an array function."""
    return hasattr(unit.function, "stands_for") and facts.of(node).inlined_from is None


def written(node: ast.AST, unit: Unit | None = None) -> str:
    """Return an expression as in the source; one that a pass created, by its original parts.

    `unit` has the original names of variables that were renamed.
    """
    known = facts.of(node).written
    return known or ast.unparse(_Spelling(unit).generic_visit(tree.clone(node)))


class _Spelling(ast.NodeTransformer):
    """Replaces every part that has a source text by that text."""

    def __init__(self, unit: Unit | None) -> None:
        self.names = unit.source_names if unit else {}

    def visit(self, node: ast.AST) -> Any:
        text = facts.of(node).written if isinstance(node, ast.expr) else ""
        if text:
            atom = isinstance(
                node, (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call)
            )
            return tree.name(text if atom else f"({text})")
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return tree.name(self.names.get(node.id, node.id))


def is_library(file: str, caller: str) -> bool:
    """Tell whether a file is gpukit's own library code, for a caller in another file.

    Kernels of the book, which users read, are not; what they call outside of the book is.
    """
    own = file.startswith(_PACKAGE) and not file.startswith(_BOOK)
    return own or (file.startswith(_BOOK) and not caller.startswith(_BOOK))


def mark(unit: Unit, caller: Unit, call: ast.Call) -> None:
    """Record the original location in the nodes of a function that is about to be inlined.

    For gpukit's own functions it is the call, the only line in the user's code.
    """
    origin, text = (unit.name, unit.source), ""
    library = is_library(unit.source.file, caller.source.file)
    if library:
        origin, text = facts.of(call).inlined_from, written(call, caller)  # type: ignore[assignment]
    for node in (n for function in unit.trees for n in ast.walk(function)):
        if library and isinstance(node, (ast.expr, ast.stmt)):
            facts.note(node, inlined_from=origin, written=text, library_line=node.lineno)
            node.lineno = call.lineno
        elif facts.of(node).inlined_from is None:
            facts.note(node, inlined_from=origin)


def check_nodes(unit: Unit) -> None:
    """Raise `errors.Invalid` at the first node that a kernel cannot contain."""
    for statement in unit.tree.body:
        for node in ast.walk(statement):
            _check_node(unit, node)


def _check_node(unit: Unit, node: ast.AST) -> None:
    if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Store):
        raise invalid(
            unit,
            node,
            "A kernel cannot assign to a starred name.",
            "name each part, or slice the tuple",
        )
    if debuggers.imports(node):
        raise invalid(unit, node, debuggers.RULE, debuggers.FIX)
    for kind, (what, fix) in _FIX.items():
        if isinstance(node, kind):
            raise invalid(unit, node, f"A kernel cannot contain {what}.", fix)
    if not isinstance(node, ALLOWED):
        what = type(node).__name__
        raise invalid(unit, node, f"A kernel cannot contain this construct ({what}).")


def check_result(unit: Unit) -> None:
    """Raise `errors.Invalid` at a `return value` of a kernel; device functions may have them."""
    for node in ast.walk(unit.tree):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            raise invalid(
                unit,
                node,
                f"A kernel cannot return a value, here {written(node.value)}.",
                "write the result to an array argument, or use @cuda.jit(device=True)",
            )


def check_loops(unit: Unit) -> None:
    """Raise `errors.Invalid` at a `while True` without an exit; names are resolved.

    A raise is not an exit: without debug=True a GPU continues after it.
    """
    for node in (n for function in unit.trees for n in ast.walk(function)):
        if not isinstance(node, ast.While) or tree.exits(node.body) & {"break", "return"}:
            continue
        if isinstance(node.test, ast.Constant) and node.test.value:
            raise invalid(
                unit,
                node,
                "This loop never ends: its condition is always true, and it has no "
                "break and no return.",
                "exit it with break, or use a condition that becomes false",
            )
