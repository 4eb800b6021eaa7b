"""Mutation operators for indices, bounds, guards, strides, and thread and block indices."""

from __future__ import annotations

import ast
import itertools
from typing import Any

from benchmarks.mutation.code import Code, Edit
from benchmarks.mutation.operators import BOUNDS, MISPLACED, OPERATORS, RACES, UNSET, Edits, mistake

__all__ = ["OPERATORS"]

DIM3 = ("threadIdx", "blockIdx", "blockDim", "gridDim")
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
LOOSER = {ast.Lt: "<=", ast.Gt: ">="}
TIGHTER = {ast.LtE: "<", ast.GtE: ">"}


def plus(code: Code, node: ast.expr, number: int) -> Edit:
    """Return the edit that adds a number to an expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return code.replace(node, str(node.value + number))
    simple = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.BinOp))
    text = code.of(node) if simple else f"({code.of(node)})"
    return code.replace(node, f"{text} {'+' if number > 0 else '-'} {abs(number)}")


# ---- indices --------------------------------------------------------------------------------


def _shifted(code: Code, number: int) -> Edits:
    for _, index in code.accesses():
        for part in index:
            if not isinstance(part, ast.Slice):
                yield [plus(code, part, number)]
    for call in code.walk(ast.Call):
        if code.intrinsic(call).startswith("atomic."):
            at = call.args[1]
            for part in at.elts if isinstance(at, ast.Tuple) else [at]:
                yield [plus(code, part, number)]


@mistake(*MISPLACED)
def index_one_more(code: Code) -> Edits:
    """Add 1 to one index of a load or a store."""
    yield from _shifted(code, 1)


@mistake(*MISPLACED)
def index_one_less(code: Code) -> Edits:
    """Subtract 1 from one index of a load or a store."""
    yield from _shifted(code, -1)


@mistake(*MISPLACED)
def swapped_axes(code: Code) -> Edits:
    """Swap two neighbouring indices: `a[row, col]` becomes `a[col, row]`."""
    for _, index in code.accesses():
        for first, second in itertools.pairwise(index):
            yield [code.replace(first, code.of(second)), code.replace(second, code.of(first))]


@mistake(*MISPLACED)
def swapped_targets(code: Code) -> Edits:
    """Swap two names: `col, row = cuda.grid(2)` becomes `row, col = cuda.grid(2)`."""
    for node in code.walk(ast.Assign):
        if isinstance(node.targets[0], ast.Tuple) and code.is_integer(node.value):
            first, second, *_ = node.targets[0].elts
            yield [code.replace(first, code.of(second)), code.replace(second, code.of(first))]


@mistake(*MISPLACED)
def swapped_stride(code: Code) -> Edits:
    """Multiply the wrong term: `row * width + col` becomes `width * col + row`."""
    for node in code.walk(ast.BinOp):
        if not (isinstance(node.op, ast.Add) and code.is_integer(node)):
            continue
        for product, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                first, second, term = map(code.of, (product.left, product.right, other))
                yield [code.replace(node, f"{first} * {term} + {second}")]
                yield [code.replace(node, f"{second} * {term} + {first}")]


@mistake(*MISPLACED)
def missing_offset(code: Code) -> Edits:
    """Leave out one term of a sum in an index: `t + tx` becomes `tx`."""
    for node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.Add) and code.is_integer(node):
            yield [code.replace(node, code.of(node.left))]
            yield [code.replace(node, code.of(node.right))]


@mistake(*MISPLACED)
def flipped_sign(code: Code) -> Edits:
    """Subtract in an index where `+` is meant, and the other way round."""
    for node in code.walk(ast.BinOp):
        sign = {ast.Add: "-", ast.Sub: "+"}.get(type(node.op))
        if sign and code.is_integer(node):
            yield [code.replace(node, f"{code.of(node.left)} {sign} {code.of(node.right)}")]


# ---- which thread, which block --------------------------------------------------------------


def _three(name: str, call: Any) -> str:
    number = call.args[0].value
    axes = [f"cuda.{name}.{axis}" for axis in "xyz"[:number]]
    return axes[0] if number == 1 else f"({', '.join(axes)})"


@mistake(*MISPLACED)
def missing_block_offset(code: Code) -> Edits:
    """Use the index in the block as the index in the grid."""
    for call in code.walk(ast.Call):
        if code.intrinsic(call) == "grid":
            yield [code.replace(call, _three("threadIdx", call))]
    for node in code.walk(ast.Attribute):
        if code.intrinsic(node).startswith("blockIdx."):
            yield [code.replace(node, "0")]


@mistake(*MISPLACED)
def block_for_thread(code: Code) -> Edits:
    """Write blockIdx for threadIdx."""
    for call in code.walk(ast.Call):
        if code.intrinsic(call) == "grid":
            yield [code.replace(call, _three("blockIdx", call))]
    for node in code.walk(ast.Attribute):
        if code.intrinsic(node).startswith("threadIdx."):
            yield [code.replace(node, code.of(node).replace("threadIdx", "blockIdx"))]


@mistake(*MISPLACED)
def wrong_size(code: Code) -> Edits:
    """Write gridDim for blockDim, blockDim for gridDim, or the block for the grid's size."""
    swap = {"blockDim": "gridDim", "gridDim": "blockDim"}
    for node in code.walk(ast.Attribute):
        name, _, axis = code.intrinsic(node).partition(".")
        if axis and name in swap:
            yield [code.replace(node, code.of(node).replace(name, swap[name]))]
    for call in code.walk(ast.Call):
        if code.intrinsic(call) == "gridsize":
            yield [code.replace(call, _three("blockDim", call))]
            yield [code.replace(call, _three("gridDim", call))]


