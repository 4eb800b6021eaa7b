"""Let neighbouring blocks begin abreast: stride through memory as one wide block, before they meet.

A reduction strides through an array, and its threads meet at its end. One block after the other,
its walk touches one short piece of memory a round and skips what the other blocks look at, which
a processor fetches badly ahead. Sixteen blocks abreast touch pieces sixteen times as long. Until
threads meet, a kernel that asks only for its place in the grid cannot tell; behind its last such
loop each block goes on alone, with what its own threads have kept. What the loops do not need,
such as `tid = cuda.threadIdx.x`, moves there too.

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

from gpukit.compiler import kinds, tree
from gpukit.compiler.passes import merge, remake, split
from gpukit.compiler.unit import Unit


def run(unit: Unit, block: tuple[int, int, int] | None) -> int:
    """Order the unit's statements; return how many of them blocks do abreast, 0 for none.

    `block` is the block's shape, 0 for sizes that are not known; the geometry of the unit is
    written out.
    """
    width, height, depth = block or (0, 0, 0)
    if not width or (height, depth) != (1, 1):
        return 0
    body = unit.tree.body
    meeting = next((k for k, s in enumerate(body) if kinds.meets(s)), 0)
    end = max((k + 1 for k, s in enumerate(body[:meeting]) if _strides(s)), default=0)
    head, alone = _sunk(body[:end])
    if tree.writes(unit.tree) & set(unit.parameters) or not _knows_only_place(unit, head):
        return 0
    unit.tree.body = [*head, *alone, *body[end:]]
    return len(head)


def _sunk(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the statements that must stay, and those that may as well come after them."""
    stay: list[ast.stmt] = []
    sink: list[ast.stmt] = []
    for s in reversed(body):
        own = tree.writes(s)
        touched = tree.reads(stay) | tree.writes(stay)
        if _is_plain(s) and not own & touched and not tree.reads(s) & tree.writes(stay):
            sink.insert(0, s)
        else:
            stay.insert(0, s)
    return stay, sink


def _is_plain(s: ast.stmt) -> bool:
    """Tell whether a statement only gives a variable what it computes from others."""
    if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)):
        return False
    if kinds.makes_array(s):
        return True
    return all(isinstance(n, remake.PURE_NODES) for n in ast.walk(s.value))


def _strides(s: ast.stmt) -> bool:
    """Tell whether a statement is a loop in steps."""
    return isinstance(s, ast.For) and isinstance(s.iter, ast.Call) and len(s.iter.args) == 3


def _knows_only_place(unit: Unit, head: list[ast.stmt]) -> bool:
    """Tell whether these statements ask for nothing of a thread but its place in the grid.

    Arrays of a block's own are something else to know: each block needs them for itself.
    """
    nodes = [n for s in head for n in ast.walk(merge.without_places(s))]
    if any(isinstance(n, ast.Raise) for n in nodes):
        return False
    rooms = {(tree.intrinsic(n) or "").partition(".")[0] for n in nodes}
    own = kinds.own_arrays(unit.tree.body)
    names = tree.reads(head)
    called = names & set(unit.devices)
    return (
        rooms <= merge.HARMLESS | {"", "blockDim", "gridDim"}
        and not own & names
        and all(split.knows_no_place(unit.devices[name]) for name in called)
    )
