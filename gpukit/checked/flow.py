"""Data flow in a kernel's source: how a value is used, what was written before.

The checker sees what happens; whether a value that was read matters, and whether a thread always
writes an element before it reads it, follows from the statements around it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gpukit import errors
from gpukit.checked.extent import PLACES, single_assignments
from gpukit.compiler import kinds, refuse, tree
from gpukit.compiler.analysis.uniformity import Uniformity


class Around(NamedTuple):
    """The statements around two accesses, as far as they tell where a barrier is allowed.

    `skipped_if` is the line of the outermost `if` around both that some threads of the block skip,
    0 if there is none; `loop` whether both are in one loop, `waits` whether each of its turns has a
    barrier, `parts` whether some threads leave it early or never enter it: it can have none then.
    """

    skipped_if: int
    loop: bool
    waits: bool
    parts: bool = False


class Flow:
    """The statements of a kernel. Those of device functions are not known: each answer is no."""

    def __init__(self, function: Any) -> None:
        from gpukit.compiler.frontend import resolve

        try:
            unit = resolve.run(function)
            self.body, self.devices = unit.tree.body, frozenset(unit.devices)
        except errors.GpukitError:  # its source is not available
            self.body, self.devices = [], frozenset()
        self.function = function
        self.file = function.__code__.co_filename

    def is_thrown_away(self, location: Any) -> bool:
        """Tell whether the value that is read at a location is never used.

        A value is used where it reaches memory, an index, a condition or a call for its effect.
        """
        found = list(self._statements(location, ast.Load))
        return bool(found) and all(self._drops(s, rest) for s, rest in found)

    def writes_first(self, store: Any, load: Any) -> bool:
        """Tell whether every thread that reaches a load has stored to its element before."""
        loads = [s for s, _ in self._statements(load, ast.Load)]
        if store.what != load.what or not loads:
            return False
        stores = list(self._statements(store, ast.Store))
        return all(any(_is_behind(s, rest, one) for s, rest in stores) for one in loads)

    def around(self, location: Any, other: Any) -> Around | None:
        """Return the statements around two locations of the kernel itself.

        An `if` around the innermost loop of both does not count: no barrier helps there.
        """
        if not self.body or {location.file, other.file} != {self.file}:
            return None
        around = [s for s in _around(self.body, location.line) if _holds(s, other.line)]
        loops = [s for s in around if isinstance(s, (ast.For, ast.While))]
        skipped = [s for s in around if isinstance(s, ast.If) and self._varies(s.test)]
        waits = any(_waits(s.body) for s in loops[-1:])
        outside = not skipped or any(_holds(skipped[0], s.lineno) for s in loops)
        parts = not waits and any(self._parts(s) for s in loops[-1:])
        return Around(0 if outside else skipped[0].lineno, bool(loops), waits, parts)

    def passed(self, load: Any, atomic: Any) -> str:
        """Return the variable in which a line keeps what it reads, and another line passes on."""
        if {load.file, atomic.file} != {self.file}:
            return ""
        leaves = [s for s, _ in _placed(self.body) if not tree.blocks(s)]
        kept = [_targets(s) or set() for s in leaves if s.lineno == load.line]
        used = tree.reads([s for s in leaves if s.lineno == atomic.line])
        return min(set().union(*kept) & used, default="")

    def apart(self, location: Any) -> dict[str, Any]:
        """Return what some threads of the block skip around a barrier, the outermost; its line.

        `inner` is the line of the outermost loop inside it that holds the barrier.
        """
        if not self.body or location.file != self.file:
            return {}
        around = _around(self.body, location.line)
        for k, s in enumerate(around):
            is_if = isinstance(s, ast.If)
            if any(map(self._varies, tree.heads(s))) or (not is_if and self._parts(s)):
                loops = (o.lineno for o in around[k + 1 :] if isinstance(o, (ast.For, ast.While)))
                kind = "if" if is_if else "loop"
                return {"outer": kind, "outer_line": s.lineno, "inner": next(loops, 0)}
        return {}

    def uneven(self, location: Any) -> dict[str, Any]:
        """Return what some lanes of a warp skip around a call, the innermost, and its line."""
        if location.file != self.file:
            return {}
        made = single_assignments(self.body)
        known = self.function.__globals__
        around = [
            s
            for s in _around(self.body, location.line)
            if any(_varies_in_warp(head, made, known) for head in tree.heads(s))
        ]
        if not around:
            return {}
        word = "`if`" if isinstance(around[-1], ast.If) else "loop"
        return {"skipped": f"{word} of line {around[-1].lineno}"}

    def _parts(self, loop: ast.stmt) -> bool:
        """Tell whether the threads of a block may run different numbers of iterations of a loop."""
        if any(map(self._varies, tree.heads(loop))):
            return True
        ifs = (s for s in tree.statements(loop.body) if isinstance(s, ast.If))  # type: ignore[attr-defined]
        ways = (s for s in ifs if self._varies(s.test))
        return any(tree.exits(block) for s in ways for block in tree.blocks(s))

    def _varies(self, head: ast.expr) -> bool:
        """Tell whether a value may differ between threads; a call of `cuda.grid` always does."""
        calls = any(tree.intrinsic(n) in PLACES for n in ast.walk(head))
        return calls or self._uniformity.varies(head)

    @functools.cached_property
    def _uniformity(self) -> Uniformity:
        from gpukit.compiler.frontend import inline, resolve

        unit = resolve.run(self.function)
        inline.run(unit)  # writes out `cuda.grid(1)`
        return Uniformity(unit)

    def _statements(self, location: Any, kind: type[ast.expr_context]) -> Iterator[_Placed]:
        """Yield the statements with an access, each with those that follow it in its block."""
        if location.file == self.file:
            for s, rest in _placed(self.body):
                own = [s] if not tree.blocks(s) else tree.heads(s)
                accesses = (
                    n for part in own for n in ast.walk(part) if _is_access(n, location, kind)
                )
                if any(accesses):
                    yield s, rest

    def _drops(self, s: ast.stmt, rest: list[ast.stmt]) -> bool:
        if isinstance(s, ast.Expr):
            return isinstance(s.value, ast.Subscript)
        if not isinstance(s, (ast.Assign, ast.AugAssign)) or self._calls(s):
            return False
        names = _targets(s)
        return names is not None and all(_is_replaced(n, rest) or self._unused(n) for n in names)

    def _calls(self, s: ast.stmt) -> bool:
        """Tell whether a statement calls what may have an effect, or reads from other threads."""
        return any(
            isinstance(n, ast.Call) and (tree.called(n) or tree.dotted(n.func) in self.devices)
            for n in ast.walk(s)
        )

    def _unused(self, name: str) -> bool:
        """Tell whether a variable, and all that is computed from it, is never used."""
        known, left = {name}, [name]
        while left:
            reading = left.pop()
            for s, _ in _placed(self.body):
                own = tree.heads(s) if tree.blocks(s) else [s]
                if reading not in tree.reads(own):
                    continue
                names = _targets(s)
                if names is None or self._calls(s) or _indexes(s, reading):
                    return False
                left += names - known
                known |= names
        return True


_Placed = tuple[ast.stmt, list[ast.stmt]]


def _placed(body: list[ast.stmt]) -> Iterator[_Placed]:
    """Yield all statements with those that follow them in their block."""
    for k, s in enumerate(body):
        yield s, body[k + 1 :]
        for block in tree.blocks(s):
            yield from _placed(block)


def _around(body: list[ast.stmt], line: int) -> list[ast.stmt]:
    """Return the statements of blocks around a line, the outermost first."""
    holding = [s for s, _ in _placed(body) if tree.blocks(s) and _holds(s, line)]
    return sorted(holding, key=lambda s: s.lineno)


def _waits(body: list[ast.stmt]) -> bool:
    """Tell whether statements reach a barrier, whichever way their conditions go."""
    for s in body:
        if isinstance(s, ast.If):
            if s.orelse and _waits(s.body) and _waits(s.orelse):
                return True
        elif any(tree.called(n) in kinds.BARRIERS for n in ast.walk(s)):
            return True
    return False


def _varies_in_warp(node: ast.AST, made: dict[str, ast.expr], known: dict[str, Any]) -> bool:
    """Tell whether an expression is made of the number of a lane; `thread // 32` is not."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        by = node.right.value if isinstance(node.right, ast.Constant) else None
        if isinstance(node.right, ast.Name):
            by = known.get(node.right.id)
        if isinstance(by, int) and by > 0 and by % 32 == 0:
            return False
    if isinstance(node, ast.Name) and node.id in made:
        others = {name: value for name, value in made.items() if name != node.id}
        return _varies_in_warp(made[node.id], others, known)
    if tree.intrinsic(node) in {*PLACES, "laneid"}:
        return True
    return any(_varies_in_warp(child, made, known) for child in ast.iter_child_nodes(node))


