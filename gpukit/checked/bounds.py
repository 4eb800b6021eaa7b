"""How a kernel's source bounds an index that left its array: where it comes from, what limits it.

An index that is the thread's own index lacks a guard. One that a guard or a loop already bounds,
or that is computed, is more likely wrong itself, and a guard around the access would hide that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpukit import errors
from gpukit.checked.extent import PLACES, is_size_of, made_of, single_assignments
from gpukit.compiler import refuse, tree

_BELOW, _ABOVE = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


class Bound(NamedTuple):
    """What bounds an index from above, if anything; with its line and source text.

    `kind` is "own" where a condition compares the index with the array's own size, or lets the end
    pass (`<=`), "other" where it compares it with something else, "half" where it bounds it from
    below only, and "loop" where the index runs through a range. It is "or" or "and" where the
    condition is joined by that to others, and lets pass where it does not hold itself: "or" in what
    must hold, "and" in what must not. It is "outside" where the access runs only where a bound does
    not hold, "else" where it runs where not all of several conditions hold, so that none of them
    bounds anything, and "whole" where the condition bounds a value computed from the index and
    more, as `row * width + column`. Of what an index is computed of, "parts" is bounded, "offset"
    is bounded and something is added to it, and "free" is a number of the thread that nothing
    bounds. An index that is a quotient or a rest of what is bounded, or computed from some, is
    "made". It is "axis" where the condition compares it with the array's size along another axis.
    """

    kind: str
    line: int
    text: str


class Bounds:
    """The conditions and loops around a kernel's accesses; those of its functions are not known."""

    def __init__(self, function: Any) -> None:
        from gpukit.compiler.frontend import resolve

        self.file = function.__code__.co_filename
        try:
            self.body = resolve.run(function).tree.body
        except errors.GpukitError:  # its source is not available
            self.body = []
        self.made = single_assignments(self.body)

    def of(self, location: Any, axis: int) -> Bound | None:
        """Return what bounds the index of an access along an axis, or None."""
        if location.file != self.file:
            return None
        for access, around in _accesses(self.body, location, []):
            parts = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
            if axis < len(parts):
                array = tree.dotted(access.value) or ""
                return self._of_index(parts[axis], array, axis, around)
        return None

    def _of_index(self, index: ast.expr, array: str, axis: int, around: _Around) -> Bound | None:
        names = made_of(index, self.made)
        own: list[Bound] = []
        parts: list[Bound] = []
        bounded: set[str] = set()
        for test, line, holds in around:
            if isinstance(test, ast.For):
                if tree.key(_loaded(test.target)) == tree.key(index):
                    own.append(Bound("loop", line, refuse.written(test.target)))
                continue
            for low, high, strict, text, weak, true in self._compared(test, holds):
                if weak == "and" and not tree.reads(high):
                    continue  # not `0 <= i` in `not (0 <= i and i < n)`
                if tree.key(low) == tree.key(index):
                    kind = weak or self._kind(self._size(high), strict, array, axis)
                    own.append(Bound(kind, line, text))
                elif tree.key(high) == tree.key(index):
                    if kind := _turned(low, true, weak):
                        own.append(Bound(kind, line, text))
                elif tree.reads(low) & names and not weak:
                    inside = isinstance(index, ast.Name) and index.id in tree.reads(low)
                    kind = "whole" if inside else "offset" if _is_moved(index, low) else "parts"
                    parts.append(Bound(kind, line, text))
                    bounded |= tree.reads(low)
        if own:
            whole = [bound for bound in own if bound.kind != "half"]
            return (whole or own)[-1]
        # What is bounded is so whatever it is made of.
        open_ends = made_of(index, {n: e for n, e in self.made.items() if n not in bounded})
        free = [n for n in sorted(open_ends) if self._is_of_thread(n) and n not in bounded]
        if free and not isinstance(index, ast.Name):
            return Bound("free", 0, free[0])
        made = [(n, self.made[n]) for n in sorted(tree.reads(index)) if n in self.made]
        divided = sorted((e.lineno, f"{n} = {refuse.written(e)}") for n, e in made if _divides(e))
        if divided and not free:
            line, last = divided.pop()
            others = "".join(f"{text}` in line {line} and `" for line, text in divided)
            return Bound("made", line, others + last)
        return parts[-1] if parts and not free else None

    def _kind(self, size: ast.expr, strict: bool, array: str, axis: int) -> str:
        """Return what a condition is that keeps an index below a size, or lets that pass."""
        if not is_size_of(size, array):
            return "other" if strict else "own"
        known = size.slice if isinstance(size, ast.Subscript) else None
        is_other = isinstance(known, ast.Constant) and known.value != axis
        return "axis" if strict and is_other else "own"

    def _compared(
        self, test: ast.AST, holds: bool, weak: str = ""
    ) -> Iterator[tuple[ast.expr, ast.expr, bool, str, str, bool]]:
        """Yield which value a condition, true or false, bounds by which, and its source text.

        `weak` is the operator that combines it with others, so that it need not be true (or false);
        the last of each is which of the two the comparison itself is.
        """
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            holds = not holds
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) == holds:
            weak = "or" if holds else "and"
        if isinstance(test, ast.Name) and isinstance(self.made.get(test.id), _CONDITIONS):
            yield from self._compared(self.made[test.id], holds, weak)
        if isinstance(test, ast.Compare):
            sides = [test.left, *test.comparators]
            if len(sides) > 2 and not holds:  # `0 <= i < n` is `0 <= i and i < n`
                weak = "and"
            for low, op, high in zip(sides, test.ops, sides[1:], strict=False):
                if isinstance(op, (*_BELOW, *_ABOVE)):
                    pair = (high, low) if isinstance(op, _ABOVE) == holds else (low, high)
                    strict = isinstance(op, (ast.Lt, ast.Gt)) == holds
                    yield *pair, strict, refuse.written(test), weak, holds
        for node in ast.iter_child_nodes(test):
            yield from self._compared(node, holds, weak)

    def _size(self, node: ast.expr) -> ast.expr:
        return self.made.get(node.id, node) if isinstance(node, ast.Name) else node

    def _is_of_thread(self, name: str) -> bool:
        """Tell whether a variable is computed directly from thread and block indices."""
        made = self.made.get(name)
        return made is not None and any(tree.intrinsic(n) in PLACES for n in ast.walk(made))


