"""Mutants that a person has written: TOML with a file and an edit each."""

from __future__ import annotations

import os
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
    first = len(os.path.commonprefix([old, new]))
    same = len(os.path.commonprefix([old[first:][::-1], new[first:][::-1]]))
    before, after = ("".join(lines[first : len(lines) - same]) for lines in (old, new))
    return Mutant(entry["file"], first + 1, entry["gives"], before, after)
