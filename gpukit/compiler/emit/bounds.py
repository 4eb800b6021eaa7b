"""The tests that must hold before a loop over threads can run without checks and polls."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from gpukit.compiler import tree
from gpukit.compiler.analysis.affine import Form, Forms
from gpukit.compiler.analysis.ranges import Axis
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.emit.kernel_memory import Memory
from gpukit.compiler.lowering import polling, region_tree

# An index, and a size that is known to bound it.
Guard = tuple[Form, ast.expr]


class Bounds:
    """Keeps the guards around a loop, and which indices they prove to be below a size."""

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        self.kernel, self.memory = kernel, memory
        self.ranges, self.rewriter = kernel.ranges, kernel.rewriter
        self.guards: list[tuple[Form, Axis]] = []

    @contextlib.contextmanager
    def behind(self, guards: list[Guard], *, without: str = "") -> Iterator[None]:
        """Add guards for a `with` block, except those that involve the name `without`."""
        before = self.guards
        sizes = [(form, self.ranges.size(size)) for form, size in guards]
        kept = [g for g in before if without not in tree.reads(g[0].rest)]
        self.guards = [*kept, *((form, size) for form, size in sizes if size is not None)]
        try:
            yield
        finally:
            self.guards = before

    def tests(
        self, indices: Iterable[tuple[str, int, Form]], low: ast.expr, high: ast.expr
    ) -> list[ast.expr]:
        """Return the test that all these indices of a row are in bounds; none if none is needed.

        Each is given by array, axis and form.
        """
        found: dict[Any, ast.expr] = {}
        for array, axis, form in indices:
            test = self._test(array, axis, form, low, high)
            if test is not None:
                found.setdefault(tree.key(test), test)
        both = list(found.values())
        return [functools.reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), both)] if both else []

    def _test(
        self, array: str, axis: int, form: Form, low: ast.expr, high: ast.expr
    ) -> ast.expr | None:
        """Return the test that an index is in bounds along the row, if one is needed."""
        last = tree.expr("high - 1", high=high)
        own = self.memory.fixed_shape(array)
        size = tree.expr(f"{array}.shape[{axis}]") if own is None else tree.const(own[axis])
        ends = [form.at(low)] if form.factor == 0 else [form.at(low), form.at(last)]
        name = "inside" if len(ends) == 1 else "both_inside"
        if self.kernel.options.instrumented and array not in {
            *self.memory.shared,
            *self.memory.local,
        }:
            # Indices beyond 32 bits are a finding: they count as out of bounds.
            narrow = tree.call(self.rewriter.helper("bounds", "least"), size, tree.const(1 << 31))
            places = map(self.rewriter.expression, ends)
            return tree.call(self.rewriter.helper("bounds", name), narrow, *places)
        least, most = (ends[0], ends[-1]) if form.factor >= 0 else (ends[-1], ends[0])
        holds = self.ranges.holds
        if holds(tree.expr("0 <= e", e=least)):
            # The ends of an empty row may be out of bounds: it has no access.
            below = holds(tree.expr("e < n", e=most, n=size))
            if below or self._is_guarded(form, self.ranges.size(size)):
                return None
        return tree.call(
            self.rewriter.helper("bounds", name), *map(self.rewriter.expression, (size, *ends))
        )

    def short_loops(
        self, thread_loop: region_tree.ThreadLoop
    ) -> tuple[set[Any], dict[Any, ast.expr]]:
        """Return the loops of a thread whose trip counts are known along the row, and their tests.

        The loops are given by the keys of their ranges, the tests by their own keys. Where all
        tests hold, no thread has more than `MOST_ROUNDS` iterations in a nest of them.
        """
        ranges: set[Any] = set()
        tests: dict[Any, ast.expr] = {}
        self._short_loops(thread_loop.body, thread_loop.forms, None, ranges, tests)
        return ranges, tests

    def _short_loops(
        self,
        body: list[ast.stmt],
        forms: Forms,
        around: ast.expr | None,
        ranges: set[Any],
        tests: dict[Any, ast.expr],
    ) -> None:
        most = polling.MOST_ROUNDS
        for s in body:
            inner = around
            rounds = _most_rounds(s, forms) if isinstance(s, ast.For) else None
            if isinstance(s, ast.For) and rounds is not None:
                number = self.rewriter.expression(rounds)
                inner = tree.expr("float(k)", k=number)
                found: list[ast.expr] = []
                if not isinstance(rounds, ast.Constant):
                    ranges.add(tree.key(s.iter))
                    inside = self.rewriter.helper("bounds", "inside")  # no factor is negative
                    found.append(tree.call(inside, tree.const(most + 1), number))
                if around is not None:
                    inner = tree.expr("n * k", n=around, k=inner)
                    found.append(tree.expr("n <= most", n=inner, most=tree.const(most)))
                tests |= {tree.key(test): test for test in found}
            for block in tree.blocks(s):
                self._short_loops(block, forms, inner, ranges, tests)

    def small(self, factors: Iterable[ast.expr]) -> list[ast.expr]:
        """Return the tests that integers are at least 0 and below 2**31."""
        inside, most = self.rewriter.helper("bounds", "inside"), tree.const(1 << 31)
        return [
            tree.call(inside, most, self.rewriter.expression(f))
            for f in factors
            if not self.ranges.holds(tree.expr("0 <= f", f=f))
            or not self.ranges.holds(tree.expr("f < most", f=f, most=most))
        ]

    def _is_guarded(self, index: Form, size: Axis | None) -> bool:
        rest = tree.key(index.rest)
        return size is not None and any(
            size == known and index.factor == form.factor and rest == tree.key(form.rest)
            for form, known in self.guards
        )


def _most_rounds(loop: ast.For, forms: Forms) -> ast.expr | None:
    """Return an upper bound of a loop's trip count that is fixed along the row, if known.

    That of `range(max(x - r, 0), min(x + r + 1, n))` is `2 * r + 1`.
    """
    count = polling.trips(loop.iter)
    if count is not None:
        return tree.const(count)
    ends = polling.ends(loop.iter)
    if ends is None:
        return None
    starts, stops = _arguments(ends[0], max), _arguments(ends[1], min)
    for start in starts:
        for stop in stops:
            form = forms.of(tree.expr("b - a", a=start, b=stop))
            if form is not None and form.factor == 0:
                return form.rest
    return None


def _arguments(e: ast.expr, function: Any) -> list[ast.expr]:
    """Return the arguments of a call of `min` or `max`; any other expression in a list."""
    if isinstance(e, ast.Call) and tree.calls(e, function):
        return [*e.args, e]
    return [e]
