"""Resolve every name in a function to an object, by value and never by spelling.

Before                                    After
    import gpukit.cuda as c                   i = cuda.blockIdx.x * cuda.blockDim.x + ...
    i = c.grid(1)                             (every intrinsic spelled `cuda.<name>`)
    tile = c.shared.array(TILE, f4)           tile = cuda.shared.array(16, f4)

>>> from gpukit.compiler import intrinsics as c
>>> TILE = 16
>>> def kernel(out):
...     bar = c.syncthreads
...     bar()
...     out[c.threadIdx.x] = TILE
>>> print(ast.unparse(run(kernel).tree))
def kernel(out):
    cuda.syncthreads()
    out[cuda.threadIdx.x] = 16
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import difflib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from gpukit import errors
from gpukit.compiler import facts, intrinsics, kinds, refuse, tree
from gpukit.compiler.frontend import (
    allocate,
    array_shapes,
    captures,
    host_only,
    nested,
    scopes,
    source,
    unknown_names,
)
from gpukit.compiler.unit import Unit

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, type(None))
_ALLOCATING = (
    np.zeros,
    np.ones,
    np.empty,
    np.full,
    np.array,
    np.arange,
    np.linspace,
    np.zeros_like,
    np.ones_like,
    np.empty_like,
    np.full_like,
    np.concatenate,
    np.copy,
    np.eye,
)


_resolved: ContextVar[dict[Any, Unit] | None] = ContextVar("_resolved", default=None)


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Resolve each function once inside a `with` block, so that all see the same captured values.

    Outside, every call of `run` resolves again, because a global may have changed.
    """
    if _resolved.get() is not None:
        yield
        return
    token = _resolved.set({})
    try:
        yield
    finally:
        _resolved.reset(token)


def run(function: Any, *, device: bool = False) -> Unit:
    """Return the unit of a Python function, its names resolved; the caller may change it.

    A function that is inlined (`device`) may take `*args`.
    """
    known = _resolved.get()
    if known is not None and function in known:
        unit = known[function].copy()
    else:
        try:
            unit = _run(function)
        except RecursionError as error:
            raise errors.Unsupported(
                f"An expression or block in {function.__name__} is nested too deeply.",
                kernel=function.__name__,
                fix="split it over several statements",
            ) from error
        if known is not None:
            known[function] = unit.copy()
    if unit.tree.args.vararg and not device:
        _refuse_parameters(unit)
    return unit


def _refuse_parameters(unit: Unit) -> None:
    raise refuse.unsupported(
        unit,
        unit.tree,
        "A kernel takes a fixed list of arguments.",
        "name each argument, or pass one tuple",
    )


