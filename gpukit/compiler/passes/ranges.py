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
from collections.abc import Iterator

from gpukit.compiler import tree

Interval = tuple[int, int]


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
