"""The mutation operators: one mistake each, with the classes of findings that should report it.

An operator yields lists of edits, one list for each occurrence of the mistake. `right_kinds` are
the classes of findings (gpukit/checked/finding.py) that describe the mistake or its direct
consequence. An operator without kinds makes wrong values and no wrong access: only the answer can
show it. This file holds mistakes in synchronization, memory and types; `places.py` holds mistakes
in indices, guards and bounds.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.mutation.code import Code, Edit, indices
from gpukit.compiler import intrinsics

Edits = Iterator[list[Edit]]
RACES = ("shared-race", "global-race", "warp-race", "atomic-race", "same-value-race", "block-order")
BOUNDS = ("out-of-bounds", "negative-index")
UNSET = ("uninitialised-shared", "uninitialised-local", "uninitialised-global")
DIVERGED = ("barrier-divergence", "barrier-after-return")
# Consequences of a wrong address: out of bounds, another thread's element, an unset element.
MISPLACED = (*BOUNDS, *RACES, *UNSET, "never-written")
WARP = ("warp-mask", "shuffle-source", "warp-race")


@dataclass(frozen=True)
class Operator:
    """One operator: its name, its meaning in a sentence, and its edits of a function."""

    name: str
    meaning: str
    right_kinds: frozenset[str]
    find: Callable[[Code], Edits]


OPERATORS: dict[str, Operator] = {}


def mistake(*kinds: str) -> Callable[[Callable[[Code], Edits]], Callable[[Code], Edits]]:
    """Register an operator; its name and meaning are the function's name and docstring."""

    def register(find: Callable[[Code], Edits]) -> Callable[[Code], Edits]:
        meaning = (find.__doc__ or "").splitlines()[0].rstrip(".")
        OPERATORS[find.__name__] = Operator(find.__name__, meaning, frozenset(kinds), find)
        return find

    return register


# ---- synchronization ------------------------------------------------------------------------


@mistake(*RACES, *UNSET)
def drop_barrier(code: Code) -> Edits:
    """Leave out `cuda.syncthreads()`."""
    yield from _drop(code, *intrinsics.BARRIER_NAMES)


@mistake(*RACES, *UNSET)
def drop_syncwarp(code: Code) -> Edits:
    """Leave out `cuda.syncwarp()`."""
    yield from _drop(code, "syncwarp")


@mistake(*RACES)
def drop_fence(code: Code) -> Edits:
    """Leave out `cuda.threadfence()`."""
    yield from _drop(code, *intrinsics.FENCE_NAMES)


@mistake(*RACES, *UNSET)
def drop_grid_sync(code: Code) -> Edits:
    """Leave out `grid.sync()`."""
    for statement in code.walk(ast.Expr):
        call = statement.value
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "sync":
            yield [code.replace(statement, "pass")]


def _drop(code: Code, *names: str) -> Edits:
    for statement in code.walk(ast.Expr):
        if code.intrinsic(statement.value) in names:
            yield [code.replace(statement, "pass")]


def _swap(code: Code, first: ast.stmt, second: ast.stmt) -> list[Edit]:
    between = code.text[code.end(first) : code.start(second)]
    text = code.of(second) + between + code.of(first)
    return [Edit(code.start(first), code.end(second), text)]


@mistake(*RACES, *UNSET)
def barrier_down(code: Code) -> Edits:
    """Put a barrier one statement later than it belongs."""
    for block in code.blocks():
        for barrier, other in itertools.pairwise(block):
            if code.is_barrier(barrier) and code.touches_memory(other):
                yield _swap(code, barrier, other)


@mistake(*RACES, *UNSET)
def barrier_up(code: Code) -> Edits:
    """Put a barrier one statement earlier than it belongs."""
    for block in code.blocks():
        for other, barrier in itertools.pairwise(block):
            if code.is_barrier(barrier) and code.touches_memory(other):
                yield _swap(code, other, barrier)


@mistake(*DIVERGED, *RACES, *UNSET)
def barrier_into_guard(code: Code) -> Edits:
    """Put a barrier inside the `if` before or after it."""
    for block in code.blocks():
        for first, second in itertools.pairwise(block):
            if code.is_barrier(second) and isinstance(first, ast.If):
                last = first.body[-1]
                yield [code.after(last, code.of(second), like=last), code.replace(second, "pass")]
            if code.is_barrier(first) and isinstance(second, ast.If):
                yield [code.replace(first, "pass"), code.before(second.body[0], code.of(first))]


@mistake(*RACES, *UNSET)
def barrier_out_of_loop(code: Code) -> Edits:
    """Put a barrier after the loop that it belongs in."""
    for loop in code.walk(ast.For, ast.While):
        for barrier in filter(code.is_barrier, loop.body):
            yield [code.replace(barrier, "pass"), code.after(loop, code.of(barrier), like=loop)]


