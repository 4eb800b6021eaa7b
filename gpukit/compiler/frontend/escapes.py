"""Compile nested functions that are passed as arguments to functions that Numba compiles.

Before                                  After
    y = 10                                  y = 10
    def plus(z):                            out[0] = apply(a, plus_1)
        return y + z                        (`plus_1` is a Numba function that knows y = 10)
    out[0] = apply(a, plus)

Here `apply` has only an `@overload`. As on Numba's CUDA target, a function that is passed as an
argument may use outer variables only if they are constants, and no thread or block index.

>>> def apply(a, f): ...
>>> def kernel(out, a):
...     out[0] = apply(a, lambda z: z + 1)
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> {n: f(42) for n, f in unit.globals.items() if n in unit.nested}
{'function_1': 43}
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from gpukit import errors
from gpukit.compiler import refuse, tree
from gpukit.compiler.frontend import scopes
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Compile the nested functions that are still named in the tree to Numba functions."""
    if not unit.nested:
        return
    passed = {
        id(a): None
        for n in ast.walk(unit.tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in unit.globals
        for a in n.args
    }
    for node in ast.walk(unit.tree):
        if not isinstance(node, ast.Name) or node.id not in unit.nested:
            continue
        if id(node) not in passed or _is_builtin(unit, node):
            raise refuse.unsupported(
                unit,
                node,
                f"{unit.nested[node.id].name} is used as a value.",
                "call it, or pass it straight to a device function",
            )
        if node.id not in unit.globals:
            unit.globals[node.id] = compiled(unit, node)


def _is_builtin(unit: Unit, node: ast.Name) -> bool:
    """Tell whether a nested function is an argument of a function that is not Python's."""
    calls = (n for n in ast.walk(unit.tree) if isinstance(n, ast.Call))
    callee = next(c.func.id for c in calls if any(a is node for a in c.args))  # type: ignore[attr-defined]
    return not isinstance(unit.globals[callee], FunctionType) and not hasattr(
        unit.globals[callee], "py_func"
    )


def check_constants(unit: Unit, call: ast.Call) -> None:
    """Reject a nested function as an argument if it uses outer variables that vary."""
    for argument in [*call.args, *(k.value for k in call.keywords)]:
        if isinstance(argument, ast.Name) and argument.id in unit.nested:
            for key in (argument.id, *unit.nested[argument.id].inside):
                _check_constants(unit, unit.nested[key], argument)


def _check_constants(unit: Unit, nested: Any, node: ast.AST) -> None:
    outer = min(nested.varying.values(), default="")
    if outer:
        raise refuse.invalid(
            unit,
            node,
            "Cannot capture the non-constant value associated with variable "
            f"{outer!r} in {nested.name}, a function that is passed on.",
            f"pass {outer} to {nested.name} as an argument",
        )


def compiled(unit: Unit, node: ast.Name) -> Any:
    """Return a Numba function for the nested function that `node` names."""
    from gpukit.compiler.kernel_target import jit

    nested = unit.nested[node.id]
    _check_constants(unit, nested, node)
    _check_alone(unit, nested, node)
    function = tree.clone(nested.tree)
    outer = {n: unit.named("outer_{}", n) for n in nested.reads - nested.own}
    scopes.rename(function, {**nested.spelled, **outer})
    function.name = unit.named("nested")
    module = tree.settle(ast.Module([function], []))
    scope = {outer.get(n, n): value for n, value in {**unit.globals, **nested.fixed}.items()}
    exec(compile(module, unit.source.file, "exec"), scope)
    return jit(error_model="numpy", nogil=True)(scope[function.name])


def _check_alone(unit: Unit, nested: Any, node: ast.AST) -> None:
    """Reject uses of thread indices, and accesses that would not be checked."""
    starred = nested.tree.args.vararg.arg if nested.tree.args.vararg else ""
    for n in ast.walk(nested.tree):
        if isinstance(n, ast.Subscript) and not _is_name(n.value, {starred}):
            raise _refused(unit, nested, node, "it uses square brackets")
        if tree.intrinsic(n) or _is_name(n, {*unit.devices, *unit.nested, *unit.captured}):
            raise _refused(unit, nested, node, f"it uses {refuse.written(n)}")
        if isinstance(n, (ast.Raise, ast.Assert, ast.While)):
            raise _refused(unit, nested, node, "it contains a while loop, a raise or an assert")


def _is_name(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _refused(unit: Unit, nested: Any, node: ast.AST, why: str) -> errors.Unsupported:
    return refuse.unsupported(
        unit,
        node,
        f"{nested.name} cannot be passed on here: {why}.",
        "pass it to a device function, or call it",
    )
