"""Give loops that share the name of their variable variables of their own.

Before                          After
    for k in range(4):              for k in range(4):
        s += tile[k]                    s += tile[k]
    for k in range(t, n, 8):        for k_1 in range(t, n, 8):
        s += a[k]                       s += a[k_1]

What one loop does with its variable then says nothing about the other.

>>> def kernel(a, s, t, n):
...     for k in range(4):
...         s += a[k]
...     for k in range(t, n, 8):
...         s += a[k]
>>> print(_show(kernel))
def kernel(a, s, t, n):
    for k in range(4):
        s += a[k]
    for k_1 in range(t, n, 8):
        s += a[k_1]
"""

from __future__ import annotations

import ast

from gpukit.compiler import tree
from gpukit.compiler.unit import Unit


def run(unit: Unit) -> None:
    """Rewrite the unit's tree in place."""
    outside = tree.read_outside_loops(unit.tree.body)
    seen: set[str] = set()
    for s in list(tree.statements(unit.tree.body)):
        if not isinstance(s, ast.For) or not isinstance(s.target, ast.Name):
            continue
        name = s.target.id
        if name in seen and name not in outside and name not in tree.writes(s.body):
            new = unit.fresh(name)
            for node in [s.target, *(n for b in s.body + s.orelse for n in ast.walk(b))]:
                if isinstance(node, ast.Name) and node.id == name:
                    node.id = new
        seen.add(name)


def _show(function: object) -> str:
    from gpukit.compiler.passes import resolve

    unit = resolve.run(function)
    run(unit)
    return ast.unparse(unit.tree)