def _holds(s: ast.stmt, line: int) -> bool:
    """Tell whether a line is inside the blocks of a statement."""
    return s.lineno < line <= (s.end_lineno or 0)


def _is_access(node: ast.AST, location: Any, kind: type[ast.expr_context]) -> bool:
    if not isinstance(node, ast.Subscript) or node.lineno != location.line:
        return False
    return isinstance(node.ctx, kind) and location.what == refuse.written(node)


def _targets(s: ast.stmt) -> set[str] | None:
    """Return the variables that an assignment sets; None if it is none, or writes memory."""
    if not isinstance(s, (ast.Assign, ast.AugAssign)):
        return None
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
    if not all(isinstance(p, ast.Name) for p in parts):
        return None
    return tree.writes(parts)


def _indexes(s: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Subscript) and name in tree.reads(n.slice) for n in ast.walk(s))


def _is_replaced(name: str, rest: Iterable[ast.stmt]) -> bool:
    """Tell whether a variable is set again before anything reads it."""
    for s in rest:
        if name in tree.reads(s) or tree.exits([s]):
            return False
        if not tree.blocks(s) and name in tree.writes(s):
            return True
    return False


def _is_behind(store: ast.stmt, rest: list[ast.stmt], load: ast.stmt) -> bool:
    """Tell whether a statement comes after a store, with the same index, on every path to it."""
    if not isinstance(store, ast.Assign):
        return False
    index = tree.reads(store.targets)
    for s in rest:
        if any(s is load for s in tree.statements([s])):
            return not index & tree.writes(s)
        if index & tree.writes(s):
            return False
    return False
