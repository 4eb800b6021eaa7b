"""Facts that passes attach to nodes of a kernel's tree, for later passes and messages.

A copy of a node (`tree.clone`) has the same facts. The tuple is immutable: notes replace it.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple


class SharedArray(NamedTuple):
    """Which array of which device function a call creates, and the function's arguments."""

    function: Any
    number: int
    given: tuple[ast.expr, ...]


class Facts(NamedTuple):
    """All that may be known of a node beyond its fields."""

    # The text of an expression or of a simple statement as in the source.
    written: str = ""
    # The object that a captured name refers to (`resolve`).
    means: Any = None
    # Name and source (`source.Source`) of the function from which a node was inlined.
    inlined_from: tuple[str, Any] | None = None
    # The line in gpukit's own file, for an inlined node of a function of gpukit.
    library_line: int = 0
    # For a call that creates a shared array of a device function (`own_arrays`).
    shared_array: SharedArray | None = None
    # The NumPy function that a statement calls to create an array (`allocate`).
    allocates: str = ""
    # The name of a function that was passed to a device function (`binding`).
    passed: bool = False
    # The warp operation whose mask or source lane a call checks (`schedule`).
    checked: ast.Call | None = None
    # The conditional expression that was split into two guarded stores (`choices`).
    chosen: ast.IfExp | None = None
    # Whether a comparison is the negation of the one in the source.
    negated: bool = False
    # An assignment that gives a name to the bound of a range; a range that was a `while` loop.
    range_bound: bool = False
    was_while: bool = False
    # Why a loop stays inside the loop over threads (`rows`).
    why_inside: str = ""
    # A statement that the compiler added.
    added: bool = False
    # For a statement that sets which threads take part in what follows: its text in a recording.
    step: str | None = None
    # A loop that takes a lock which a later statement releases (`lockstep`).
    keeps_lock: bool = False
    # An access that is reached only if an atomic returned a certain value (`decided`).
    decided: bool = False
    # The load whose depth a call computes (`trips`).
    load: Any = None


_NOTHING = Facts()


def of(node: ast.AST) -> Facts:
    """Return the facts known of a node."""
    return getattr(node, "facts", _NOTHING)


def note(node: ast.AST, **found: Any) -> None:
    """Add facts to a node."""
    node.facts = of(node)._replace(**found)  # type: ignore[attr-defined]
