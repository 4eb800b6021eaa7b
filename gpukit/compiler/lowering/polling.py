"""Let long loops be interrupted without slowing them down.

Before                          After
    for i in range(n):              for strip in range(0, n, 65536):
        s += a[i]                       poll()
                                        for i in range(strip, min(strip + 65536, n)):
                                            s += a[i]

>>> loop = ast.parse("for i in range(n):\\n    s += i").body[0]
>>> print(ast.unparse(polled(loop, ast.parse("poll()").body[0], "strip")))
for strip in range(0, n, 65536):
    poll()
    for i in range(strip, min(strip + 65536, n)):
        s += i
"""

from __future__ import annotations

import ast

from gpukit.compiler import tree

STRIP = 1 << 16


def polled(loop: ast.For, poll: ast.stmt, name: str) -> ast.For:
    """Return the loop with polls in it; `name` is free for the strips."""
    step = _step(loop.iter)
    if trips(loop.iter) is not None and trips(loop.iter) <= STRIP:  # type: ignore[operator]
        return loop
    if step is None or loop.orelse or "break" in tree.exits(loop.body):
        loop.body.insert(0, poll)
        return loop
    start, stop = _ends(loop.iter)
    inner = "min(s + width, stop)" if step > 0 else "max(s + width, stop)"
    width = tree.const(step * STRIP)
    limit = tree.expr(inner, s=tree.name(name), width=width, stop=stop)
    parts = [tree.name(name), limit] + ([] if step == 1 else [tree.const(step)])
    strips = tree.call("range", start, stop, width)
    inside = ast.For(loop.target, tree.call("range", *parts), loop.body, [])
    return tree.at(ast.For(tree.store(name), strips, [poll, inside], []), loop)  # type: ignore[no-any-return]


def _ends(over: ast.expr) -> tuple[ast.expr, ast.expr]:
    arguments = over.args  # type: ignore[attr-defined]
    return (tree.const(0), arguments[0]) if len(arguments) == 1 else (arguments[0], arguments[1])


def _step(over: ast.expr) -> int | None:
    """Return the step of a range, if it is a constant other than 0."""
    arguments = getattr(over, "args", None)
    if not arguments or not isinstance(over, ast.Call) or tree.dotted(over.func) != "range":
        return None
    if len(arguments) < 3:
        return 1
    return _constant(arguments[2]) or None


def trips(over: ast.expr) -> int | None:
    """Return how often a loop over a range of constants runs."""
    arguments = getattr(over, "args", None) or [None]
    values = [None if a is None else _constant(a) for a in arguments]
    if None in values or 0 in values[2:]:
        return None
    return len(range(*values))  # type: ignore[arg-type]


def _constant(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, int) else None
