"""Loops that wait for another thread: they end only when somebody else has done something.

Checked mode runs blocks one after the other and the threads of a block in step, so a wait can
last for ever. A loop that waits counts its rounds, and stops the kernel after too many.

>>> [is_wait(ast.parse(text).body[0]) for text in (
...     "while cuda.atomic.add(flag, 0, 0) == 0: pass", "while flag[0] == 0: pass",
...     "while x[k] > 0: k += 1", "while i < n: i += 1")]
[True, True, False, False]
"""

from __future__ import annotations

import ast

from gpukit.compiler import tree
from gpukit.compiler.analysis import uniformity

LOCKS = frozenset(["atomic.cas", "atomic.compare_and_swap", "atomic.exch"])
MOST_ROUNDS = 1_000_000


def is_wait(loop: ast.While) -> bool:
    """Tell whether a loop takes a lock, or asks memory that it does not change itself."""
    if any(tree.called(n) in LOCKS for n in ast.walk(loop)):
        return True
    asks = any(
        (tree.called(n) or "").startswith("atomic.") if isinstance(n, ast.Call)
        else isinstance(n, ast.Subscript) and not uniformity.is_size(n)
        for n in ast.walk(loop.test)
    )  # fmt: skip
    return asks and tree.reads(loop.test).isdisjoint(_changed(loop.body))


def _changed(body: list[ast.stmt]) -> set[str]:
    """Return the variables that a body sets, and the arrays to which it writes."""
    nodes = [n for s in body for n in ast.walk(s)]
    stored = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    given = [a for n in nodes if isinstance(n, ast.Call) for a in n.args]
    return tree.writes(body) | {name for n in [*stored, *given] for name in tree.reads(n)}
