"""Let each warp of a block run as a block of its own, where each has work of its own.

A kernel that gives each warp a row, `row = cuda.grid(1) // 32`, and whose warps never meet, cannot
tell a block of eight warps from eight blocks of one. In a block of one warp the row is the same
for all threads and the lane is `threadIdx.x`: loops over neighbouring elements become vectors, and
shuffles need no mask. The opposite of `merge`.

>>> from gpukit.compiler import intrinsics as cuda
>>> def copy_rows(a, out):
...     row = cuda.grid(1) // 32
...     for col in range(cuda.threadIdx.x % 32, a.shape[1], 32):
...         out[row, col] = a[row, col]
...     cuda.syncwarp()
>>> from gpukit.compiler import pipeline
>>> unit = pipeline.front(copy_rows)
>>> run(unit, (256, 1, 1))
8
>>> print(ast.unparse(unit.tree))
def copy_rows(a, out):
    row = cuda.blockIdx.x
    for col in range(cuda.threadIdx.x + 0, a.shape[1], 32):
        out[row, col] = a[row, col]
    cuda.syncwarp()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpukit.compiler import intrinsics, tree
from gpukit.compiler.passes.merge import is_length, is_place
from gpukit.compiler.runtime.shuffles import WARP
from gpukit.compiler.unit import Unit

# What the threads of another warp have no part in.
_OWN = frozenset([
    "atomic", "const", "fp16", "laneid", "local", "syncwarp", "warpsize", *intrinsics.DIM3_NAMES,
    *intrinsics.FENCE_NAMES, *intrinsics.SCALAR_NAMES, *intrinsics.SHUFFLE_NAMES,
    *intrinsics.VOTE_NAMES,
])  # fmt: skip
_PLACES = frozenset(["blockDim", "blockIdx", "gridDim", "laneid", "lanemask_lt", "threadIdx"])


def run(unit: Unit, block: tuple[int, int, int] | None) -> int:
    """Rewrite the unit's tree in place; return into how many blocks it splits one, 1 for none.

    `block` is the block's shape, 0 for sizes that are not known; the geometry of the unit is
    written out.
    """
    width, height, depth = block or (0, 0, 0)
    warps = width // WARP
    if width % WARP or warps < 2 or (height, depth) != (1, 1) or not _apart(unit):
        return 1
    regroup = _Regroup(unit, warps)
    changed = regroup.visit(tree.clone(unit.tree))
    if not regroup.found:
        return 1
    unit.tree = ast.fix_missing_locations(changed)
    return warps


def _apart(unit: Unit) -> bool:
    """Tell whether the warps of a block have nothing to do with each other."""
    if any(isinstance(n, ast.Raise) for n in ast.walk(unit.tree)):
        return False
    if any(name.partition(".")[0] not in _OWN for name in _asked(unit.tree)):
        return False
    calls = (n.func for n in ast.walk(unit.tree) if isinstance(n, ast.Call))
    called = {f.id for f in calls if isinstance(f, ast.Name)} & set(unit.devices)
    return all(knows_no_place(unit.devices[name]) for name in called)


def knows_no_place(device: object) -> bool:
    """Tell whether a device function that is called asks neither where it is nor for others."""
    from gpukit.compiler.passes import resolve

    inner = resolve.run(device.py_func, device=True)  # type: ignore[attr-defined]
    rooms = {name.partition(".")[0] for name in _asked(inner.tree)}
    return rooms <= _OWN - _PLACES and all(map(knows_no_place, inner.devices.values()))


def _asked(function: ast.AST) -> Iterator[str]:
    names = (tree.intrinsic(n) for n in ast.walk(function) if isinstance(n, ast.Attribute))
    return (name for name in names if name)


class _Regroup(ast.NodeTransformer):
    """Writes what a block of many warps knew in terms of blocks of one warp.

    The place in the grid and the length of the grid are the same in both.
    """

    def __init__(self, unit: Unit, warps: int) -> None:
        self.warps = warps
        self.found = False  # a division of the place in the grid by the size of a warp
        stores = [
            n.id for n in ast.walk(unit.tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]  # fmt: skip
        self.places = {
            s.targets[0].id
            for s in unit.tree.body
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
            and is_place(s.value) and stores.count(s.targets[0].id) == 1
        } - set(unit.parameters)  # fmt: skip

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if is_place(node) or is_length(node):
            return node
        by_warp = isinstance(node.right, ast.Constant) and node.right.value == WARP
        if by_warp and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            divided = isinstance(node.op, ast.FloorDiv)
            if self._is_place(node.left):
                self.found |= divided
                return tree.at(self._part("blockIdx.x" if divided else "threadIdx.x + 0"), node)  # type: ignore[no-any-return]
            if tree.intrinsic(node.left) == "threadIdx.x":
                text = f"blockIdx.x % {self.warps}" if divided else "threadIdx.x + 0"
                return tree.at(self._part(text), node)  # type: ignore[no-any-return]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        written = {
            "threadIdx.x": f"blockIdx.x % {self.warps} * {WARP} + cuda.threadIdx.x",
            "blockIdx.x": f"blockIdx.x // {self.warps}",
            "gridDim.x": f"gridDim.x // {self.warps}",
            "blockDim.x": f"blockDim.x * {self.warps}",
            "laneid": "threadIdx.x",
        }.get(tree.intrinsic(node) or "")
        if written is None:
            return self.generic_visit(node)
        return tree.at(self._part(written), node)  # type: ignore[no-any-return]

    def _is_place(self, node: ast.expr) -> bool:
        return is_place(node) or (isinstance(node, ast.Name) and node.id in self.places)

    def _part(self, text: str) -> ast.expr:
        return tree.expr(f"cuda.{text}")