def _run(function: Any) -> Unit:
    found = source.find(function)
    unit = Unit(function, found, tree.clone(found.tree))
    unit.tree.decorator_list = []
    unit.tree.returns = None
    for argument in ast.walk(unit.tree.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    refuse.check_nodes(unit)
    if unit.tree.args.kwarg or unit.tree.args.kwonlyargs:
        _refuse_parameters(unit)
    nested.take_out(unit)
    _rename_reserved(unit)
    _Resolver(unit).run()
    refuse.check_loops(unit)
    nested.find_constants(unit)
    allocate.run(unit)
    ast.fix_missing_locations(unit.tree)
    return unit


def meaning(function: Any, found: source.Source) -> Callable[[ast.AST], Any]:
    """Return a function from an expression in a function's source to the object it refers to.

    For local variables and computed values it returns a sentinel.
    """
    names = _Resolver(Unit(function, found, tree.clone(found.tree)))
    names._find_aliases()
    return names._static


def _rename_reserved(unit: Unit) -> None:
    """Rename the function's own variables whose names the compiler reserves."""
    own = [*unit.parameters, *tree.in_order(tree.writes(unit.tree), unit.tree)]
    names = {n: unit.renamed(n, f"own_{n}") for n in dict.fromkeys(own) if n in tree.RESERVED}
    unit.moved |= set(names.values())
    for function in unit.trees:
        scopes.rename(function, names)
        tree.rename(function.args.defaults, names)


class _Resolver(ast.NodeTransformer):
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.locals = tree.writes(unit.tree) | set(unit.parameters) | set(unit.nested)
        self.locals = self.locals.union(*(n.own for n in unit.nested.values()))
        self.aliases: dict[str, Any] = {}
        code = unit.function.__code__
        cells = unit.function.__closure__ or ()
        self.closure = dict(zip(code.co_freevars, cells, strict=True))

    def run(self) -> None:
        self._find_aliases()
        host_only.check(self.unit, self._static)
        array_shapes.check(self.unit, self._static, self.locals)
        for function in self.unit.trees:
            body = [s for s in (self.visit(s) for s in function.body) if s is not None]
            function.body = body or [tree.at(ast.Pass(), function)]
        for inner in self.unit.trees[1:]:
            inner.args.defaults = [self.visit(d) for d in inner.args.defaults]

    def _find_aliases(self) -> None:
        """Record locals that are aliases of an intrinsic or module: `sync = cuda.syncthreads`."""
        trees = self.unit.trees
        targets = [
            n.id for t in trees for n in ast.walk(t) if isinstance(n, ast.Name) and _is_store(n)
        ]
        for statement in tree.statements([s for t in trees for s in t.body]):
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target = statement.targets[0]
            if not isinstance(target, ast.Name) or targets.count(target.id) != 1:
                continue
            value = self._static(statement.value)
            if intrinsics.name_of(value) in kinds.VALUES:
                continue  # `tx = cuda.threadIdx.x` is a variable
            if value is not _MISSING and _is_not_data(value):
                self.aliases[target.id] = value
                self.locals.discard(target.id)

    def _lookup(self, name: str) -> Any:
        if name in self.locals:
            return _MISSING
        if name in self.aliases:
            return self.aliases[name]
        if name in self.closure:
            try:
                return self.closure[name].cell_contents
            except ValueError:
                return _MISSING
        scope = self.unit.function.__globals__
        return scope.get(name, getattr(builtins, name, _MISSING))

    def _static(self, node: ast.AST) -> Any:
        """Return the object that a chain of attributes on a captured name refers to."""
        if isinstance(node, ast.Name):
            return self._lookup(node.id)
        if isinstance(node, ast.Attribute):
            base = self._static(node.value)
            if base is _MISSING or isinstance(base, np.ndarray):
                return _MISSING
            return intrinsics.part_of(base, node.attr, _MISSING)
        return _MISSING

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.aliases:
            return None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.visit(tree.at(ast.Assign([node.target], node.value), node))  # type: ignore[no-any-return]

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None  # a docstring
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._block(node)

    def _block(self, node: ast.If | ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [tree.at(ast.Pass(), node)]
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._block(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._block(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = self._static(node.func)
        if any(function is maker for maker in _ALLOCATING) and not allocate.allowed(function):
            raise refuse.invalid(
                self.unit,
                node,
                f"A kernel cannot create an array with np.{function.__name__}.",
                "use cuda.local.array(shape, dtype) for one thread, "
                "cuda.shared.array(shape, dtype) for a block, or pass an array in",
            )
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self._static(node)
        if value is _MISSING:
            if self._static(node.value) is not _MISSING:
                return self._missing_attribute(node)
            return self.generic_visit(node)
        return self._bind(value, node, tree.dotted(node) or node.attr)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not isinstance(node.ctx, ast.Load) or node.id in self.locals:
            return node
        value = self._lookup(node.id)
        if value is _MISSING:
            self._unknown(node)
        return self._bind(value, node, node.id)

    def _bind(self, value: Any, node: ast.expr, spelled: str) -> ast.expr:
        value = captures.on_cpu(value)
        name = intrinsics.name_of(value)
        if name is not None and name != "warpsize":
            return tree.at(tree.expr(f"cuda.{name}"), node)  # type: ignore[no-any-return]
        if name is not None or type(value) in _PLAIN:
            made: ast.expr = tree.const(32 if name else value)
        else:
            made = tree.name(self._name_for(value, spelled))
            facts.note(made, means=value)
        facts.note(made, written=spelled)
        return ast.copy_location(made, node)

    def _name_for(self, value: Any, spelled: str) -> str:
        """Return the name for `value` in the tree."""
        unit = self.unit
        builtin = any(value is f for f in tree.BUILTINS.values())
        base = value.__name__ if builtin else spelled.replace(".", "_")
        while base in self.locals or not unit.may_name(base, value):
            base += "_"
        if captures.is_array(value):
            unit.captured[base] = value
            self.locals.add(base) if base != spelled else None
            unit.globals[base] = value
            return base
        if hasattr(value, "py_func"):
            unit.devices[base] = value
        if isinstance(value, (tuple, np.generic)):
            unit.constants[base] = value
        unit.globals[base] = value
        return base

    def _missing_attribute(self, node: ast.Attribute) -> ast.expr:
        base = self._static(node.value)
        if isinstance(base, np.ndarray) or not _is_not_data(base):
            return self.generic_visit(node)  # type: ignore[return-value]
        names = [n for n in dir(base) if not n.startswith("_")]
        close = difflib.get_close_matches(node.attr, names, 1)
        spelled = refuse.written(node)
        fix = f"it has {', '.join(names)}" if len(names) <= 16 else ""
        if isinstance(base, intrinsics.Dim3):
            fix = f"{spelled.rpartition('.')[0]} has x, y and z"
        if close:
            fix = f"did you mean {spelled.rpartition('.')[0]}.{close[0]}?"
        raise refuse.invalid(self.unit, node, f"There is no {spelled}.", fix)

    def _unknown(self, node: ast.Name) -> None:
        scope = self.unit.function.__globals__
        own = [*self.locals, *scope, *self.closure]
        fix = unknown_names.advice(node.id, own, scope)
        raise refuse.invalid(self.unit, node, f"The name {node.id!r} is not defined.", fix)


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_not_data(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return False
    return (
        isinstance(value, (ModuleType, SimpleNamespace))
        or value in tuple(intrinsics.NAMESPACES.values())
        or intrinsics.name_of(value) is not None
    )
