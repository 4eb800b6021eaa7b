"""Tell whether neighbouring blocks of a kernel may run as one wide block.

A kernel whose threads never meet, and that uses its indices only as the place in one long row of
threads, `cuda.grid(1)` and `cuda.gridsize(1)`, cannot tell 16 blocks of 256 threads from one of
4096. In a grid-stride loop the wide block walks through memory in long pieces, which a
processor fetches ahead far better than many short ones.

>>> from gpukit.compiler import intrinsics as cuda
>>> def merges(a, out):
...     for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
...         out[i] = a[i]
>>> def stays(a, out):
...     out[cuda.grid(1)] = a[cuda.blockIdx.x]
>>> from gpukit.compiler import pipeline
>>> def shown(function):
...     return run(pipeline.front(function))
>>> shown(merges), shown(stays)
(True, False)
"""

from __future__ import annotations

import ast

from gpukit.compiler import intrinsics, tree
from gpukit.compiler.unit import Unit

# Rooms and functions that ask for no index.
HARMLESS = frozenset(["atomic", "local", "fp16", *intrinsics.SCALAR_NAMES]) - {"lanemask_lt"}


def run(unit: Unit) -> bool:
    """Return the answer for a unit whose geometry is written out."""
    if unit.devices or any(isinstance(n, ast.Raise) for n in ast.walk(unit.tree)):
        return False
    seen = without_places(unit.tree)
    names = (tree.intrinsic(n) for n in ast.walk(seen) if isinstance(n, ast.Attribute))
    return all(name.partition(".")[0] in HARMLESS for name in names if name)


def without_places(node: ast.AST) -> ast.AST:
    """Return a copy without the places in the row and the length of the row."""
    return _TakeOut().visit(tree.clone(node))  # type: ignore[no-any-return]


class _TakeOut(ast.NodeTransformer):
    """Takes out the places in the row and the length of the row."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if is_length(node) or is_place(node):
            return tree.const(0)
        return self.generic_visit(node)


def is_length(node: ast.AST) -> bool:
    """Tell whether a node is `cuda.gridsize(1)`, written out."""
    return _is_product(node, "gridDim.x")


def _is_product(node: ast.AST, other: str) -> bool:
    """Tell whether a node is `cuda.blockDim.x` times the other one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    return {tree.intrinsic(node.left), tree.intrinsic(node.right)} == {"blockDim.x", other}


def is_place(node: ast.AST) -> bool:
    """Tell whether a node is `cuda.grid(1)`, written out."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        return False
    pairs = ((node.left, node.right), (node.right, node.left))
    return any(
        _is_product(a, "blockIdx.x") and tree.intrinsic(b) == "threadIdx.x" for a, b in pairs
    )
