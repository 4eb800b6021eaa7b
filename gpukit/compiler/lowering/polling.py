"""Make long loops interruptible without slowing them down: poll once per strip of iterations.

Before                          After
    for i in range(n):              for strip in range(0, n, 4096):
        s += a[i]                       poll()
                                        for i in range(strip, min(strip + 4096, n)):
                                            s += a[i]

A loop inside another one polls from its second strip on, so that short loops cost nothing. Strips
of outer loops are shorter: in a nest of two, there are at most some hundred thousand iterations
between two polls.

>>> loop = ast.For(tree.store("i"), tree.over(tree.name("n")), tree.stmts("s += i"), [])
>>> poll = ast.parse("poll()").body[0]
>>> print(ast.unparse(polled(loop, poll, lambda base: base, inside=True)[0]))
for strip in range(0, n, 4096):
    if strip != 0:
        poll()
    for i in range(strip, min(strip + 4096, n)):
        s += i
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from gpukit.compiler import tree

_ROUNDS = 4096  # iterations from one poll to the next
_ROUNDS_OF_LOOPS = 64
MOST_ROUNDS = 1 << 16  # iterations of a loop that needs no poll of its own


def polled(
    loop: ast.For, poll: ast.stmt, fresh: Callable[[str], str], *, inside: bool
) -> list[ast.stmt]:
    """Return a loop with polls, and statements before it; `inside` if it is in another loop."""
    by = step(loop.iter)
    count = trips(loop.iter)
    if count is not None and count <= MOST_ROUNDS:
        return [loop]
    if by is None or loop.orelse or "break" in tree.exits(loop.body):
        if by in (1, -1) and isinstance(loop.target, ast.Name):
            poll = _now_and_then(loop.target.id, loop.body, poll)
        loop.body.insert(0, poll)
        return [loop]
    before: list[ast.stmt] = []
    start, stop = (_once(e, loop, fresh, before) for e in _ends(loop.iter))
    strip = tree.name(fresh("strip"))
    width = tree.const(by * _rounds(loop.body))
    end = "min(s + width, stop)" if by > 0 else "max(s + width, stop)"
    limit = tree.expr(end, s=strip, width=width, stop=stop)
    parts = [strip, limit] + ([] if by == 1 else [tree.const(by)])
    inner = ast.For(loop.target, tree.over(*parts), loop.body, [])
    if inside:
        poll = ast.If(tree.expr("s != start", s=strip, start=start), [poll], [])
    strips = tree.over(start, stop, width)
    outer = ast.For(tree.store(strip.id), strips, [poll, inner], [])
    return [*before, tree.at(outer, loop)]


def _once(
    end: ast.expr, loop: ast.For, fresh: Callable[[str], str], before: list[ast.stmt]
) -> ast.expr:
    """Return an end of a range that may be evaluated more than once."""
    if isinstance(end, ast.Constant):
        return end
    if isinstance(end, ast.Name) and end.id not in tree.writes(loop):
        return end
    name = fresh("end")
    before.append(tree.at(tree.assign(name, end), loop))
    return tree.name(name)


def counted(loop: ast.While, poll: ast.stmt, name: str) -> list[ast.stmt]:
    """Return a `while` loop with polls, and statements before it; `name` counts iterations.

    >>> loop = ast.parse("while n:\\n    n = n // 2").body[0]
    >>> for s in counted(loop, ast.parse("poll()").body[0], "rounds"):
    ...     print(ast.unparse(s))
    rounds = 0
    while n:
        rounds += 1
        if rounds & 4095 == 0:
            poll()
        n = n // 2
    """
    start, count = tree.stmts(f"{name} = 0\n{name} += 1")
    loop.body[:0] = [tree.at(s, loop) for s in (count, _now_and_then(name, loop.body, poll))]
    return [tree.at(start, loop), loop]


def _rounds(body: list[ast.stmt]) -> int:
    loops = (isinstance(n, (ast.For, ast.While)) for s in body for n in ast.walk(s))
    return _ROUNDS_OF_LOOPS if any(loops) else _ROUNDS


def _now_and_then(number: str, body: list[ast.stmt], poll: ast.stmt) -> ast.stmt:
    mask = tree.const(_rounds(body) - 1)
    return ast.If(tree.expr("k & mask == 0", k=tree.name(number), mask=mask), [poll], [])


def ends(over: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return start and stop of a range that counts up, or None."""
    by = step(over)
    return _ends(over) if by is not None and by > 0 else None


def _ends(over: ast.expr) -> tuple[ast.expr, ast.expr]:
    arguments = over.args  # type: ignore[attr-defined]
    return (tree.const(0), arguments[0]) if len(arguments) == 1 else (arguments[0], arguments[1])


def step(over: ast.expr) -> int | None:
    """Return the step of a range, if it is a constant other than 0."""
    arguments = getattr(over, "args", None)
    if not arguments or not tree.calls(over, range):
        return None
    if len(arguments) < 3:
        return 1
    return _constant(arguments[2]) or None


def trips(over: ast.expr) -> int | None:
    """Return the trip count of a loop over a range of constants."""
    arguments = getattr(over, "args", None) or [None]
    values = [None if a is None else _constant(a) for a in arguments]
    if None in values or 0 in values[2:]:
        return None
    return len(range(*values))  # type: ignore[arg-type]


def _constant(node: ast.expr) -> int | None:
    """Return the value of a constant integer expression: `3 + 1`, `-2`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _constant(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _constant(node.left), _constant(node.right)
        return None if left is None or right is None else _OPERATORS[type(node.op)](left, right)
    return None


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
