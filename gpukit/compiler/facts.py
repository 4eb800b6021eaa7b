"""What passes find out about a node of a kernel's tree, for the passes and messages behind them.

A copy of a node (`tree.clone`) knows the same. A record is never changed, only replaced.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple


class SharedArray(NamedTuple):
    """Which array of which device function a call makes, and what the function was given."""

    function: Any
    number: int
    given: tuple[ast.expr, ...]


class Facts(NamedTuple):
    """All that may be known of a node beside its fields."""

    # The text of an expression or of a simple statement, as the person wrote it.
    written: str = ""
    # The object that a name from outside the function stands for (`resolve`).
    means: Any = None
    # Function and file of a node that was inlined.
    inlined_from: tuple[str, str] | None = None
    # The line in gpukit's own file, of a node that stands for a call of a function of gpukit.
    library_line: int = 0
    # Of a call that makes a shared array of a device function (`own_arrays`).
    shared_array: SharedArray | None = None
    # The NumPy function that a statement calls to make an array (`allocate`).
    allocates: str = ""
    # A name of a function that was handed to a device function (`binding`).
    passed: bool = False
    # The warp operation whose mask or source lane a call checks (`schedule`).
    checked: ast.Call | None = None
    # The conditional expression that two guarded stores were (`choices`).
    chosen: ast.IfExp | None = None
    # A comparison that is the opposite of the one in the source.
    negated: bool = False
    # An assignment that gives a name to the bound of a range; a range that was a `while` loop.
    range_bound: bool = False
    was_while: bool = False
    # Why a loop stays inside of the loop over threads (`rows`).
    why_inside: str = ""
    # A statement that the compiler added and no person wrote.
    added: bool = False
    # A statement that says who takes part in what follows: what a recording shows it as.
    step: str | None = None
    # A loop that takes a lock which a statement behind it gives back (`lockstep`).
    keeps_lock: bool = False
    # An access that is reached only if an atomic returned a certain value (`decided`).
    decided: bool = False


_NOTHING = Facts()


def of(node: ast.AST) -> Facts:
    """Return what is known of a node."""
    return getattr(node, "facts", _NOTHING)


def note(node: ast.AST, **found: Any) -> None:
    """Add to what is known of a node."""
    node.facts = of(node)._replace(**found)  # type: ignore[attr-defined]
