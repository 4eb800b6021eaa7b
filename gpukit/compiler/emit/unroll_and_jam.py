"""Unroll and jam a loop that a row runs in lockstep: run several iterations per thread at once.

Where threads carry a value from iteration to iteration, such as a running sum or maximum, each
iteration loads and stores it. Four iterations of one thread in a row, before the next thread
starts, do that once. The result is the same, because no thread waits for another here. Only whole
iterations, which every thread of the row runs, are grouped; a loop after it does the remainder.

    for i in range(tid, n, step):             for i in range(first, end, 4 * step):
        own += x[i]                 ->            own = own + x[i] + ... + x[i + 3 * step]
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from gpukit.compiler import tree
from gpukit.compiler.analysis.affine import Form, Forms
from gpukit.compiler.emit import accesses
from gpukit.compiler.emit.bounds import Guard
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.lowering import region_tree
from gpukit.compiler.unit import Unit

_TOGETHER = 4  # iterations per group, the unroll factor
_LONGEST = 60  # nodes of the longest body that is unrolled


def pays(kernel: Kernel, row: region_tree.RowFor) -> bool:
    """Tell whether loading and storing kept variables is a large part of an iteration."""
    if row.stride == 0 or kernel.options.instrumented:
        return False
    body = getattr(row.body[0], "body", [])
    if len(body) != 1 or not isinstance(body[0], region_tree.ThreadLoop):
        return False
    thread_loop = body[0]
    nodes = [n for s in thread_loop.body for n in ast.walk(s)]
    if thread_loop.mask is not None or len(nodes) > _LONGEST:
        return False
    if any(isinstance(n, (ast.For, ast.While, ast.Raise, ast.Assert)) for n in nodes):
        return False
    if kernel.ranges.of(_times(_step(row), _TOGETHER)) is None:
        return False  # so large a step could overflow 64 bits
    return bool(
        (kernel.schedule.live_across - thread_loop.forms.fixed) & tree.writes(thread_loop.body)
    )


@dataclass(frozen=True)
class Whole:
    """Whole iterations: the statements before them, their range and rows, the remainder's range.

    `guards` are indices known to be below a size in whole iterations.
    """

    before: list[ast.stmt]
    range: ast.expr
    rows: list[region_tree.Row]
    guards: list[Guard]
    others: ast.expr


def whole(kernel: Kernel, row: region_tree.RowFor, high: ast.expr) -> Whole:
    """Return the iterations in which all threads below `high` take part, in groups."""
    rewriter = kernel.rewriter
    guard = row.body[0]
    assert isinstance(guard, region_tree.RowIf)
    start, stop = map(rewriter.expression, row.iter.args[:2])  # type: ignore[attr-defined]
    by = rewriter.expression(_step(row))
    end = kernel.unit.fresh("end")
    last_thread = _one_less(high)
    proved, tests = _proved_for_all(kernel, row, guard, last_thread, end)
    rows, guards = _copies(kernel.unit, row, [*guard.guards, *proved])
    ahead_of, end_of_groups = (
        rewriter.helper("bounds", name) for name in ("ahead_of", "end_of_groups")
    )
    none = tree.assign(end, start)  # if an index might be out of bounds, check all iterations
    groups = tree.call(end_of_groups, start, tree.name(end), by, tree.const(_TOGETHER))
    before = [
        tree.assign(end, tree.call(ahead_of, stop, _times(last_thread, row.stride))),
        *(ast.If(ast.UnaryOp(ast.Not(), test), [none], []) for test in tests),
        tree.assign(end, groups),
    ]
    over = tree.over(start, tree.name(end), _times(by, _TOGETHER))
    return Whole(before, over, rows, guards, tree.over(tree.name(end), stop, by))


def _proved_for_all(
    kernel: Kernel,
    row: region_tree.RowFor,
    guard: region_tree.RowIf,
    last_thread: ast.expr,
    end: str,
) -> tuple[list[Guard], list[ast.expr]]:
    """Return indices that stay below a size in all whole iterations if the tests hold.

    They grow with the loop's variable with factor 1: a larger one could overflow 64 bits.
    """
    proved: list[Guard] = []
    tests: dict[Any, ast.expr] = {}
    inside = kernel.rewriter.helper("bounds", "inside")
    thread, last = tree.expr("cuda.threadIdx.x"), tree.expr(f"{end} - 1")
    for thread_loop in region_tree.thread_loops_of(guard.body):
        for array, forms in accesses.affine(kernel, thread_loop).values():
            for axis, form in enumerate(forms):
                size = tree.expr(f"{array}.shape[{axis}]")
                along = row.forms.of(tree.fill(form.rest, **{row.target: thread}))
                if kernel.ranges.size(size) is None or along is None or along.factor != 1:
                    continue
                if any(tree.key(size) == tree.key(n) for _, n in guard.guards):
                    continue
                proved.append((form, size))
                most = tree.fill(form.at(last_thread), **{row.target: last})
                test = tree.call(inside, *map(kernel.rewriter.expression, (size, most)))
                tests.setdefault(tree.key(test), test)
    return proved, list(tests.values())


def _step(row: region_tree.RowFor) -> ast.expr:
    """Return the step of a loop."""
    arguments: list[ast.expr] = row.iter.args  # type: ignore[attr-defined]
    return arguments[2] if len(arguments) == 3 else tree.const(1)


def _copies(
    unit: Unit, row: region_tree.RowFor, guards: list[Guard]
) -> tuple[list[region_tree.Row], list[Guard]]:
    """Return the unrolled body of a thread, and what guards prove in each iteration."""
    thread_loop: region_tree.ThreadLoop = row.body[0].body[0]  # type: ignore[assignment, union-attr]
    body, rematerialised, known = (
        list(thread_loop.body),
        dict(thread_loop.forms.rematerialised),
        list(guards),
    )
    for k in range(1, _TOGETHER):
        there = {row.target: ast.BinOp(tree.name(row.target), ast.Add(), _times(_step(row), k))}
        names: dict[str, str] = {}
        changed = True
        while changed:  # variables rematerialised in each iteration from the loop's variable
            depends = [
                n
                for n, e in thread_loop.forms.rematerialised.items()
                if tree.reads(e) & {*there, *names}
            ]
            changed = not names.keys() >= set(depends)
            names |= {n: unit.renamed(n) for n in depends if n not in names}
        for name in (n for n in thread_loop.forms.rematerialised if n in names):
            made = tree.fill(thread_loop.forms.rematerialised[name], **there)
            tree.rename(made, names)
            rematerialised[names[name]] = made
            if name in unit.types:
                unit.types[names[name]] = unit.types[name]
        copy = tree.clone(thread_loop.body)
        tree.rename(copy, names)
        body += copy
        known += [(Form(f.factor, tree.fill(f.rest, **there)), size) for f, size in guards]
    forms = Forms(rematerialised, thread_loop.forms.types, thread_loop.forms.fixed)
    return [region_tree.ThreadLoop(body, forms, thread_loop.mask)], known


def _times(e: ast.expr, by: int) -> ast.expr:
    if isinstance(e, ast.Constant):
        return tree.const(e.value * by)  # type: ignore[operator]
    return e if by == 1 else ast.BinOp(e, ast.Mult(), tree.const(by))


def _one_less(e: ast.expr) -> ast.expr:
    if isinstance(e, ast.Constant):
        return tree.const(e.value - 1)  # type: ignore[operator]
    return ast.BinOp(e, ast.Sub(), tree.const(1))
