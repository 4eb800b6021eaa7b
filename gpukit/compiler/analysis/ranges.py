"""Prove bounds checks at compile time by ranges of indices.

In a block of 16 x 16 threads `tile[threadIdx.y, k]` with `k` from range(16) is always inside a
16 x 16 tile.

>>> known = Ranges((16, 16, 1))
>>> known.holds(tree.expr("cuda.threadIdx.y < 16")), known.holds(tree.expr("cuda.threadIdx.y < n"))
(True, False)
>>> with known.loop("k", tree.expr("range(16)")):
...     known.holds(tree.expr("2 * k + 1 < 32"))
True

A guard in the source is a proof: inside `if row < m` with `m = a.shape[0]`, `row` is a valid row
index of `a`.

>>> known = Ranges(None, {"a": 2})
>>> known.learn(tree.stmts("m, n = a.shape")[0])
>>> known.size(tree.expr("m")), known.holds(tree.expr("0 <= cuda.blockIdx.x + m"))
(('a', 0), True)
"""

from __future__ import annotations

import ast
import contextlib
import operator
from collections.abc import Callable, Iterator

from gpukit.compiler import tree
from gpukit.compiler.context import WIDEST

Interval = tuple[int, int]
Axis = tuple[str, int]
# No axis of an array with elements is as long as this.
LARGEST = 1 << 60
_SAFE = 1 << 62  # far below the overflow of 64 bits
_LIMITS = {"threadIdx": (0, WIDEST - 1), "blockDim": (1, WIDEST)}
_GRID_LIMITS = {"blockIdx": (0, (1 << 31) - 2), "gridDim": (1, (1 << 31) - 1)}
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Ranges:
    """Known ranges of indices; `block` is the block shape, 0 for unknown sizes.

    `arrays` are the arrays whose names are never reassigned, with their numbers of axes.
    """

    def __init__(
        self, block: tuple[int, int, int] | None, arrays: dict[str, int] | None = None
    ) -> None:
        self.known: dict[str, Interval] = {}
        self.sizes: dict[str, Axis] = {}  # by variable: "m" is ("a", 0)
        self.arrays = arrays or {}
        for axis, size in zip(tree.AXES, block or (0, 0, 0), strict=True):
            exact = {"threadIdx": (0, size - 1), "blockDim": (size, size)} if size else _LIMITS
            for name, limits in {**exact, **_GRID_LIMITS}.items():
                self.known[f"cuda.{name}.{axis}"] = self.known[f"{name}_{axis}"] = limits

    @contextlib.contextmanager
    def loop(self, name: str, over: ast.expr) -> Iterator[None]:
        """Record the range of a loop's variable for a `with` block; forget it afterwards."""
        found = self._range(over)
        self.forget({name})
        if found is not None:
            self.known[name] = found
        try:
            yield
        finally:
            self.forget({name})

    @contextlib.contextmanager
    def wide(self, blocks: int) -> Iterator[None]:
        """Let threadIdx.x count the threads of so many blocks inside a `with` block."""
        before = dict(self.known)
        most = blocks * self.known["blockDim_x"][1]
        self.known["cuda.threadIdx.x"] = self.known["threadIdx_x"] = (0, most - 1)
        self.known["_wide"] = (1, most)
        try:
            yield
        finally:
            for name in ("cuda.threadIdx.x", "threadIdx_x"):
                self.known[name] = before[name]
            self.forget({"_wide"})

    def learn(self, s: ast.stmt) -> None:
        """Record what a statement that runs once per block sets."""
        value: ast.expr | None = None
        target = ""
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            target, value = s.targets[0].id, s.value
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            target = s.target.id
            value = ast.BinOp(tree.name(target), s.op, s.value)
        found = None if value is None else self.of(value)
        size = None if value is None else self.size(value)
        self.forget(tree.writes(s))
        if found is not None:
            self.known[target] = found
        if size is not None:
            self.sizes[target] = size
        self._learn_axes(s)

    def _learn_axes(self, s: ast.stmt) -> None:
        """Record the sizes in `m, n = a.shape`."""
        if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple)):
            return
        for axis, target in enumerate(s.targets[0].elts):
            value = ast.Subscript(s.value, tree.const(axis), ast.Load())
            size = self.size(value)
            if size is not None and isinstance(target, ast.Name):
                self.sizes[target.id] = size
                self.known[target.id] = (0, LARGEST)

    def forget(self, names: set[str]) -> None:
        """Drop what is known of some variables."""
        for name in names:
            self.known.pop(name, None)
            self.sizes.pop(name, None)

    @contextlib.contextmanager
    def branch(self, written: set[str]) -> Iterator[None]:
        """Undo at the end of a `with` block what it learned, and forget the variables written."""
        before = dict(self.known), dict(self.sizes)
        try:
            yield
        finally:
            self.known, self.sizes = before
            self.forget(written)

    def _range(self, over: ast.expr) -> Interval | None:
        parts = [self.of(a) for a in getattr(over, "args", [])]
        if len(parts) == 3 and parts[2] is not None and parts[2][0] > 0:
            parts.pop()
        if not parts or None in parts or len(parts) > 2:
            return None
        low, high = (parts[0], parts[1]) if len(parts) == 2 else ((0, 0), parts[0])
        return (low[0], max(low[0], high[1] - 1))  # type: ignore[index]

    def size(self, node: ast.expr) -> Axis | None:
        """Return the array and axis whose size an expression is, such as `a.shape[0]`."""
        array, axis = _axis(node)
        if isinstance(node, ast.Name):
            return self.sizes.get(node.id)
        if array not in self.arrays or (axis is None and self.arrays[array] != 1):
            return None
        return array, axis or 0

    def of(self, node: ast.expr) -> Interval | None:
        """Return the smallest and the largest value of an expression, if they are known."""
        found = self._of(node)
        return found if found is not None and -_SAFE < found[0] <= found[1] < _SAFE else None

    def _of(self, node: ast.expr) -> Interval | None:
        if isinstance(node, ast.Constant):
            return (node.value, node.value) if isinstance(node.value, int) else None
        if _axis(node)[0] in self.arrays:
            return (0, LARGEST)
        path = tree.dotted(node)
        if path is not None:
            return self.known.get(path)
        if not isinstance(node, ast.BinOp):
            return None
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left[0] + right[0], left[1] + right[1]
        if isinstance(node.op, ast.Sub):
            return left[0] - right[1], left[1] - right[0]
        if isinstance(node.op, (ast.FloorDiv, ast.RShift)) and right[0] == right[1] > 0:
            by = right[0] if isinstance(node.op, ast.FloorDiv) else 1 << right[0]
            return left[0] // by, left[1] // by
        if isinstance(node.op, ast.Mult):
            products = [a * b for a in left for b in right]
            return min(products), max(products)
        return None

    def holds(self, test: ast.expr) -> bool:
        """Tell whether `a < b` or `a <= b` is sure to hold."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return False
        left, right = self.of(test.left), self.of(test.comparators[0])
        if left is None or right is None:
            return False
        if isinstance(test.ops[0], ast.Lt):
            return left[1] < right[0]
        return isinstance(test.ops[0], ast.LtE) and left[1] <= right[0]


def _axis(node: ast.expr) -> tuple[str, int | None]:
    """Return array and axis of `a.shape[1]`; of `a.size` and `len(a)` the axis None."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base, axis = node.value, node.slice.value
        if isinstance(base, ast.Attribute) and base.attr == "shape" and isinstance(axis, int):
            return getattr(base.value, "id", ""), axis
    if isinstance(node, ast.Attribute) and node.attr == "size":
        return getattr(node.value, "id", ""), None
    if isinstance(node, ast.Call) and tree.calls(node, len):
        return getattr(node.args[0], "id", "") if node.args else "", None
    return "", None
