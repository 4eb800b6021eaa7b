"""Split the store of a conditional expression into two stores, each under its own condition.

Before                                   After
    tile[t] = a[i] if i < n else 0.0         if i < n:
                                                 tile[t] = a[i]
                                             else:
                                                 tile[t] = 0.0

The condition can then narrow the loop over threads, which a conditional expression cannot. A choice
between values already computed stays one store, which vectorises:

>>> def kernel(tile, a, n, t, i):
...     tile[t] = a[i] if i < n else 0.0
>>> from gpukit.compiler.frontend import resolve
>>> unit = resolve.run(kernel)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def kernel(tile, a, n, t, i):
    if i < n:
        tile[t] = a[i]
    else:
        tile[t] = 0.0
>>> def relu(out, value, i):
...     out[i] = value if value > 0 else 0.0
>>> unit = resolve.run(relu)
>>> run(unit)
>>> print(ast.unparse(unit.tree))
def relu(out, value, i):
    out[i] = value if value > 0 else 0.0
"""

from __future__ import annotations

import ast

from gpukit.compiler import facts, tree
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Rewrite the unit's tree in place."""
    unit.tree.body = _body(unit.tree.body)
    ast.fix_missing_locations(unit.tree)


def _body(body: list[ast.stmt]) -> list[ast.stmt]:
    for s in body:
        for field in ("body", "orelse"):
            if getattr(s, field, None):
                setattr(s, field, _body(getattr(s, field)))
    return [_two_stores(s) for s in body]


def _two_stores(s: ast.stmt) -> ast.stmt:
    if not isinstance(s, ast.Assign) or len(s.targets) != 1:
        return s
    if not isinstance(s.value, ast.IfExp) or not isinstance(s.targets[0], ast.Subscript):
        return s
    choice = s.value
    if not _must_work_out(choice.body) and not _must_work_out(choice.orelse):
        return s
    one = ast.Assign([s.targets[0]], choice.body)
    other = ast.Assign([tree.clone(s.targets[0])], choice.orelse)
    made = tree.at(ast.If(choice.test, [one], [other]), s)
    facts.note(made, chosen=choice)
    return made  # type: ignore[no-any-return]


def _must_work_out(side: ast.expr) -> bool:
    """Tell whether a side of the choice reads memory or calls more than `np.float32(0)`."""
    return any(
        isinstance(n, ast.Subscript)
        or (isinstance(n, ast.Call) and not all(isinstance(a, ast.Constant) for a in n.args))
        for n in ast.walk(side)
    )
