"""Tests that are known to hold when a kernel is compiled, and so need not be made.

In a block of 16 x 16 threads `tile[threadIdx.y, k]` with `k` from range(16) cannot leave a tile
of 16 x 16.

>>> known = Ranges((16, 16, 1))
>>> known.holds(tree.expr("cuda.threadIdx.y < 16")), known.holds(tree.expr("cuda.threadIdx.y < n"))
(True, False)
>>> with known.loop("k", tree.expr("range(16)")):
...     known.holds(tree.expr("2 * k + 1 < 32"))
True
"""

from __future__ import annotations

import ast
import contextlib
import operator
from collections.abc import Callable, Iterator

from gpukit.compiler import tree

Interval = tuple[int, int]
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


class Ranges:
    """What is known of the values of indices; `block` holds 0 for sizes that are not known."""

    def __init__(self, block: tuple[int, int, int] | None) -> None:
        self.known: dict[str, Interval] = {}
        for axis, size in zip(tree.AXES, block or (0, 0, 0), strict=True):
            if size:
                self.known[f"cuda.threadIdx.{axis}"] = (0, size - 1)
                self.known[f"cuda.blockDim.{axis}"] = (size, size)
                self.known[f"blockDim_{axis}"] = (size, size)

    @contextlib.contextmanager
    def loop(self, name: str, over: ast.expr) -> Iterator[None]:
        """Know the range of a loop's variable inside a `with` block."""
        found = self._range(over)
        before = self.known.get(name)
        if found is not None:
            self.known[name] = found
        try:
            yield
        finally:
            self.known.pop(name, None)
            if before is not None:
                self.known[name] = before

    def copy(self) -> Ranges:
        """Return an independent copy."""
        made = Ranges(None)
        made.known = dict(self.known)
        return made

    def learn(self, s: ast.stmt) -> None:
        """Note what a statement that is run once for the block sets."""
        names = tree.writes(s)
        value: ast.expr | None = None
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            value = s.value
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            value = ast.BinOp(tree.name(s.target.id), s.op, s.value)
        found = None if value is None else self.of(value)
        self.forget(names)
        if found is not None:
            self.known[names.pop()] = found

    def forget(self, names: set[str]) -> None:
        """Know nothing more of some variables."""
        for name in names:
            self.known.pop(name, None)

    @contextlib.contextmanager
    def branch(self, written: set[str]) -> Iterator[None]:
        """Undo at the end of a `with` block what was learnt in it, and forget what it sets."""
        before = dict(self.known)
        try:
            yield
        finally:
            self.known = before
            self.forget(written)

    def decide(self, test: ast.expr) -> bool | None:
        """Return whether a comparison holds, if that is known."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        left, right = self.of(test.left), self.of(test.comparators[0])
        if left is None or right is None or left[0] != left[1] or right[0] != right[1]:
            return None
        compare = _COMPARE.get(type(test.ops[0]))
        return None if compare is None else compare(left[0], right[0])

    def _range(self, over: ast.expr) -> Interval | None:
        parts = [self.of(a) for a in getattr(over, "args", [])]
        if not parts or None in parts or len(parts) > 2:
            return None
        low, high = (parts[0], parts[1]) if len(parts) == 2 else ((0, 0), parts[0])
        return (low[0], max(low[0], high[1] - 1))  # type: ignore[index]

    def of(self, node: ast.expr) -> Interval | None:
        """Return the least and the greatest value of an expression, if they are known."""
        if isinstance(node, ast.Constant):
            return (node.value, node.value) if isinstance(node.value, int) else None
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