_CONDITIONS = (ast.Compare, ast.BoolOp)


def _turned(low: ast.expr, true: bool, weak: str) -> str:
    """Return what a condition is that keeps an index above something; "" where it is nothing.

    A guard that is false there is turned round, but for one such as `if i < 0: return`.
    """
    if weak:
        return "" if true else "else"
    return "half" if true or not tree.reads(low) else "outside"


def _is_moved(index: ast.expr, low: ast.expr) -> bool:
    """Tell whether an index is something bounded and a number, as `i + 1` where `i` is bounded."""
    if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Add):
        return False
    sides = (index.left, index.right)
    moved = any(tree.key(side) == tree.key(low) for side in sides)
    return moved and any(isinstance(side, ast.Constant) for side in sides)


def _divides(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod))


def _loaded(target: ast.expr) -> ast.expr:
    """Return the target of a loop as an expression that reads it."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target


_Around = list[tuple[ast.AST, int, bool]]  # conditions and loops, their lines, whether they hold


def _accesses(
    body: list[ast.stmt], location: Any, around: _Around
) -> Iterator[tuple[ast.Subscript, _Around]]:
    """Yield the accesses at a location with the statements around each, outermost first."""
    for s in body:
        blocks = tree.blocks(s)
        for part in tree.heads(s) if blocks else [s]:
            yield from _inside(part, location, around)
        if isinstance(s, ast.For):
            yield from _accesses(s.body, location, [*around, (s, s.lineno, True)])
            yield from _accesses(s.orelse, location, around)
        elif isinstance(s, (ast.If, ast.While)):
            yield from _accesses(s.body, location, [*around, (s.test, s.lineno, True)])
            yield from _accesses(s.orelse, location, [*around, (s.test, s.lineno, False)])
        else:
            for block in blocks:
                yield from _accesses(block, location, around)
        if isinstance(s, ast.If) and tree.exits(s.body):
            around = [*around, (s.test, s.lineno, False)]


def _inside(
    node: ast.AST, location: Any, around: _Around
) -> Iterator[tuple[ast.Subscript, _Around]]:
    """Yield the accesses in a statement or expression; `a if test else b` is a condition, too."""
    if isinstance(node, ast.Subscript) and node.lineno == location.line:
        if refuse.written(node) == location.what:
            yield node, around
    if isinstance(node, ast.IfExp):
        yield from _inside(node.test, location, around)
        yield from _inside(node.body, location, [*around, (node.test, node.lineno, True)])
        yield from _inside(node.orelse, location, [*around, (node.test, node.lineno, False)])
    elif isinstance(node, ast.BoolOp):
        for k, value in enumerate(node.values):
            before = [(v, v.lineno, isinstance(node.op, ast.And)) for v in node.values[:k]]
            yield from _inside(value, location, [*around, *before])
    else:
        for child in ast.iter_child_nodes(node):
            yield from _inside(child, location, around)
