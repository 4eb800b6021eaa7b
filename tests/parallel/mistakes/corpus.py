"""The corpus of mistakes in parallel programs: edits of right ones (`parallel_programs`).

A finding must be at a line with the mark `# BUG`, and name the ranks and the parameters if any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.bugs.edit import edit


class Mistake(NamedTuple):
    """A wrong program, the class of the finding, and what the finding must name."""

    program: Callable[[Any], Any]
    right: Callable[[Any], Any]
    kind: str
    sentence: str
    lines: set[int]
    parameters: tuple[str, ...]
    ranks: tuple[int, ...]
    size: int
    alone: Callable[[Any], Any] | bool


MISTAKES: dict[str, Mistake] = {}
ALL = ("0.bias", "0.weight", "2.bias", "2.weight")  # the parameters of `parallel_programs`


def mistake(
    right: Callable[[Any], Any],
    name: str,
    kind: str,
    text: str,
    *,
    parameters: tuple[str, ...] = (),
    ranks: tuple[int, ...] = (0, 1),
    size: int = 2,
    alone: Callable[[Any], Any] | bool = True,
) -> None:
    """Put a mistake into the corpus: a sentence about it, then an edit of the right program."""
    sentence, _, hunks = text.strip("\n").partition("\n")
    name = f"{name}-{kind}"
    if name in MISTAKES:
        raise ValueError(f"two mistakes of the corpus are called {name!r}")
    wrong, lines = edit([right], hunks, name)
    MISTAKES[name] = Mistake(wrong, right, kind, sentence, lines, parameters, ranks, size, alone)
