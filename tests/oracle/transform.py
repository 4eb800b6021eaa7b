"""Rewrites a kernel's source so that each of its threads is a generator.

Every call that waits for other threads becomes `yield`, every call of a device function
`yield from`, and operators call `arithmetic`; all else stays unchanged.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from gpukit.compiler import intrinsics
from gpukit.primitives import unroll
from tests.oracle import arithmetic, wide
from tests.oracle.memory import View

WAITS = frozenset(
    (*intrinsics.BARRIER_NAMES, *intrinsics.SHUFFLE_NAMES, *intrinsics.VOTE_NAMES, "syncwarp")
)
SITED = ("shared.array",)
MISSING = object()
HELPERS = "_oracle_"
THREAD = "_thread_"


def python_function(func: Any) -> FunctionType | None:
    """Return the Python function of a kernel, device function or plain function."""
    func = getattr(func, "on_cpu", func)  # the CPU form of a GPU instruction
    inner = getattr(func, "py_func", func)
    return inner if isinstance(inner, FunctionType) else None


def parse(func: FunctionType) -> ast.FunctionDef:
    """Return the syntax tree of a function, with the line numbers of its file."""
    code = func.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not lines:
        raise OSError(f"no source for {func.__name__} in {code.co_filename}")
    tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    ast.increment_lineno(tree, code.co_firstlineno - 1)
    (node,) = tree.body
    assert isinstance(node, ast.FunctionDef)
    return node


def environment(func: FunctionType) -> dict[str, Any]:
    """Return the globals and closure of a function, with arrays wrapped for checking."""
    cells = zip(func.__code__.co_freevars, func.__closure__ or (), strict=True)
    names = {**func.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    return {n: View(v) if isinstance(v, np.ndarray) else v for n, v in names.items()}


class Rewriter(ast.NodeTransformer):
    """Turns the body of one function into the body of a generator."""

    def __init__(
        self, env: dict[str, Any], local_names: set[str], device: Callable[[FunctionType], int]
    ) -> None:
        self.env, self.local_names, self.device = env, local_names, device
        self.temporaries = 0

    def resolve(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id not in self.local_names:
            return self.env.get(node.id, MISSING)
        if isinstance(node, ast.Attribute):
            return intrinsics.part_of(self.resolve(node.value), node.attr, MISSING)
        return MISSING

    def intrinsic(self, node: ast.expr) -> str | None:
        found = self.resolve(node)
        return None if found is MISSING else intrinsics.name_of(found)

    def temporary(self) -> str:
        self.temporaries += 1
        return f"_temporary_{self.temporaries}_"

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = self.intrinsic(node) if isinstance(node.ctx, ast.Load) else None
        return expression(f"{THREAD}.{name}") if name else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = self.intrinsic(node)
        return expression(f"{THREAD}.{name}") if name else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name, site = self.intrinsic(node.func), (node.lineno, node.col_offset)
        target = self.resolve(node.func)
        function = python_function(target)
        function = wide.PLAIN.get(function, function)
        args = [self.visit(a) for a in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if name in WAITS:
            return ast.Yield(helper(f"{THREAD}.wait", name, site, *args, keywords=keywords))
        if name in SITED:
            return helper(f"{THREAD}.shared_array", site, *args, keywords=keywords)
        if name and name.startswith("atomic."):
            return helper(f"{THREAD}.atomic", name[7:], *args, keywords=keywords)
        if name:
            return helper(f"{THREAD}.{name}", *args, keywords=keywords)
        if target is unroll.unrolled:
            return self._unrolled(node, site, args[2:])
        if function is not None:
            number = self.device(function)
            return ast.YieldFrom(helper(f"{THREAD}.enter", site, number, *args, keywords=keywords))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sync" and not args:
            return ast.Yield(
                helper(f"{THREAD}.wait", "grid_sync", site, self.visit(node.func.value))
            )
        called = helper(f"{HELPERS}.call", self.visit(node.func), *args, keywords=keywords)
        if isinstance(node.func, ast.Name) and node.func.id in self.local_names:
            number = helper(
                f"{HELPERS}.number", node.func
            )  # of a device function passed as an argument
            entered = helper(f"{THREAD}.enter", site, number, *args, keywords=keywords)
            test = helper(f"{HELPERS}.is_device", node.func)
            return ast.IfExp(test, ast.YieldFrom(entered), called)
        return called

    def _unrolled(self, node: ast.Call, site: Any, args: list[ast.expr]) -> ast.expr:
        """Return the calls of the steps of `primitives.unroll.unrolled`."""
        count, step = self.resolve(node.args[0]), python_function(self.resolve(node.args[1]))
        assert isinstance(count, int)
        assert step is not None
        number = self.device(step)
        enter = f"{THREAD}.enter"
        calls = [ast.YieldFrom(helper(enter, site, number, k, *args)) for k in range(count)]
        return ast.List(calls, ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        op = type(node.op).__name__
        return helper(f"{HELPERS}.binary", op, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        return helper(f"{HELPERS}.unary", type(node.op).__name__, self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        left, tests = self.visit(node.left), []
        if len(node.ops) == 1:
            return self._compare(node.ops[0], left, self.visit(node.comparators[0]))
        for op, right in zip(node.ops, node.comparators, strict=True):
            name = self.temporary()
            bound = ast.NamedExpr(ast.Name(name, ast.Store()), self.visit(right))
            tests.append(self._compare(op, left, bound))
            left = ast.Name(name, ast.Load())
        return ast.BoolOp(ast.And(), tests)

    def _compare(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
        if isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return ast.Compare(left, [op], [right])
        return helper(f"{HELPERS}.compare", type(op).__name__, left, right)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        target = node.target
        if isinstance(target, ast.Subscript):
            array = self._keep(before, target.value)
            index = self._keep(before, target.slice)
            target = ast.Subscript(array, index, ast.Store())
        old = self.temporary()
        read = {**vars(target), "ctx": ast.Load()}
        before.append(ast.Assign([ast.Name(old, ast.Store())], type(target)(**read)))
        value = helper(
            f"{HELPERS}.binary",
            type(node.op).__name__,
            ast.Name(old, ast.Load()),
            self.visit(node.value),
        )
        return [ast.copy_location(s, node) for s in (*before, ast.Assign([target], value))]

    def _keep(self, before: list[ast.stmt], node: ast.expr) -> ast.expr:
        name = self.temporary()
        before.append(ast.Assign([ast.Name(name, ast.Store())], self.visit(node)))
        return ast.Name(name, ast.Load())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        raise NotImplementedError(f"line {node.lineno}: the oracle runs no nested functions")

    visit_Lambda = visit_FunctionDef  # type: ignore[assignment]


def expression(text: str) -> ast.expr:
    """Return the tree of a text, without line numbers: it takes those of its surroundings."""
    body = ast.parse(text, mode="eval").body
    for node in ast.walk(body):
        for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            vars(node).pop(name, None)
    return body


def helper(name: str, *args: Any, keywords: list[ast.keyword] | None = None) -> ast.Call:
    """Return the tree of `name(args)`; plain values become constants."""
    nodes = [a if isinstance(a, ast.AST) else expression(repr(a)) for a in args]
    return ast.Call(expression(name), nodes, keywords or [])


class Translator:
    """Translates a kernel and the device functions that it calls."""

    def __init__(self) -> None:
        self.numbers: dict[FunctionType, int] = {}
        self.devices: list[Any] = []

    def device(self, func: FunctionType) -> int:
        """Return the number of a translated function; recursion finds it already there."""
        if func not in self.numbers:
            self.numbers[func] = number = len(self.devices)
            self.devices.append(None)
            self.devices[number] = self.translate(func)
        return self.numbers[func]

    def translate(self, func: FunctionType) -> Any:
        node, env = parse(func), environment(func)
        names = {*func.__code__.co_varnames, *func.__code__.co_cellvars}
        rewriter = Rewriter(env, names, self.device)
        body = [rewriter.visit(s) for s in node.body]
        flat = [s for part in body for s in (part if isinstance(part, list) else [part])]
        generator = ast.parse("if False:\n    yield").body
        node.body, node.decorator_list, node.returns = [*generator, *flat], [], None
        node.args.args.insert(0, ast.arg(THREAD))
        node.args.defaults = []
        module = ast.fix_missing_locations(ast.Module([node], []))
        helpers = SimpleNamespace(
            binary=arithmetic.binary,
            compare=arithmetic.compare,
            unary=arithmetic.unary,
            call=arithmetic.call,
            number=lambda value: self.device(python_function(value)),
            is_device=lambda value: python_function(value) is not None,
        )
        scope = {**env, HELPERS: helpers}
        exec(compile(module, func.__code__.co_filename, "exec"), scope)
        generator = scope[node.name]
        generator.__defaults__ = func.__defaults__
        return generator
