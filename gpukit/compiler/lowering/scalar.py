"""Rewrite a function as one thread runs it: for type inference, and for device functions.

Everything that depends on the thread becomes a plain value or a call of a helper; the subclasses
choose which by the hooks of `Scalar`.
"""

from __future__ import annotations

import ast
import contextlib
import operator
from collections.abc import Callable, Collection, Iterator
from typing import Any

from gpukit.compiler import intrinsics, kinds, refuse, tree
from gpukit.compiler.analysis import expressions
from gpukit.compiler.lowering import polling
from gpukit.compiler.runtime import mathematics
from gpukit.compiler.unit import Unit


class Scalar(ast.NodeTransformer):
    """Base of the rewrites; `bind` adds an object to the new globals.

    `itself` holds the names by which a device function calls itself.
    """

    itself: frozenset[str] = frozenset()
    readable = False  # whether the result is for display, as in `gpukit.explain`

    def __init__(self, unit: Unit, native: Callable[[Any], Any]) -> None:
        self.unit = unit
        self.native = native  # makes the Numba function of a device function
        self.globals: dict[str, Any] = {}
        self.loops = 0  # depth of loops around the visited node
        self.short: Collection[Any] = ()  # keys of ranges that need no polls
        self.instrumented = ""  # as `Unit.instrumented`
        self.expressions = expressions.Expressions(unit)
        self.used_locations: set[int] = set()  # those of the device functions that it calls, too

    def bind(self, base: str, value: Any) -> ast.Name:
        """Return a name for `value` in the new function."""
        name = self.unit.fresh(f"_{base}")
        self.globals[name] = value
        return tree.name(name)

    def helper(self, module_name: str, name: str) -> ast.Name:
        """Return a name for a function in a module of the runtime."""
        if self.readable:
            return tree.name(name)
        key = self.unit.named("rt_{}", f"{module_name}_{name}")
        if key not in self.globals:
            from importlib import import_module

            module = import_module(f"gpukit.compiler.runtime.{module_name}")
            self.globals[key] = getattr(module, name)
        return tree.name(key)

    def form(self, function: Any, count: int) -> ast.Name | None:
        """Return a name for the replacement of a function, if there is one."""
        form = mathematics.FORMS.get((id(function), count))
        return self.helper("mathematics", form) if form and not self.readable else None

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = tree.intrinsic(node)
        if name is None:
            return self.generic_visit(node)
        if name in kinds.VALUES:
            return tree.at(self.value(name), node)  # type: ignore[no-any-return]
        if name in intrinsics.DIM3_NAMES:
            parts: list[ast.expr] = [self.value(f"{name}.{a}") for a in tree.AXES]
            return tree.at(ast.Tuple(parts, ast.Load()), node)  # type: ignore[no-any-return]
        raise refuse.invalid(
            self.unit, node, f"cuda.{name} cannot be used as a value.", f"call it: cuda.{name}(...)"
        )

    def visit_For(self, node: ast.For) -> Any:
        short = bool(self.short) and tree.key(node.iter) in self.short
        with self._inside_loop():
            self.generic_visit(node)
        return node if short else self.polled(node)

    def polled(self, node: ast.For) -> list[ast.stmt]:
        """Return an interruptible loop over a range, and statements before it."""
        poll = self.poll(node)
        if poll is None:
            return [node]
        return polling.polled(node, poll, self.unit.fresh, inside=self.loops > 0)

    def visit_While(self, node: ast.While) -> Any:
        begin, rounds = self.waiting(node)
        with self._inside_loop():
            self.generic_visit(node)
        poll = self.poll(node)
        if poll is None:
            return node
        node.body[:0] = rounds
        return [*begin, *polling.counted(node, poll, self.unit.fresh("rounds"))]

    @contextlib.contextmanager
    def _inside_loop(self) -> Iterator[None]:
        self.loops += 1
        try:
            yield
        finally:
            self.loops -= 1

    def poll(self, node: ast.stmt) -> ast.stmt | None:
        """Return the statement at which the kernel can be stopped, with the line of `node`."""
        address = None if self.readable else self.address()
        if address is None:
            return None
        call = tree.call(self.helper("control", "poll"), address)
        return tree.at(ast.Expr(call), node)  # type: ignore[no-any-return]

    def waiting(self, loop: ast.While | None) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """Return statements before a loop and in it that stop it if it waits forever."""
        return [], []

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Define shifts by an amount that may exceed the width (`runtime/shifts.py`)."""
        self.generic_visit(node)
        node.right = self.divisor(node, node.right)
        if isinstance(node.op, ast.Pow) and not _is_integer(node.right):
            power = self.form(operator.pow, 2)
            if power is not None:
                return tree.at(tree.call(power, node.left, node.right), node)  # type: ignore[no-any-return]
        shift = _SHIFTS.get(type(node.op))
        if shift is None or self.readable or _fits(node.right):
            return node
        return tree.at(tree.call(self.helper("shifts", shift), node.left, node.right), node)  # type: ignore[no-any-return]

    def whole_read(self, node: ast.expr, value: ast.expr) -> ast.expr:
        """Return the value of an expression that is about to be stored elsewhere."""
        return value

    def divisor(self, node: ast.BinOp | ast.AugAssign, value: ast.expr) -> ast.expr:
        """Return the right operand of an operation, checked if it is a divisor."""
        return value

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = tree.called(node)
        if name is None:
            self.generic_visit(node)
            return self.plain_call(node)
        if name == kinds.IN_STEP:
            return tree.const(None)
        if name in kinds.ARRAYS:
            return tree.at(self.array(name, node), node)  # type: ignore[no-any-return]
        if name == "const.array_like":
            return self.visit(node.args[0])  # type: ignore[no-any-return]
        if name == "lanemask_lt":
            return tree.at(self.value(name), node)  # type: ignore[no-any-return]
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if name in kinds.SYNC_POINTS:
            return tree.at(self.synchronised(name, node), node)  # type: ignore[no-any-return]
        if name.startswith("atomic."):
            return tree.at(self.atomic(name[7:], node), node)  # type: ignore[no-any-return]
        return tree.at(self.function(name, node), node)  # type: ignore[no-any-return]

    def function(self, name: str, node: ast.Call) -> ast.expr:
        """Return the expression for arithmetic helpers and fences."""
        if name in intrinsics.FENCE_NAMES:
            return tree.call(self.helper("scalars", "fence"))
        if name.startswith("fp16."):
            return ast.Call(self.helper("half", name[5:]), node.args, node.keywords)
        if name in intrinsics.SCALAR_NAMES:
            return ast.Call(self.helper("scalars", name), node.args, node.keywords)
        raise refuse.invalid(
            self.unit,
            node,
            f"cuda.{name} cannot be called in a kernel.",
            f"remove the parentheses: cuda.{name}",
        )

    def plain_call(self, node: ast.Call) -> ast.expr:
        """Return the expression for any other call; device functions are passed the context."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        own = self.form(self.unit.globals.get(name), len(node.args))
        if own is not None and not node.keywords:
            return tree.at(ast.Call(own, node.args, []), node)  # type: ignore[no-any-return]
        if name not in self.unit.devices:
            return node
        key = self.unit.named("device_{}", name)
        self.globals[key] = made = self.native(self.unit.devices[name])
        self.used_locations |= made.gpukit_locations
        for keyword in node.keywords:
            keyword.arg = made.gpukit_parameters.get(keyword.arg, keyword.arg)
        return ast.Call(tree.name(key), [self.context(), *node.args], node.keywords)

    def address(self) -> ast.expr | None:
        """Return the expression for the address of the error context, if loops poll it."""
        return None

    def context(self) -> ast.expr:
        """Return the expression for the context tuple that device functions take."""
        raise NotImplementedError

    def value(self, name: str) -> ast.expr:
        """Return the expression for a thread or block value such as `threadIdx.x`."""
        raise NotImplementedError

    def array(self, name: str, node: ast.Call) -> ast.expr:
        """Return the expression for a new shared or local array."""
        raise NotImplementedError

    def synchronised(self, name: str, node: ast.Call) -> ast.expr:
        """Return the expression for a call at which threads synchronise."""
        raise NotImplementedError

    def atomic(self, name: str, node: ast.Call) -> ast.expr:
        """Return the expression for an atomic operation."""
        raise NotImplementedError


_SHIFTS: dict[type[ast.operator], str] = {ast.LShift: "left", ast.RShift: "right"}


def _fits(amount: ast.expr) -> bool:
    """Tell whether a shift amount is a constant that is valid for any integer type."""
    return isinstance(amount, ast.Constant) and amount.value in range(64)


def _is_integer(power: ast.expr) -> bool:
    """Tell whether an exponent is an integer constant, which Numba expands to products."""
    value = power.operand if isinstance(power, ast.UnaryOp) else power
    return isinstance(value, ast.Constant) and isinstance(value.value, int)
