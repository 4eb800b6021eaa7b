"""One bug of a host program: streams, copies and launches in no order, and its fixed twin.

A program is a function that makes its arrays and streams, launches, and returns what it computed
and what that has to be. The two lines of the race carry the comment `# BUG`; a line that races
with itself, in a loop, carries it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.bugs.case import marked

Program = Callable[[], tuple[Any, Any]]


class Pair(NamedTuple):
    """A program with a race beside one that orders the same operations."""

    racing: Program
    ordered: Program
    kind: str

    @property
    def name(self) -> str:
        """The name of the racing program, and the class of its race."""
        return f"{self.racing.__name__}-{self.kind}"

    @property
    def lines(self) -> set[int]:
        """The lines of the file that carry the mark."""
        return marked(self.racing)


PAIRS: dict[str, Pair] = {}


def pair(racing: Program, ordered: Program, kind: str) -> None:
    """Put a racing program and its fixed twin into the corpus."""
    made = Pair(racing, ordered, kind)
    if PAIRS.setdefault(made.name, made).racing.__code__ != racing.__code__:
        raise ValueError(f"two programs of the corpus are called {made.name!r}")
