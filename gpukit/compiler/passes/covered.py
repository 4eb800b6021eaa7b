"""Find shared arrays that need no poison: the block writes all of them before it reads any.

Shared memory starts as a poison pattern, so that luck does not hide a missing initialisation.
Where the first thing that every thread does with an array is to write its own element, and the
array has one element a thread, nothing of the pattern can ever be seen.

>>> import numpy as np
>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(out, a):
...     tile = cuda.shared.array(64, np.float32)
...     seen = cuda.shared.array(64, np.float32)
...     t = cuda.threadIdx.x
...     tile[t] = a[t] if t < a.size else 0
...     cuda.syncthreads()
...     out[t] = tile[63 - t] + seen[t]
>>> from numba.core import types
>>> from gpukit.compiler import pipeline
>>> from gpukit.compiler.passes import schedule, typing
>>> def shown(function, block):
...     unit = pipeline.front(function)
...     array = types.Array(types.float32, 1, 'C')
...     unit.types = typing.run(unit, dict.fromkeys(unit.parameters, array))
...     steps = schedule.run(unit).steps
...     return sorted(run(steps, {'tile': (64,), 'seen': (64,)}, block))
>>> shown(kernel, (64, 1, 1)), shown(kernel, (32, 1, 1))
(['tile'], [])
"""

from __future__ import annotations

import ast

from gpukit.compiler import plan, tree
from gpukit.compiler.passes.affine import Form, Forms

Shape = tuple[int, ...]


def run(steps: list[plan.Step], shapes: dict[str, Shape], block: Shape | None) -> set[str]:
    """Return the names of the arrays, of those in `shapes`, that a block writes as a whole."""
    whole = set()
    for name, shape in shapes.items():
        first = next((s for s in steps if name in _names(s)), None)
        if not isinstance(first, plan.Loops) or block is None or shape != _shape(block, len(shape)):
            continue
        if name not in _reads(first.rows) and _covers(first.rows, name):
            whole.add(name)
    return whole


def _shape(block: Shape, ndim: int) -> Shape | None:
    """Return the shape with as many axes that has an element for each thread of the block."""
    used, rest = block[:ndim], block[ndim:]
    return used[::-1] if all(used) and all(n == 1 for n in rest) else None


def _names(step: plan.Step) -> set[str]:
    found: set[str] = set()
    for node in _trees(step):
        found |= tree.reads(node) | tree.writes(node)
    return found


def _trees(part: object) -> list[ast.AST]:
    """Return the trees in a step or row of a plan."""
    found: list[ast.AST] = []
    for value in vars(part).values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                found.append(item)
            elif hasattr(item, "__dataclass_fields__") and not isinstance(item, Form):
                found += _trees(item)
    return found


def _reads(rows: list[plan.Row]) -> set[str]:
    """Return the arrays that are read in rows; one that is only stored into is not."""
    found: set[str] = set()
    nodes = [n for row in rows for t in _trees(row) for n in ast.walk(t)]
    targets = {
        id(n.value) for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    }
    for node in nodes:
        if isinstance(node, ast.Name) and id(node) not in targets:
            found.add(node.id)
        elif isinstance(node, ast.AugAssign):
            found |= tree.reads(node.target)
    return found


def _covers(rows: list[plan.Row], name: str) -> bool:
    """Tell whether each thread of a row stores its own element of an array."""
    for row in rows:
        if isinstance(row, plan.Leaf) and row.mask is None:
            if any(_stores_own(s, name, row.forms) for s in row.body):
                return True
        elif isinstance(row, plan.RowIf) and row.orelse:
            if _covers(row.body, name) and _covers(row.orelse, name):
                return True
    return False


def _stores_own(s: ast.stmt, name: str, forms: Forms) -> bool:
    target = s.targets[0] if isinstance(s, ast.Assign) and len(s.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or getattr(target.value, "id", "") != name:
        return False
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    found = [forms.of(p) for p in reversed(parts)]
    wanted = ["0", "cuda.threadIdx.y", "cuda.threadIdx.z"]
    return all(
        f is not None and f.factor == (axis == 0) and ast.unparse(f.rest) == wanted[axis]
        for axis, f in enumerate(found)
    )
