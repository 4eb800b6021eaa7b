"""Mutants that a person has written: TOML with a file and an edit each."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from benchmarks.mutation.python_code import Mutant
from gpukit.course import edits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(path: Path, root: Path) -> list[Mutant]:
    """Return the mutants of a file; ValueError names lines that are not in the program any more."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [_mutant(root, entry) for entry in listed]


def _mutant(root: Path, entry: dict[str, str]) -> Mutant:
    text = (root / entry["file"]).read_text(encoding="utf-8")
    old, new = (t.splitlines(keepends=True) for t in (text, edits.edited(text, entry["edit"])))
    first = _common(old, new)
    same = _common(old[first:][::-1], new[first:][::-1])
    before, after = ("".join(lines[first : len(lines) - same]) for lines in (old, new))
    return Mutant(entry["file"], first + 1, entry["gives"], before, after)


def _common(one: list[str], other: list[str]) -> int:
    """Return how many lines are the same at the beginning of two texts."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
