"""Find which variables may differ between the threads of a block.

A value is uniform if it is computed only from arguments, shapes, constants, block indices and
sizes, and from memory read at a uniform index; it varies if it depends on threadIdx, or if it is
set under a condition that varies. Uniform control flow stays ordinary control flow.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(a, n):
...     half = cuda.blockDim.x // 2
...     i = cuda.threadIdx.x
...     seen = 0
...     if i < n:
...         seen = 1
...     total = cuda.syncthreads_count(seen)
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> sorted(Uniformity(unit).varying)
['i', 'seen']
"""

from __future__ import annotations

import ast

from gpukit.compiler import kinds, reductions, tree
from gpukit.compiler.unit import Unit

_VARYING_CALLS = kinds.SHUFFLES | kinds.VOTES


class Uniformity:
    """The set of varying variables of a kernel, and which expressions vary.

    With `whole_grid` all blocks run in lockstep (a cooperative launch), so that block indices and
    the results of block barriers vary, too.
    """

    def __init__(
        self, unit: Unit, *, whole_grid: bool = False, varying: set[str] | None = None
    ) -> None:
        self.unit = unit
        self.whole_grid = whole_grid
        self.varying: set[str] = set(varying or ())
        self.read_outside = tree.read_outside_loops(unit.tree.body)
        self.locals = _local_arrays(unit)
        self.private = _private_arrays(unit, whole_grid)
        before = -1
        while before != len(self.varying):
            before = len(self.varying)
            self._body(unit.tree.body, divergent=False)

    def varies(self, node: ast.AST) -> bool:
        """Tell whether an expression may differ between threads, or must run in each of them."""
        if not self.whole_grid and tree.called(node) in kinds.BARRIERS:
            return False  # all threads of the block get the same result
        if self._node_varies(node):
            return True
        return any(self.varies(n) for n in ast.iter_child_nodes(node))

    def _node_varies(self, n: ast.AST) -> bool:
        if isinstance(n, ast.Name):
            return n.id in self.varying or n.id in self.private
        if isinstance(n, ast.Attribute):
            name = tree.intrinsic(n)
            return name in kinds.THREAD_VALUES or (self.whole_grid and name in _BLOCK_INDICES)
        if isinstance(n, ast.Call):
            return self._call_varies(n)
        # In an instrumented kernel every thread does its own reads.
        return bool(self.unit.instrumented) and isinstance(n, ast.Subscript) and not is_size(n)

    def _call_varies(self, n: ast.Call) -> bool:
        name = tree.called(n)
        if name is None:
            if self.unit.instrumented and reductions.reads_array(n):
                return True
            return isinstance(n.func, ast.Name) and n.func.id in self.unit.devices
        if self.whole_grid and name in kinds.BARRIERS:
            return True
        each = name.startswith(("atomic.", "trips.")) or name == "nanosleep"
        return each or name in _VARYING_CALLS

    def _body(self, body: list[ast.stmt], *, divergent: bool) -> None:
        for s in body:
            if isinstance(s, ast.If):
                inner = divergent or self.varies(s.test)
                self._body(s.body, divergent=inner)
                self._body(s.orelse, divergent=inner)
            elif isinstance(s, (ast.For, ast.While)):
                inner = divergent or self.loop_diverges(s)
                if isinstance(s, ast.For) and inner:
                    own = tree.writes(s.target)
                    if self.loop_diverges(s) or own & self.read_outside:
                        self.varying |= own
                self._body(s.body + s.orelse, divergent=inner)
            elif isinstance(s, (ast.Assign, ast.AugAssign)) and (
                divergent or self.varies(s.value) or self._target_varies(s)
            ):
                self.varying |= tree.writes(s)

    def _target_varies(self, s: ast.Assign | ast.AugAssign) -> bool:
        targets = s.targets if isinstance(s, ast.Assign) else [s.target]
        return any(self.varies(t) for t in targets)

    def loop_diverges(self, loop: ast.For | ast.While) -> bool:
        """Tell whether threads may leave a loop in different iterations."""
        head = loop.iter if isinstance(loop, ast.For) else loop.test
        return self.varies(head) or self._jumps_vary(loop.body, divergent=False)

    def _jumps_vary(self, body: list[ast.stmt], *, divergent: bool) -> bool:
        for s in body:
            if isinstance(s, (ast.Break, ast.Continue)) and divergent:
                return True
            if isinstance(s, ast.If):
                inner = divergent or self.varies(s.test)
                if self._jumps_vary(s.body + s.orelse, divergent=inner):
                    return True
        return False


_BLOCK_INDICES = frozenset(f"blockIdx.{a}" for a in tree.AXES)


def is_size(node: ast.Subscript) -> bool:
    """Tell whether a subscript only reads a size: `a.shape[0]`."""
    return isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")


def _local_arrays(unit: Unit) -> set[str]:
    return _made_by(unit, "local.array")


def _private_arrays(unit: Unit, whole_grid: bool) -> set[str]:
    """Return the arrays that are private to a thread; whatever is read from them varies."""
    own = _made_by(unit, "local.array")
    return own | _made_by(unit, "shared.array") if whole_grid else own


def _made_by(unit: Unit, name: str) -> set[str]:
    made: set[str] = set()
    for s in tree.statements(unit.tree.body):
        if isinstance(s, ast.Assign) and any(tree.called(n) == name for n in ast.walk(s.value)):
            made |= tree.writes(s)
    return made
