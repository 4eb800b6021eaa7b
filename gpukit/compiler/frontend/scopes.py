"""Scopes of names in nested functions: which names are a function's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpukit.compiler import tree

Function = ast.FunctionDef | ast.Lambda


def arguments(function: Function) -> list[ast.arg]:
    """Return all parameters of a function, the starred one last."""
    a = function.args
    starred = [s for s in (a.vararg, a.kwarg) if s is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *starred]


def scope(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, without those of functions defined in it."""
    for s in body:
        yield s
        if not isinstance(s, ast.FunctionDef):
            for block in tree.blocks(s):
                yield from scope(block)


def sets(s: ast.stmt) -> set[str]:
    """Return the names that a statement itself assigns, not the statements inside it."""
    if isinstance(s, ast.FunctionDef):
        return {s.name}
    if isinstance(s, ast.For):
        return tree.writes(s.target)
    return set() if tree.blocks(s) else tree.writes(s)


def mentions(node: ast.AST, name: str) -> Iterator[ast.Name]:
    """Yield the uses of a name of the scope around `node`."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)) and _makes_own(node, name):
        for default in node.args.defaults:
            yield from mentions(default, name)
        return
    if isinstance(node, ast.Name) and node.id == name:
        yield node
    for child in ast.iter_child_nodes(node):
        yield from mentions(child, name)


def _makes_own(function: Function, name: str) -> bool:
    if name in {a.arg for a in arguments(function)}:
        return True
    if isinstance(function, ast.Lambda):
        return False
    return any(name in sets(s) for s in scope(function.body))


def rename(function: ast.FunctionDef, names: dict[str, str]) -> None:
    """Rename variables in a function; its defaults belong to the scope around it."""
    for argument in arguments(function):
        argument.arg = names.get(argument.arg, argument.arg)
    tree.rename(function.body, names)


def name_lambdas(body: list[ast.stmt]) -> None:
    """Turn `f = lambda x: x` into `def f(x): return x`."""
    for k, s in enumerate(body):
        for block in tree.blocks(s):
            name_lambdas(block)
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Lambda) and len(s.targets) == 1:
            if isinstance(s.targets[0], ast.Name):
                body[k] = tree.of_lambda(s.targets[0].id, s.value)
