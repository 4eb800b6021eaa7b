"""What may stand where an expression of a solution does: what is written instead by mistake."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpukit.course.inputs import lanes

# The sizes that people write instead of asking for them.
_SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div, ast.Sub),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.FloorDiv: (ast.Mod, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
}
_ORDER: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
# Calls that are taken for one another.
_CALLS = {
    "min": ("max",),
    "max": ("min",),
    "math.exp": ("math.log", "math.tanh"),
    "math.log": ("math.log1p", "math.exp", "math.log2"),
    "math.log1p": ("math.log",),
    "math.tanh": ("math.exp",),
    "cuda.shfl_xor_sync": ("cuda.shfl_down_sync", "cuda.shfl_up_sync"),
    "cuda.shfl_down_sync": ("cuda.shfl_xor_sync", "cuda.shfl_up_sync"),
    "cuda.shfl_up_sync": ("cuda.shfl_down_sync", "cuda.shfl_xor_sync"),
    "cuda.gridsize": ("cuda.grid",),
}
_DTYPES = {
    "float32": ("int32", "float16"),
    "int32": ("uint8", "int8", "uint16", "int16"),
    "uint8": ("int8",),
}
_AXES = {"x": "yz", "y": "xz", "z": "xy"}
_LAUNCH = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
_MATHS = {"sqrt", "exp", "log", "log1p", "tanh", "abs", "floor", "ceil", "fabs"}


class Names:
    """The names of a function: which of them may be taken for one another."""

    def __init__(self, function: ast.FunctionDef, constants: list[str]) -> None:
        stored = (
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        parameters = [arg.arg for arg in function.args.args]
        self._given = {*parameters, *constants}
        self._constants = constants
        self._names = [*dict.fromkeys([*parameters, *stored]), *constants]
        self._arrays = {
            node.value.id
            for node in ast.walk(function)
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Name)
        }

    def others(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what may stand where an expression does."""
        if is_infinite(node):
            for start in (0, 1, -1, *lanes.STARTS, lanes.LEAST):
                yield _expression(f"np.float32({np.float32(start)!s})")
            return
        yield from self._of_kind(node)
        if _is_extent(node):
            yield from _extents(ast.unparse(node))

    def is_local(self, name: ast.Name) -> bool:
        """Tell whether a name is a variable of the function: each has a meaning of its own."""
        return name.id not in self._given

    def are_alike(self, one: ast.AST, other: ast.AST) -> bool:
        """Tell whether both or neither are names of arrays, of which one is taken for the other."""
        return (ast.unparse(one) in self._arrays) == (ast.unparse(other) in self._arrays)

    def _of_kind(self, node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            n = node.value
            for other in dict.fromkeys((n - 1, n + 1, 0, 1, 2 * n, n // 2, n * n, *_SIZES)):
                if other != n and (n >= 8 or other not in _SIZES):
                    yield ast.Constant(other)
        elif isinstance(node, ast.Constant) and type(node.value) is float:
            for number in (0.0, 1.0, -node.value, 2 * node.value, node.value / 2):
                yield ast.Constant(number)
        elif isinstance(node, ast.Name):
            for name in map(_expression, self._names):
                if name.id != node.id and self.are_alike(name, node):
                    yield name
            if node.id in self._constants:
                yield from (_expression(f"np.float32({number})") for number in (0, 1))
        elif isinstance(node, ast.Attribute):
            yield from _of_attribute(node)
        elif isinstance(node, ast.BinOp):
            yield from _of_operation(node)
        elif isinstance(node, ast.UnaryOp):
            yield node.operand
        elif isinstance(node, ast.Compare):
            yield from _of_comparison(node)
        elif isinstance(node, ast.BoolOp):
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            yield from node.values
        elif isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse, ast.IfExp(node.test, node.orelse, node.body))
        elif isinstance(node, ast.Tuple):
            kept = (node.elts[1:], node.elts[:-1]) if len(node.elts) > 2 else ()
            for elements in (*kept, node.elts[::-1]):
                yield ast.Tuple(elements, ast.Load())
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_attribute(node: ast.Attribute) -> Iterator[ast.AST]:
    if isinstance(node.value, ast.Attribute) and node.value.attr in _LAUNCH:
        for axis in _AXES[node.attr]:
            yield ast.Attribute(node.value, axis, ast.Load())
        for other in sorted(_LAUNCH - {node.value.attr}):
            yield ast.Attribute(ast.Attribute(node.value.value, other), node.attr, ast.Load())
    elif node.attr in _DTYPES:
        for dtype in _DTYPES[node.attr]:
            yield ast.Attribute(node.value, dtype, ast.Load())


def _of_operation(node: ast.BinOp) -> Iterator[ast.AST]:
    yield from (node.left, node.right)
    for operator in OPERATORS.get(type(node.op), ()):
        yield ast.BinOp(node.left, operator(), node.right)
    if not isinstance(node.op, ast.Add | ast.Mult):
        yield ast.BinOp(node.right, node.op, node.left)
    inner = node.right
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
        # As without the parentheses.
        yield ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)
    inner = node.left
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
        yield ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))
    yield from _later(node)


