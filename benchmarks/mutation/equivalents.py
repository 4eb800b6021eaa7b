"""Mutants that a person has judged to be equivalent: TOML with an id and a reason each."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@functools.cache
def read(path: Path) -> dict[str, dict[str, str]]:
    """Return the entries of a file by id."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {entry["id"].strip(): entry for entry in listed}
