"""Run the threads of a block in lockstep, statement by statement, as the lanes of a warp do.

Instrumented kernels run this way. Each statement that touches memory is followed by a mark; an
access is then recorded for all threads before the next one. To find races, lockstep within a row is
enough. To count requests of warps, the mark is a sync point of the whole block: the accesses of the
lanes of a warp are then one request.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(a, out, n):
...     i = cuda.grid(1)
...     if i < n:
...         out[i] = a[i]
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(a, out, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        out[i] = a[i]
        cuda.in_step()
"""

from __future__ import annotations

import ast

from gpukit.compiler import kinds, tree
from gpukit.compiler.analysis import arrays, loops, uniformity
from gpukit.compiler.lowering import waiting
from gpukit.compiler.unit import Unit


def run(unit: Unit, *, every: bool = False) -> None:
    """Insert marks into the unit's tree; with `every` after all statements, for the whole block."""
    unit.tree.body = _Marks(unit, every).body(unit.tree.body)
    ast.fix_missing_locations(unit.tree)


class _Marks:
    def __init__(self, unit: Unit, every: bool) -> None:
        self.unit = unit
        self.every = every
        self.variables = tree.writes(unit.tree)

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        held = 0  # statements up to the one that releases the lock
        for k, s in enumerate(body):
            new.append(s)
            held = max(held - 1, waiting.kept(s, body[k + 1 :]))
            if held > 0:
                continue
            if isinstance(s, (ast.If, ast.For, ast.While)):
                self._inside(s)
            elif self._touches(s) or (self.every and not isinstance(s, _JUMPS)):
                new.append(self._mark(s))
        return new

    def _mark(self, like: ast.stmt) -> ast.stmt:
        name = kinds.LOCKSTEP if self.every else kinds.IN_STEP
        return tree.at(ast.Expr(tree.call(f"cuda.{name}")), like)  # type: ignore[no-any-return]

    def _inside(self, s: ast.If | ast.For | ast.While) -> None:
        """Mark the body of a compound statement that touches memory, if it may be split."""
        if not self._may_split(s):
            return
        if not (self.every or self._touches(s)):
            return
        head = any(self._touches(e) for e in tree.heads(s))
        s.body = [*([self._mark(s)] if head or self.every else []), *self.body(s.body)]
        if s.orelse:
            s.orelse = self.body(s.orelse)

    def _may_split(self, s: ast.If | ast.For | ast.While) -> bool:
        if isinstance(s, ast.If):
            return True
        if s.orelse:
            return False
        if isinstance(s, ast.For):
            plain = isinstance(s.target, ast.Name)
            return plain and loops.is_range(self.unit, s.iter)
        # One thread runs a loop that waits for a lock alone: in lockstep, the thread that holds the
        # lock would never release it.
        return not any(tree.called(n) in waiting.LOCKS for n in ast.walk(s))

    def _touches(self, node: ast.AST) -> bool:
        """Tell whether a statement or expression may read or write an array."""
        for n in ast.walk(node):
            if isinstance(n, ast.Subscript) and not uniformity.is_size(n):
                return True
            if isinstance(n, ast.Attribute) and self._is_field(n):
                return True
            name = tree.called(n)
            if name is not None and name.startswith(("atomic.", "threadfence")):
                return True
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                if n.func.id in self.unit.devices:
                    return True
        return False

    def _is_field(self, node: ast.Attribute) -> bool:
        """Tell whether an attribute may be a field of a record that a variable refers to."""
        of_variable = isinstance(node.value, ast.Name) and node.value.id in self.variables
        return of_variable and node.attr not in arrays.SIZES


_JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Pass, ast.Raise, ast.Assert)
