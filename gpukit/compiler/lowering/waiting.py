"""Find loops that wait for another thread: spin locks, and loops that poll a flag.

Checked mode runs blocks one after the other and the threads of a block in lockstep, so a wait can
last forever. A loop that waits counts its iterations, and stops the kernel after too many.

>>> [is_wait(ast.parse(text).body[0]) for text in (
...     "while cuda.atomic.add(flag, 0, 0) == 0: pass", "while flag[0] == 0: pass",
...     "while x[k] > 0: k += 1", "while i < n: i += 1")]
[True, True, False, False]
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from gpukit.compiler import facts, kinds, tree
from gpukit.compiler.analysis import arrays, uniformity

LOCKS = frozenset(["atomic.cas", "atomic.compare_and_swap", "atomic.exch"])
MOST_ROUNDS = 1_000_000


def is_wait(loop: ast.While) -> bool:
    """Tell whether a loop takes a lock, or polls memory that it does not change itself."""
    if any(tree.called(n) in LOCKS for n in ast.walk(loop)):
        return True
    asks = any(_accesses(n) for n in ast.walk(loop.test))
    return asks and tree.reads(loop.test).isdisjoint(_changed(loop.body))


def polls(node: ast.AST, shared: Collection[str]) -> bool:
    """Tell whether a loop in a tree polls memory that is not `shared`, without taking a lock.

    The condition reads the memory, or a variable that the loop reads from there at the same place.
    """
    for loop in ast.walk(node):
        if isinstance(loop, ast.While):
            read = [loop.test] if is_wait(loop) else _read_again(loop)
            locks = any(tree.called(n) in LOCKS for n in ast.walk(loop))
            polled = {_array(n) for e in read for n in ast.walk(e) if _accesses(n)}
            if polled - set(shared) and not locks:
                return True
    return False


def _read_again(loop: ast.While) -> list[ast.expr]:
    """Return what a loop assigns to the variables of its condition, if nothing else changes."""
    written = tree.writes(loop.body)
    asked = tree.reads(loop.test) & written
    set_ = [s for s in tree.statements(loop.body) if tree.writes(s) & asked]
    plain = all(isinstance(s, ast.Assign) for s in set_)
    values = [s.value for s in set_ if isinstance(s, ast.Assign)]
    return values if plain and tree.reads(values).isdisjoint(written) else []


def _accesses(n: ast.AST) -> bool:
    if isinstance(n, ast.Subscript):
        return not uniformity.is_size(n)
    return (tree.called(n) or "").startswith("atomic.")


def _changed(body: list[ast.stmt]) -> set[str]:
    """Return the variables that a body sets, and the arrays to which it writes."""
    nodes = [n for s in body for n in ast.walk(s)]
    stored = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    given = [a for n in nodes if isinstance(n, ast.Call) for a in n.args]
    return tree.writes(body) | {name for n in [*stored, *given] for name in tree.reads(n)}


def kept(s: ast.stmt, rest: list[ast.stmt]) -> int:
    """Return for how many statements after a loop the lock that it takes is held; 0 for none.

    The last of them releases the lock. One thread runs them all before the next one takes the lock:
    in lockstep, the waiting threads would prevent its owner from releasing it.
    """
    locks = _taken(s)
    for k, later in enumerate(rest if locks else []):
        if kinds.synchronises(later):
            return 0
        if any(_changes(n) and _array(n) in locks for n in ast.walk(later)):
            facts.note(s, keeps_lock=True)
            return k + 1
    return 0


def _taken(s: ast.stmt) -> set[str]:
    """Return the arrays of the locks that a loop waits for and does not release itself."""
    if not isinstance(s, ast.While):
        return set()
    taking = [n for n in ast.walk(s) if tree.called(n) in LOCKS]
    others = (n for n in ast.walk(s) if _changes(n) and n not in taking)
    return {_array(n) for n in taking[:1]} - {_array(n) for n in [*taking[1:], *others]}


def _changes(n: ast.AST) -> bool:
    """Tell whether a node is an atomic, or a plain store to an element."""
    if isinstance(n, ast.Subscript):
        return isinstance(n.ctx, ast.Store)
    return (tree.called(n) or "").startswith("atomic.")


def _array(n: ast.AST) -> str:
    """Return the name of the array that an atomic or a subscript accesses."""
    base = n.args[0] if isinstance(n, ast.Call) else n.value  # type: ignore[attr-defined]
    return arrays.root(base)
