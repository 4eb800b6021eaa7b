"""The corpus of host programs: each orders its streams, copies and launches; races are edits of it.

A program is a function that creates its arrays and streams, launches, and returns its result and
the reference. The two lines of a race are marked; a line that races with itself, in a loop, is the
only marked one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.bugs.edit import edit

Program = Callable[[], tuple[Any, Any]]


class Race(NamedTuple):
    """A program with a race, the class of the race, and the program that it is an edit of."""

    racing: Program
    ordered: Program
    kind: str
    sentence: str
    lines: set[int]


RACES: dict[str, Race] = {}


def race(ordered: Program, name: str, kind: str, text: str) -> None:
    """Put a race into the corpus: a sentence about it, then an edit of the ordered program."""
    name = f"{name}-{kind}"
    sentence, _, hunks = text.strip("\n").partition("\n")
    if name in RACES:
        raise ValueError(f"two programs of the corpus are called {name!r}")
    racing, lines = edit([ordered], hunks, name)
    RACES[name] = Race(racing, ordered, kind, sentence, lines)