def _of_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for k, operator in enumerate(node.ops):
        for other in _ORDER:
            if type(operator) is not other:
                ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)
    if len(node.ops) > 1:
        yield ast.Compare(node.left, node.ops[:1], node.comparators[:1])
        yield ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    name = ast.unparse(node.func)
    for other in _CALLS.get(name, ()):
        yield ast.Call(_expression(other), node.args, [])
    if name in ("min", "max"):
        yield from node.args
        yield from _earlier(node)
    elif name.rpartition(".")[2] in _MATHS:
        yield node.args[0]
        yield from _earlier(node)
    elif len(node.args) == 1 and name in ("reversed", "sorted", "bool", "list"):
        yield node.args[0]
    elif name == "range" and len(node.args) > 1:
        first, last = node.args[:2]
        yield ast.Call(node.func, [ast.Constant(0), *node.args[1:]], [])
        yield ast.Call(node.func, [first, last], [])
        if len(node.args) == 3:
            for size in _SIZES:
                yield ast.Call(node.func, [first, last, ast.Constant(size)], [])
    elif name.startswith("np.") and len(node.args) == 1:
        yield from (_expression(f"np.float32({number})") for number in (0, 1))


def _earlier(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call made before an operation, not after it: `2 * min(x, 5)` of `min(2 * x, 5)`."""
    first, others = node.args[0], node.args[1:]
    if isinstance(first, ast.BinOp):
        left, right = (
            ast.Call(node.func, [part, *others], []) for part in (first.left, first.right)
        )
        yield ast.BinOp(left, first.op, first.right)
        yield ast.BinOp(first.left, first.op, right)
        yield ast.BinOp(left, first.op, right)


def _later(node: ast.BinOp) -> Iterator[ast.AST]:
    """Yield a call made after an operation, not before it: `abs(2 * x)` of `2 * abs(x)`."""
    for inner, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(inner, ast.Call) and ast.unparse(inner.func).rpartition(".")[2] in _MATHS:
            sides = (inner.args[0], other) if inner is node.left else (other, inner.args[0])
            yield ast.Call(inner.func, [ast.BinOp(sides[0], node.op, sides[1])], [])


def _extents(written: str) -> Iterator[ast.AST]:
    """Yield what may stand for the size of an array."""
    yield from (_expression(f"{written} {less}") for less in ("- 1", "+ 1", "// 2"))
    for size in _SIZES:
        yield _expression(f"min({written}, {size})")
        yield _expression(f"{written} // {size} * {size}")


def _is_extent(node: ast.AST) -> bool:
    """Tell whether this is `x.size` or `x.shape[k]`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return isinstance(node, ast.Attribute) and node.attr == "size"


def is_infinite(node: ast.AST) -> bool:
    return ast.unparse(node).endswith("inf)")


def is_memory(node: ast.AST) -> bool:
    return ast.unparse(node).startswith(("cuda.shared", "cuda.local", "cuda.const", "cuda.grid("))


def through(value: ast.AST, is_assigned: bool) -> Iterator[ast.AST]:
    """Yield a value, loaded or assigned, sent through one operation more."""
    written = ast.unparse(value)
    is_loaded = isinstance(value, ast.Subscript) and not _is_extent(value)
    if is_loaded or (is_assigned and not is_memory(value) and not written.startswith("np.")):
        for words in ("-({})", "abs({})", "int({})", "np.int32({})", "max({}, np.float32(0))"):
            yield _expression(words.format(written))


def _expression(written: str) -> Any:
    return ast.parse(written, mode="eval").body