@mistake(*MISPLACED)
def wrong_axis(code: Code) -> Edits:
    """Write `.y` for `.x` of an index or size, and the other way round."""
    for node in code.walk(ast.Attribute):
        name, _, axis = code.intrinsic(node).partition(".")
        if name in DIM3 and axis:
            yield [code.replace(node, f"{code.of(node)[:-1]}{'y' if axis == 'x' else 'x'}")]


# ---- ranges ---------------------------------------------------------------------------------


def _ranges(code: Code) -> Any:
    for node in code.walk(ast.For):
        call = node.iter
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "range":
            yield call, call.args[0] if len(call.args) > 1 else None, call.args[:2][-1]


@mistake(*MISPLACED)
def range_end(code: Code) -> Edits:
    """Let a loop run one iteration too many, or one too few."""
    for _, _, stop in _ranges(code):
        yield [plus(code, stop, 1)]
        yield [plus(code, stop, -1)]


@mistake(*MISPLACED)
def range_start(code: Code) -> Edits:
    """Let a loop start one too late, or one too early."""
    for call, start, _ in _ranges(code):
        if start is None:
            yield [Edit(code.start(call.args[0]), code.start(call.args[0]), "1, ")]
        else:
            yield [plus(code, start, 1)]
            yield [plus(code, start, -1)]


@mistake(*MISPLACED)
def wrong_step(code: Code) -> Edits:
    """Step by 1 where a loop steps by a tile or by the whole grid."""
    for call, _, _ in _ranges(code):
        if len(call.args) == 3:
            yield [code.replace(call.args[2], "1")]


@mistake(*MISPLACED)
def missing_last_tile(code: Code) -> Edits:
    """Round down the number of tiles, so that the last, partial one is left out."""
    for call, _, stop in _ranges(code):
        if len(call.args) == 3 and isinstance(call.args[2], ast.Name):
            yield [code.replace(stop, f"{code.of(stop)} - {call.args[2].id} + 1")]
    for node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.FloorDiv) and isinstance(node.left, ast.BinOp):
            number = node.left.left if isinstance(node.left.left, ast.expr) else node.left
            while isinstance(number, ast.BinOp):
                number = number.left
            yield [code.replace(node, f"{code.of(number)} // {code.of(node.right)}")]


# ---- guards ---------------------------------------------------------------------------------


def _comparisons(code: Code) -> Any:
    """Yield the parts of every comparison by size: left side, operator, right side."""
    for node in code.walk(ast.Compare):
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, node.comparators, strict=False):
            if type(op) in COMPARE:
                yield left, op, right


def _compared(code: Code, left: Any, sign: str, right: Any) -> Edit:
    return Edit(code.end(left), code.start(right), f" {sign} ")


@mistake(*MISPLACED)
def guard_looser(code: Code) -> Edits:
    """Let a guard pass one more: `<` becomes `<=`, and `0 <= i` becomes `-1 <= i`."""
    for left, op, right in _comparisons(code):
        if type(op) in LOOSER:
            yield [_compared(code, left, LOOSER[type(op)], right)]
        else:
            yield [plus(code, left, -1 if isinstance(op, ast.LtE) else 1)]


@mistake(*MISPLACED)
def guard_tighter(code: Code) -> Edits:
    """Let a guard pass one less: `i < n` becomes `i < n - 1`, and `0 <= i` becomes `0 < i`."""
    for left, op, right in _comparisons(code):
        if type(op) in TIGHTER:
            yield [_compared(code, left, TIGHTER[type(op)], right)]
        else:
            yield [plus(code, right, -1 if isinstance(op, ast.Lt) else 1)]


@mistake(*MISPLACED, "raised")
def drop_guard(code: Code) -> Edits:
    """Leave out a guard."""
    for node in code.walk(ast.If):
        yield [code.replace(node.test, "True")]
    for node in code.walk(ast.IfExp):
        yield [code.replace(node, code.of(node.body))]
    for node in code.walk(ast.Assign):
        if isinstance(node.value, (ast.BoolOp, ast.Compare)):
            yield [code.replace(node.value, "True")]


@mistake(*MISPLACED)
def drop_condition(code: Code) -> Edits:
    """Leave out one half of a guard: `row < m and col < n` becomes `col < n`."""
    for node in code.walk(ast.BoolOp):
        for part in node.values:
            rest = [code.of(other) for other in node.values if other is not part]
            word = " and " if isinstance(node.op, ast.And) else " or "
            yield [code.replace(node, word.join(rest))]


@mistake(*BOUNDS, *RACES, *UNSET)
def drop_clamp(code: Code) -> Edits:
    """Leave out `max(..., 0)` or `min(..., n)` around an index."""
    for call in code.walk(ast.Call):
        if getattr(call.func, "id", "") in ("min", "max") and code.is_integer(call):
            yield [code.replace(call, f"({code.of(call.args[0])})")]
