"""Mistakes in calls: host functions, wrong arguments, objects that are no functions."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from gpukit.compiler import debuggers, tree
from gpukit.compiler.diagnostics.mistakes.line import Advice, Line, functions, line_of
from gpukit.compiler.frontend import source


def python_object(line: Line) -> Advice | None:
    """The name of an object that Numba has no type for: a function, a dict, an object."""
    said = re.search(r"Cannot determine Numba type of (<class '[^']+'>)", line.said)
    if said is None:
        return None
    for at in _suspects(line):
        for node in at.of_kind(ast.Attribute, ast.Name):
            value = at.meaning(node)
            if str(type(value)) == said[1]:
                advice = _unusable(ast.unparse(node), value)
                return advice._replace(function=at.python, line=node.lineno)
    return None


def _suspects(line: Line) -> Iterator[Line]:
    """Yield the line; then every statement, because Numba may not report the right function."""
    yield line
    for function in functions(line.unit) if "Untyped global name" in line.said else ():
        whole = line_of(line.unit, function, 0, line.said)
        for statement in tree.statements(whole.function.body):
            yield line_of(line.unit, function, statement.lineno, line.said)


def _unusable(name: str, value: Any) -> Advice:
    if debuggers.is_debugger(value):
        return Advice(debuggers.RULE, debuggers.FIX)
    if isinstance(value, FunctionType) and _is_library(value):
        return Advice(
            f"{name} is a Python function of {value.__module__}, which a kernel cannot call.",
            "use the functions of math, or write it as a device function: @cuda.jit(device=True)",
        )
    if isinstance(value, FunctionType):
        put = "put @cuda.jit(device=True) above"
        fix = f"{put} def {value.__name__}" if value.__name__ != "<lambda>" else ""
        return Advice(
            f"{name} is a plain Python function; a kernel can call only device functions.",
            fix or f"write it with def, and {put}",
        )
    if isinstance(value, BuiltinFunctionType):
        return Advice(
            f"{name} is a builtin function of Python, which a kernel cannot call.",
            "call it on the host, and pass its result as an argument",
        )
    if hasattr(value, "py_func"):
        return Advice(
            f"{name} is a kernel; a kernel cannot launch another one.",
            "launch it from the host, or make it a device function: @cuda.jit(device=True)",
        )
    return Advice(
        f"{name} is of the Python type {type(value).__name__}, which a kernel cannot use.",
        "make it a NumPy array or a tuple of numbers, and pass it as an argument",
    )


def _is_library(function: FunctionType) -> bool:
    root = function.__module__.partition(".")[0]
    return root in sys.stdlib_module_names or "site-packages" in function.__code__.co_filename


def arguments(line: Line) -> Advice | None:
    """A device function that is called with too many or too few arguments."""
    if "Cannot bind 'args=" not in line.said:
        return None
    for node in (n for n in ast.walk(line.function) if isinstance(n, ast.Call)):
        called = getattr(line.meaning(node.func), "py_func", None)
        if called is None or any(isinstance(a, ast.Starred) for a in node.args):
            continue
        signature = inspect.signature(called)
        try:
            signature.bind(*node.args, **{k.arg: k for k in node.keywords if k.arg})
        except TypeError as error:
            return Advice(
                f"{ast.unparse(node.func)}{signature} is called with the wrong arguments: {error}.",
                "pass one value for each",
                line.python,
                node.lineno,
            )
    return None


def not_callable(line: Line) -> Advice | None:
    """A call of an array or a number: `a(i)`."""
    said = re.search(r"Invalid use of (array\(|u?int\d|float\d|complex\d|bool)", line.said)
    for node in line.of_kind(ast.Call) if said else ():
        name = ast.unparse(node.func)
        if said and said[1] == "array(" and isinstance(node.func, ast.Name):
            index = ", ".join(map(ast.unparse, node.args))
            return Advice(f"{name} is an array; it cannot be called.", f"write {name}[{index}]")
        if isinstance(node.func, ast.Attribute) and not node.args:
            return Advice(
                f"{name} is a value; it cannot be called.", f"remove the parentheses: {name}"
            )
    return None


def nothing_returned(line: Line) -> Advice | None:
    """The result of a device function that returns nothing."""
    if not re.search(r", none\)| none[,)]", line.said):
        return None
    for node in line.of_kind(ast.Call):
        called = getattr(line.meaning(node.func), "py_func", None)
        if called is not None and "return" not in tree.exits(source.find(called).tree.body):
            name = ast.unparse(node.func)
            return Advice(
                f"{name} returns nothing, but its result is used.", f"add a return to {name}"
            )
    return None
