"""Source locations of accesses, barriers and raises, for error messages."""

from __future__ import annotations

import ast
from dataclasses import asdict, dataclass
from typing import Any

from gpukit.compiler import refuse, tree
from gpukit.compiler.unit import Unit


@dataclass(frozen=True)
class SourceLocation:
    """One location in a kernel's source; `what` is the text of the access or call.

    `operation` is the intrinsic that is called there, such as `atomic.add`.
    """

    kernel: str
    file: str
    line: int
    source: str
    array: str
    what: str
    operation: str = ""


_locations: list[SourceLocation] = []
_numbers: dict[SourceLocation, int] = {}
# The exceptions of `raise` statements, by location.
raised: dict[int, Any] = {}


def number(unit: Unit, node: ast.AST, array: str = "", what: str = "") -> int:
    """Return the number under which compiled code reports this location.

    `array` is its name in the tree, `what` the text in the source.
    """
    if not array.isidentifier() and (base := _base(what)):
        array = base  # `node` may be rewritten already
    kernel, file, line, text = refuse.where(unit, node)
    what = array if refuse.is_made(unit, node) else what
    location = SourceLocation(
        kernel, file, line, text, unit.as_written(array), what, tree.called(node) or ""
    )
    if location not in _numbers:
        _numbers[location] = len(_locations)
        _locations.append(location)
    return _numbers[location]


def _base(text: str) -> str:
    """Return the base of a subscript given as text; "" for any other text.

    >>> _base("a[r][c]"), _base("cuda.atomic.add(a[r], c, 1)")
    ('a[r]', '')
    """
    try:
        found = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    base = found.value if isinstance(found, ast.Subscript) else None
    return (base and ast.get_source_segment(text, base)) or ""


def get(index: int) -> SourceLocation:
    """Return the location with this number."""
    return _locations[index]


def export(indices: set[int]) -> dict[str, dict[str, Any]]:
    """Return the locations as plain data, for the disk cache."""
    return {str(k): asdict(_locations[k]) for k in sorted(indices)}
