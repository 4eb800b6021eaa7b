"""Where in the source an access, a barrier or a raise stands; what error messages need."""

from __future__ import annotations

import ast
from dataclasses import asdict, dataclass
from typing import Any

from gpukit.compiler import refuse
from gpukit.compiler.unit import Unit


@dataclass(frozen=True)
class SourceLocation:
    """One place in a kernel's source; `what` is the text of the access or call."""

    kernel: str
    file: str
    line: int
    source: str
    array: str
    what: str


_locations: list[SourceLocation] = []
_numbers: dict[SourceLocation, int] = {}
# What `raise` statements raise, by location.
raised: dict[int, Any] = {}


def number(unit: Unit, node: ast.AST, array: str = "", what: str = "") -> int:
    """Return the number under which compiled code reports this place."""
    if not array.isidentifier() and what.endswith("]") and not what.startswith("cuda."):
        array = _base(what)  # `node` may be rewritten already; `what` is as it was written
    kernel, file, line, text = refuse.where(unit, node)
    location = SourceLocation(
        kernel, file, line, text, unit.as_written(array), unit.as_written(what)
    )
    if location not in _numbers:
        _numbers[location] = len(_locations)
        _locations.append(location)
    return _numbers[location]


def _base(text: str) -> str:
    """Return what is indexed in the text of a subscript.

    >>> _base("a[r][c]")
    'a[r]'
    """
    found = ast.parse(text, mode="eval").body
    return ast.unparse(found.value) if isinstance(found, ast.Subscript) else text


def get(index: int) -> SourceLocation:
    """Return the location with a number."""
    return _locations[index]


def export(indices: set[int]) -> dict[str, dict[str, Any]]:
    """Return the locations as plain data, for the disk cache."""
    return {str(k): asdict(_locations[k]) for k in sorted(indices)}
