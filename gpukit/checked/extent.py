"""Whether a kernel should write the whole of an array, judged by its guards and loop bounds.

A store guarded by the array's own size, or by what equals that size in this launch, is
meant for all of it; so is one by each thread without any guard. One row, one element per block
or the first half is a part on purpose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gpukit import errors
from gpukit.compiler import tree

_VALUES = (
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)
_CALLS = (len, min, max, int, abs)
PLACES = frozenset(["grid", *(f"threadIdx.{a}" for a in tree.AXES)])
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.RShift)


class Extents:
    """The stores of a kernel, and the values that its guards have in one launch."""

    def __init__(self, function: Any, names: list[str], arguments: tuple[Any, ...]) -> None:
        from gpukit.compiler.frontend import resolve

        try:
            unit = resolve.run(function)
        except errors.GpukitError:  # its source is not available
            self.body: list[ast.stmt] = []
            return
        self.body = unit.tree.body
        self.scope = {**unit.globals, **dict(zip(unit.parameters, arguments, strict=False))}
        self.names = dict(zip(names, unit.parameters, strict=False))
        self.made = single_assignments(self.body)

    def is_whole(self, array: str, axis: int, size: int) -> bool:
        """Tell whether an axis of an array is to be written as a whole."""
        array = self.names.get(array, array) if self.body else array
        stores = list(self._stores(self.body, array, []))
        return not stores or any(self._covers(*s, array, axis, size) for s in stores)

    def _stores(
        self, body: list[ast.stmt], array: str, guards: list[ast.expr]
    ) -> Iterator[tuple[ast.Subscript, list[ast.expr]]]:
        """Yield the stores to an array with the conditions and ranges around them."""
        for s in body:
            for block in tree.blocks(s):
                yield from self._stores(block, array, [*guards, *tree.heads(s)])
            if isinstance(s, (ast.Assign, ast.AugAssign)):
                for target in s.targets if isinstance(s, ast.Assign) else [s.target]:
                    if isinstance(target, ast.Subscript) and tree.dotted(target.value) == array:
                        yield target, guards
            if isinstance(s, ast.If) and tree.exits(s.body):
                guards = [*guards, s.test]

    def _covers(
        self, store: ast.Subscript, guards: list[ast.expr], array: str, axis: int, size: int
    ) -> bool:
        parts = store.slice.elts if isinstance(store.slice, ast.Tuple) else [store.slice]
        if axis >= len(parts):
            return True
        index = self._spelled_out(parts[axis])
        names = made_of(parts[axis], self.made)
        ends = [e for g in guards if made_of(g, self.made) & names for e in _ends(g)]
        known = [(e, v) for e in map(self._spelled_out, ends) if (v := self._value(e)) is not None]
        if not [v for _, v in known if v > 1]:
            return any(tree.intrinsic(n) in PLACES for n in ast.walk(index))
        return any(size - 1 <= v <= size or is_size_of(e, array) for e, v in known)

    def _spelled_out(self, node: ast.expr, depth: int = 8) -> ast.expr:
        """Replace variables by the expressions that they were assigned."""
        inside = {n: self.made[n] for n in tree.reads(node) if n in self.made}
        return self._spelled_out(tree.fill(node, **inside), depth - 1) if inside and depth else node

    def _value(self, node: ast.expr) -> int | None:
        """Return the value of an expression if it is the same in all threads, else None."""
        if not all(isinstance(n, _VALUES) for n in ast.walk(node)):
            return None
        if any(isinstance(n, ast.Call) and not tree.calls(n, *_CALLS) for n in ast.walk(node)):
            return None
        code = compile(ast.fix_missing_locations(ast.Expression(tree.clone(node))), "", "eval")
        try:
            return int(eval(code, {"__builtins__": {}}, self.scope))
        except Exception:  # it depends on the thread, or is no number
            return None


def single_assignments(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the expressions of variables that are assigned once."""
    found = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    stores = [n.id for n in found if isinstance(n.ctx, ast.Store)]
    assigned = [pair for s in tree.statements(body) for pair in _assigned(s)]
    return {name: value for name, value in assigned if stores.count(name) == 1}


def _assigned(s: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield variables and what is assigned: `a = 1`, `a, b = 1, 2` and `m, n = x.shape`."""
    if not isinstance(s, ast.Assign) or len(s.targets) != 1:
        return
    target = s.targets[0]
    if isinstance(target, ast.Name):
        yield target.id, s.value
    elif isinstance(target, ast.Tuple):
        for k, part in enumerate(target.elts):
            if isinstance(part, ast.Name):
                whole = isinstance(s.value, ast.Tuple)
                value = s.value.elts[k] if whole else tree.expr(f"v[{k}]", v=s.value)  # type: ignore[attr-defined]
                yield part.id, value


def _ends(guard: ast.expr) -> Iterator[ast.expr]:
    """Yield what a condition compares with, and where a range ends."""
    for node in ast.walk(guard):
        if isinstance(node, ast.Compare):
            yield from [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and tree.calls(node, range):
            yield node.args[min(1, len(node.args) - 1)]


def made_of(node: ast.AST, made: dict[str, ast.expr]) -> set[str]:
    """Return the variables that an expression depends on, directly or through others.

    >>> sorted(made_of(tree.expr("i + 1"), {"i": tree.expr("j * n")}))
    ['i', 'j', 'n']
    """
    found: set[str] = set()
    left = tree.reads(node)
    while left:
        name = left.pop()
        found.add(name)
        left |= (tree.reads(made[name]) if name in made else set()) - found
    return found


def is_size_of(node: ast.expr, array: str) -> bool:
    """Tell whether an expression refers to the size of an array, not to a fraction of it."""
    nodes = list(ast.walk(node))
    sizes = [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in ("shape", "size")]
    sizes += [n.args[0] for n in nodes if isinstance(n, ast.Call) and n.args]
    divided = any(isinstance(n, ast.BinOp) and isinstance(n.op, _DIVISIONS) for n in nodes)
    return not divided and any(tree.dotted(n) == array for n in sizes)