@mistake(*DIVERGED, *RACES, *UNSET, "never-written")
def early_return(code: Code) -> Edits:
    """Return where the guard does not hold, before a barrier."""
    tests = [n.test for n in code.walk(ast.If, ast.IfExp)]
    for block in code.blocks():
        waiting = [s for s in block if code.waits(s)]
        if not waiting or block is not code.body:
            continue
        known = code.parameters | {
            n.id
            for s in block[: block.index(waiting[0])]
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for test in tests:
            names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
            if {n for n in names if code.env.get(n) is None} <= known:
                text = f"if not ({code.of(test)}):\n{' ' * block[0].col_offset}    return"
                yield [code.before(waiting[0], text)]


# ---- warps ----------------------------------------------------------------------------------


@mistake(*WARP, *RACES)
def wrong_mask(code: Code) -> Edits:
    """Include only half of the lanes in a mask."""
    masked = {"syncwarp", *intrinsics.SHUFFLE_NAMES, *intrinsics.VOTE_NAMES}
    for call in code.walk(ast.Call):
        if code.intrinsic(call) in masked and call.args:
            yield [code.replace(call.args[0], f"({code.of(call.args[0])}) >> 16")]


@mistake(*WARP)
def wrong_shuffle_offset(code: Code) -> Edits:
    """Shuffle from one lane further away."""
    for call in code.walk(ast.Call):
        if code.intrinsic(call) in intrinsics.SHUFFLE_NAMES and len(call.args) > 2:
            yield [code.replace(call.args[2], f"{code.of(call.args[2])} + 1")]


# ---- memory ---------------------------------------------------------------------------------

PLAIN = {
    "add": "{a}[{i}] += {v}",
    "sub": "{a}[{i}] -= {v}",
    "exch": "{a}[{i}] = {v}",
    "max": "{a}[{i}] = max({a}[{i}], {v})",
    "min": "{a}[{i}] = min({a}[{i}], {v})",
    "and_": "{a}[{i}] &= {v}",
    "or_": "{a}[{i}] |= {v}",
    "xor": "{a}[{i}] ^= {v}",
}


@mistake(*RACES)
def atomic_to_plain(code: Code) -> Edits:
    """Add with `array[i] += value` instead of an atomic."""
    for statement in code.walk(ast.Expr):
        pattern = PLAIN.get(code.intrinsic(statement.value).removeprefix("atomic."))
        if pattern and code.intrinsic(statement.value).startswith("atomic."):
            array, index, value = (code.of(part) for part in statement.value.args)
            yield [code.replace(statement, pattern.format(a=array, i=index, v=value))]


@mistake(*UNSET, "never-written")
def drop_fill(code: Code) -> Edits:
    """Leave out a store to a shared or local array."""
    made = code.made_by("shared.array") | code.made_by("local.array")
    yield from _drop_stores(code, made)


@mistake("never-written", "uninitialised-global")
def drop_store(code: Code) -> Edits:
    """Leave out a store to an argument."""
    yield from _drop_stores(code, code.parameters)
    for statement in code.walk(ast.Expr):
        if code.intrinsic(statement.value).startswith("atomic."):
            yield [code.replace(statement, "pass")]


def _drop_stores(code: Code, arrays: set[str]) -> Edits:
    for statement in code.walk(ast.Assign, ast.AugAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Subscript) and getattr(target.value, "id", "") in arrays:
            yield [code.replace(statement, "pass")]


@mistake(*UNSET, "never-written")
def shared_to_local(code: Code) -> Edits:
    """Give every thread its own array where the block needs a shared one."""
    for call in code.walk(ast.Call):
        if code.intrinsic(call) == "shared.array":
            yield [code.replace(call.func, code.of(call.func).replace("shared", "local"))]


@mistake(*BOUNDS, *RACES)
def small_shared(code: Code) -> Edits:
    """Make a shared or local array one element too short."""
    for call in code.walk(ast.Call):
        if code.intrinsic(call) in ("shared.array", "local.array") and call.args:
            last = indices(call.args[0])[-1]
            if code.of(last) == "0":
                continue  # dynamic shared memory
            named = code.resolve(last)  # a shape takes no arithmetic with names
            less = str(named - 1) if isinstance(named, int) else f"{code.of(last)} - 1"
            yield [code.replace(last, less)]


@mistake(*MISPLACED)
def wrong_buffer(code: Code) -> Edits:
    """Read from another array with the same number of axes."""
    accesses = list(code.accesses())
    for node, index in accesses:
        alike = dict.fromkeys(a.value.id for a, i in accesses if len(i) == len(index))
        names, mine = list(alike), node.value.id
        other = names[(names.index(mine) + 1) % len(names)]
        if isinstance(node.ctx, ast.Load) and other != mine:
            yield [code.replace(node.value, other)]


# ---- values ---------------------------------------------------------------------------------


@mistake("float64")
def float64_literal(code: Code) -> Edits:
    """Write `0.0` for `np.float32(0)` or `x.dtype.type(0)`."""
    for call in code.walk(ast.Call):
        if _is_cast(code, call) and isinstance(call.args[0], ast.Constant):
            yield [code.replace(call, repr(float(call.args[0].value)))]


@mistake("float64")
def drop_cast(code: Code) -> Edits:
    """Leave out `np.float32(...)` or `x.dtype.type(...)` around a value."""
    for call in code.walk(ast.Call):
        if _is_cast(code, call) and not isinstance(call.args[0], ast.Constant):
            yield [code.replace(call, f"({code.of(call.args[0])})")]


def _is_cast(code: Code, call: ast.Call) -> bool:
    function = code.of(call.func)
    return function == "np.float32" or function.endswith(".dtype.type")


@mistake()
def wrong_start(code: Code) -> Edits:
    """Start a sum at 1 instead of 0."""
    added = {n.target.id for n in code.walk(ast.AugAssign) if isinstance(n.target, ast.Name)}
    for node in code.walk(ast.Assign):
        if getattr(node.targets[0], "id", "") in added and _is_zero(code, node.value):
            yield [code.replace(node.value, code.of(node.value).replace("0)", "1)"))]


def _is_zero(code: Code, node: Any) -> bool:
    return isinstance(node, ast.Call) and code.of(node).endswith("(0)")


@mistake(*UNSET)
def lost_sum(code: Code) -> Edits:
    """Store with `=` where `+=` is meant."""
    for node in code.walk(ast.AugAssign):
        yield [Edit(code.end(node.target), code.start(node.value), " = ")]
