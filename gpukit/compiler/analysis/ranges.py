"""Tests that are known to hold when a kernel is compiled, and so need not be made.

In a block of 16 x 16 threads `tile[threadIdx.y, k]` with `k` from range(16) cannot leave a tile
of 16 x 16.

>>> known = Ranges((16, 16, 1))
>>> known.holds(tree.expr("cuda.threadIdx.y < 16")), known.holds(tree.expr("cuda.threadIdx.y < n"))
(True, False)
>>> with known.loop("k", tree.expr("range(16)")):
...     known.holds(tree.expr("2 * k + 1 < 32"))
True

A guard that the person wrote proves what it says: behind `row < m` with `m = a.shape[0]` a row of
`a` is not too large.

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
# No array has an axis as long as this that holds an element and can be reached.
LARGEST = 1 << 60
_SAFE = 1 << 62  # far enough from where 64 bits wrap
_LIMITS = {"threadIdx": (0, WIDEST - 1), "blockDim": (1, WIDEST)}
_GRID_LIMITS = {"blockIdx": (0, (1 << 31) - 2), "gridDim": (1, (1 << 31) - 1)}
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


class Ranges:
    """What is known of the values of indices; `block` holds 0 for sizes that are not known.

    `arrays` are the arrays that keep their names, with their numbers of axes.
    """

    def __init__(
        self, block: tuple[int, int, int] | None, arrays: dict[str, int] | None = None
    ) -> None:
        self.known: dict[str, Interval] = {}
        self.sizes: dict[str, Axis] = {}  # of names: "m" is ("a", 0)
        self.arrays = arrays or {}
        for axis, size in zip(tree.AXES, block or (0, 0, 0), strict=True):
            exact = {"threadIdx": (0, size - 1), "blockDim": (size, size)} if size else _LIMITS
            for name, limits in {**exact, **_GRID_LIMITS}.items():
                self.known[f"cuda.{name}.{axis}"] = self.known[f"{name}_{axis}"] = limits

    @contextlib.contextmanager
    def loop(self, name: str, over: ast.expr) -> Iterator[None]:
        """Know the range of a loop's variable inside a `with` block, and nothing of it after."""
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
        """Know inside a `with` block that threadIdx.x counts the threads of so many blocks."""
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
        """Note what a statement that is run once for the block sets."""
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
        """Note what `m, n = a.shape` says."""
        if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple)):
            return
        for axis, target in enumerate(s.targets[0].elts):
            value = ast.Subscript(s.value, tree.const(axis), ast.Load())
            size = self.size(value)
            if size is not None and isinstance(target, ast.Name):
                self.sizes[target.id] = size
                self.known[target.id] = (0, LARGEST)

    def forget(self, names: set[str]) -> None:
        """Know nothing more of some variables."""
        for name in names:
            self.known.pop(name, None)
            self.sizes.pop(name, None)

    @contextlib.contextmanager
    def branch(self, written: set[str]) -> Iterator[None]:
        """Undo at the end of a `with` block what was learnt in it, and forget what it sets."""
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
        """Return the axis of which array an expression is the size, such as `a.shape[0]`."""
        array, axis = _axis(node)
        if isinstance(node, ast.Name):
            return self.sizes.get(node.id)
        if array not in self.arrays or (axis is None and self.arrays[array] != 1):
            return None
        return array, axis or 0

    def of(self, node: ast.expr) -> Interval | None:
        """Return the least and the greatest value of an expression, if they are known."""
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
