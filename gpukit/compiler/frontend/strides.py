"""Turn grid-stride `while` loops into `for` loops over a range.

Before                          After
    i = cuda.grid(1)
    while i < n:                    for i in range(cuda.grid(1), n, step):
        out[i] = a[i]                   out[i] = a[i]
        i += step

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(out, n):
...     i = cuda.threadIdx.x
...     while i < n:
...         out[i] = i
...         i += cuda.blockDim.x
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(out, n):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        out[i] = i
"""

from __future__ import annotations

import ast

from gpukit.compiler import facts, kinds, tree
from gpukit.compiler.analysis import arrays, loops, uniformity
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Rewrite the unit's tree in place."""
    unit.tree.body = _body(unit, unit.tree.body)
    ast.fix_missing_locations(unit.tree)


def _body(unit: Unit, body: list[ast.stmt]) -> list[ast.stmt]:
    new: list[ast.stmt] = []
    for s in body:
        for field in ("body", "orelse"):
            if getattr(s, field, None):
                setattr(s, field, _body(unit, getattr(s, field)))
        name = _stride_variable(unit, s) if isinstance(s, ast.While) else None
        first = _only_start(unit, new, name, s) if name else None
        if name is None or first is None:
            new.append(s)
            continue
        new.remove(first)
        new.append(_as_for(unit, s, name, first))  # type: ignore[arg-type]
    return new


def _stride_variable(unit: Unit, loop: ast.While) -> str | None:
    """Return `i` of `while i < n: ...; i += step` if nothing else changes it."""
    test, last = loop.test, loop.body[-1]
    if loop.orelse or kinds.synchronises(loop) or tree.exits(loop.body):
        return None
    if not (
        isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt)
    ):
        return None
    step = _step(last)
    if step is None or not isinstance(test.left, ast.Name):
        return None
    name, by = step
    inside = tree.writes(loop.body[:-1])
    moves = name in inside or bool(tree.reads([test.comparators[0], by]) & tree.writes(loop))
    # The loop's body may store to memory that its bound reads.
    reads_memory = any(map(_reads_memory, ast.walk(test)))
    if name != test.left.id or moves or reads_memory or not loops.is_positive(unit, by):
        return None
    return name


def _reads_memory(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return tree.intrinsic(node) is None and node.attr not in arrays.SIZES
    return isinstance(node, ast.Call) or (
        isinstance(node, ast.Subscript) and not uniformity.is_size(node)
    )


def _step(s: ast.stmt) -> tuple[str, ast.expr] | None:
    if (
        isinstance(s, ast.AugAssign)
        and isinstance(s.op, ast.Add)
        and isinstance(s.target, ast.Name)
    ):
        return s.target.id, s.value
    return None


def _only_start(unit: Unit, before: list[ast.stmt], name: str, loop: ast.stmt) -> ast.Assign | None:
    """Return `i = ...` before the loop, if nothing outside the loop reads `i` or sets it again."""
    starts = [s for s in before if isinstance(s, ast.Assign) and name in tree.writes(s)]
    if len(starts) != 1 or not isinstance(starts[0].targets[0], ast.Name):
        return None
    first = starts[0]
    between = before[before.index(first) + 1 :]
    inside = {id(n) for n in ast.walk(loop)}
    names = [n for n in ast.walk(unit.tree) if isinstance(n, ast.Name) and n.id == name]
    stores = [n for n in names if isinstance(n.ctx, ast.Store)]
    read_outside = any(isinstance(n.ctx, ast.Load) and id(n) not in inside for n in names)
    changed = tree.writes(between) & tree.reads(first.value)
    in_loop = name not in unit.parameters and len(stores) == 2
    if not in_loop or read_outside or changed:
        return None
    if any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(first.value)):
        return None
    return first


def _as_for(unit: Unit, loop: ast.While, name: str, first: ast.Assign) -> ast.stmt:
    unit.globals["range"] = range
    by = _step(loop.body[-1])[1]  # type: ignore[index]
    stop = loop.test.comparators[0]  # type: ignore[attr-defined]
    over = tree.over(first.value, stop, by)
    facts.note(over, was_while=True)
    body = loop.body[:-1] or [ast.Pass()]
    return tree.at(ast.For(tree.store(name), over, body, []), loop)  # type: ignore[no-any-return]
