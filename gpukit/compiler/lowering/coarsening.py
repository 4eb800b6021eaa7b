"""Coarsen blocks: neighbouring blocks stride through memory as one wide block until they sync.

A reduction strides through an array, and its threads synchronise at the end. Run one by one, each
block touches one short piece of memory per iteration and skips those of the other blocks, which
defeats hardware prefetching. Sixteen blocks coarsened touch pieces sixteen times as long. Until
threads synchronise, a kernel that uses only its position in the grid gives the same result; after
its last such loop each block continues separately, with the variables its own threads have kept.
What the loops do not need, such as `tid = cuda.threadIdx.x`, moves there, too.

>>> from gpukit.compiler import intrinsics as cuda
>>> def sums(x, out, n):
...     tid = cuda.threadIdx.x
...     own = 0.0
...     for i in range(cuda.grid(1), n, cuda.gridsize(1)):
...         own += x[i]
...     own += cuda.shfl_down_sync(-1, own, 16)
...     if tid == 0:
...         out[cuda.blockIdx.x] = own
>>> from gpukit.compiler import pipeline
>>> unit = pipeline.front(sums)
>>> first = run(unit, (256, 1, 1))
>>> print("\\n".join(map(ast.unparse, unit.tree.body[:first])))
own = 0.0
for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, n, ...):
    own += x[i]
"""

from __future__ import annotations

import ast

from gpukit.compiler import intrinsics, kinds, tree
from gpukit.compiler.analysis import rematerialise
from gpukit.compiler.frontend import resolve
from gpukit.compiler.unit import Unit

# Namespaces and functions that use no index.
_HARMLESS = frozenset(["atomic", "local", "fp16", *intrinsics.SCALAR_NAMES]) - {"lanemask_lt"}


def run(unit: Unit, block: tuple[int, int, int] | None) -> int:
    """Reorder the unit's statements; return how many of them blocks run coarsened, 0 for none.

    `block` is the block's shape, 0 for unknown sizes; the geometry of the unit is expanded.
    """
    width, height, depth = block or (0, 0, 0)
    if not width or (height, depth) != (1, 1):
        return 0
    body = unit.tree.body
    sync_point = next((k for k, s in enumerate(body) if kinds.synchronises(s)), len(body))
    end = max((k + 1 for k, s in enumerate(body[:sync_point]) if _strides(s)), default=0)
    head, alone = _sunk(body[:end])
    if tree.writes(unit.tree) & set(unit.parameters) or not _knows_only_place(unit, head):
        return 0
    unit.tree.body = [*head, *alone, *body[end:]]
    return len(head)


def _sunk(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the statements that must stay, and those that can move after them."""
    stay: list[ast.stmt] = []
    movable: list[ast.stmt] = []
    for s in reversed(body):
        own = tree.writes(s)
        touched = tree.reads(stay) | tree.writes(stay)
        if _is_plain(s) and not own & touched and not tree.reads(s) & tree.writes(stay):
            movable.insert(0, s)
        else:
            stay.insert(0, s)
    return stay, movable


def _is_plain(s: ast.stmt) -> bool:
    """Tell whether a statement only assigns a variable a value computed from others."""
    if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)):
        return False
    if kinds.makes_array(s):
        return True
    return all(isinstance(n, rematerialise.PURE_NODES) for n in ast.walk(s.value))


def _strides(s: ast.stmt) -> bool:
    """Tell whether a statement is a loop with a stride."""
    return isinstance(s, ast.For) and isinstance(s.iter, ast.Call) and len(s.iter.args) == 3


def _knows_only_place(unit: Unit, head: list[ast.stmt]) -> bool:
    """Tell whether these statements use no index of a thread but its position in the grid.

    Shared and local arrays rule it out, because each block needs its own.
    """
    nodes = [n for s in head for n in ast.walk(_without_places(s))]
    if any(isinstance(n, ast.Raise) for n in nodes):
        return False
    namespaces = {(tree.intrinsic(n) or "").partition(".")[0] for n in nodes}
    own = kinds.own_arrays(unit.tree.body)
    names = tree.reads(head)
    called = names & set(unit.devices)
    return (
        namespaces <= _HARMLESS | {"", "blockDim", "gridDim"}
        and not own & names
        and all(_knows_no_place(unit.devices[name]) for name in called)
    )


def _knows_no_place(device: object) -> bool:
    """Tell whether a device function that is called uses no index and no other threads."""
    inner = resolve.run(device.py_func, device=True)  # type: ignore[attr-defined]
    names = (tree.intrinsic(n) for n in ast.walk(inner.tree) if isinstance(n, ast.Attribute))
    namespaces = {name.partition(".")[0] for name in names if name}
    return namespaces <= _HARMLESS and all(map(_knows_no_place, inner.devices.values()))


def _without_places(node: ast.AST) -> ast.AST:
    """Return a copy without uses of the thread's position in the grid and the grid's size."""
    return _TakeOut().visit(tree.clone(node))  # type: ignore[no-any-return]


class _TakeOut(ast.NodeTransformer):
    """Removes expanded `cuda.grid(1)` and `cuda.gridsize(1)`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if _is_product(node, "gridDim.x") or _is_place(node):
            return tree.const(0)
        return self.generic_visit(node)


def _is_product(node: ast.AST, other: str) -> bool:
    """Tell whether a node is `cuda.blockDim.x` times the other one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    return {tree.intrinsic(node.left), tree.intrinsic(node.right)} == {"blockDim.x", other}


def _is_place(node: ast.AST) -> bool:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        return False
    pairs = ((node.left, node.right), (node.right, node.left))
    return any(
        _is_product(a, "blockIdx.x") and tree.intrinsic(b) == "threadIdx.x" for a, b in pairs
    )
