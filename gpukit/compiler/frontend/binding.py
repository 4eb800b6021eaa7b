"""Bind the arguments of a call to the parameters of the function to inline.

Before                              After
    def scaled(func, *args):            s = f(x, y) * 2
        return func(*args) * 2
    s = scaled(f, x, y)

A parameter that is never written and bound to a plain name, a number or an intrinsic is replaced by
it; `*args` by a tuple of such, so that `len(args)`, `args[0]` and `func(*args)` can be expanded.
Every other parameter becomes a variable.

>>> call = tree.expr("f(*(x, y), size((x, y)), (x, y)[1])", size=tree.builtin(len))
>>> ast.unparse(Rename({"x": "x_1"}, {"y": tree.const(2)}).visit(call))
'f(x_1, 2, 2, 2)'
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gpukit.compiler import facts, refuse, tree
from gpukit.compiler.unit import Unit

Bound = dict[str, ast.expr]


def of_device(unit: Unit, inner: Unit, call: ast.Call) -> Bound:
    """Return the argument for each parameter of a device function."""
    return _bound(unit, inner.name, inspect.signature(inner.function), inner.parameters, call)


def of_nested(unit: Unit, nested: Any, call: ast.Call) -> Bound:
    """Return the argument for each parameter of a function defined inside another."""
    given = nested.tree.args
    if not facts.of(call.func).passed:
        _check_direct(unit, nested, call)
    names = [a.arg for a in given.posonlyargs + given.args]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    none = [inspect.Parameter.empty] * (len(names) - len(given.defaults))
    defaults = [*none, *(tree.clone(d) for d in given.defaults)]
    parameters = [
        inspect.Parameter(nested.spelled[n], kind, default=d)
        for n, d in zip(names, defaults, strict=True)
    ]
    if given.vararg:
        star = inspect.Parameter.VAR_POSITIONAL
        parameters.append(inspect.Parameter(nested.spelled[given.vararg.arg], star))
        names.append(given.vararg.arg)
    return _bound(unit, nested.name, inspect.Signature(parameters), names, call)


def _check_direct(unit: Unit, nested: Any, call: ast.Call) -> None:
    """Reject calls that Numba miscompiles, or rejects, where it inlines a closure.

    A function that was passed as an argument is correct: Numba compiles and calls it.
    """
    given, most = len(call.args), len(nested.tree.args.posonlyargs + nested.tree.args.args)
    least = most - len(nested.tree.args.defaults)
    if nested.tree.args.vararg:
        raise refuse.unsupported(
            unit,
            call,
            f"{nested.name} takes *args and is called where it is defined.",
            "name each argument",
        )
    if least < given < most or (call.keywords and given <= most):
        raise refuse.unsupported(
            unit,
            call,
            f"{nested.name} is called with keyword arguments, or with some of its defaults; "
            "on a GPU Numba mixes them up.",
            "pass all arguments in order, or omit all that have defaults",
        )


def unpack(unit: Unit, inner: Unit, call: ast.Call) -> list[ast.stmt]:
    """Name the elements of `*t` in the call of `inner`; return the statement that sets them.

    The length of the tuple is not known yet, but the number of parameters left for it is.
    """
    starred = [k for k, a in enumerate(call.args) if _is_variable_star(a)]
    given = inner.tree.args
    left = len(inner.parameters) - len(call.args) - len(call.keywords) + 1
    if len(starred) != 1 or left < 1 or given.vararg or given.defaults:
        return []
    parameters = inner.parameters[starred[0] : starred[0] + left]
    names = [unit.renamed(p, "part", of=inner) for p in parameters]
    value = call.args[starred[0]].value  # type: ignore[attr-defined]
    call.args[starred[0] : starred[0] + 1] = [tree.name(n) for n in names]
    target = ast.Tuple([tree.store(n) for n in names], ast.Store())
    return [tree.at(ast.Assign([target], value), call)]


def _is_variable_star(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred) and not isinstance(argument.value, ast.Tuple)


def _bound(
    unit: Unit, name: str, signature: inspect.Signature, names: list[str], call: ast.Call
) -> Bound:
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        raise refuse.unsupported(
            unit,
            call,
            f"{name} is inlined, and cannot be called with * here.",
            "write each argument",
        )
    try:
        bound = signature.bind(*call.args, **{k.arg: k.value for k in call.keywords if k.arg})
    except TypeError as error:
        raise refuse.invalid(
            unit, call, f"{name}: {error}.", "check the arguments of the call"
        ) from None
    bound.apply_defaults()
    values = zip(names, bound.arguments.values(), strict=True)
    return {p: _expression(v) for p, v in values}


def _expression(value: Any) -> ast.expr:
    if isinstance(value, tuple) and all(isinstance(v, ast.expr) for v in value):
        return ast.Tuple(list(value), ast.Load())
    return value if isinstance(value, ast.expr) else tree.const(value)


def is_plain(value: ast.expr) -> bool:
    """Tell whether an argument may be substituted for its parameter everywhere."""
    return isinstance(value, (ast.Name, ast.Constant)) or bool(tree.intrinsic(value))


def settle(unit: Unit, inner: Unit, bound: Bound, starred: str, call: ast.Call) -> list[ast.stmt]:
    """Make every element of the starred argument plain; return the statements needed for it."""
    first: list[ast.stmt] = []
    given = bound.get(starred)
    if isinstance(given, ast.Tuple):
        for k, part in enumerate(given.elts):
            if not is_plain(part):
                name = unit.fresh("given")
                unit.source_names[name] = f"{inner.source_names.get(starred, starred)}[{k}]"
                first.append(tree.at(tree.assign(name, part), call))
                given.elts[k] = tree.name(name)
    return first


def direct(bound: Bound, written: set[str], starred: str) -> Bound:
    """Return the parameters to be replaced by their arguments."""
    return {p: a for p, a in bound.items() if p not in written and (p == starred or is_plain(a))}


class Rename(ast.NodeTransformer):
    """Renames names, or substitutes expressions for them."""

    def __init__(self, names: dict[str, str], direct: Bound) -> None:
        self.names = names
        self.direct = direct

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.direct:
            made = tree.at(tree.clone(self.direct[node.id]), node)
            facts.note(made, passed=True)
            return made  # type: ignore[no-any-return]
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [part for a in node.args for part in _spread(a)]
        if tree.calls(node, len) and len(node.args) == 1:
            if isinstance(node.args[0], ast.Tuple):
                return ast.copy_location(tree.const(len(node.args[0].elts)), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        base, at = node.value, node.slice
        if isinstance(base, ast.Tuple) and isinstance(at, ast.Constant) and type(at.value) is int:
            if -len(base.elts) <= at.value < len(base.elts):
                return base.elts[at.value]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            return self.visit(node.body if node.test.value else node.orelse)  # type: ignore[no-any-return]
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if all(isinstance(s, ast.Constant) and type(s.value) is int for s in sides):
            text = ast.unparse(ast.fix_missing_locations(node))
            return ast.copy_location(tree.const(bool(eval(text, {"__builtins__": {}}))), node)
        return node


def _spread(argument: ast.expr) -> list[ast.expr]:
    """Return the arguments that `*(a, b)` expands to in a call."""
    if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple):
        return list(argument.value.elts)
    return [argument]
