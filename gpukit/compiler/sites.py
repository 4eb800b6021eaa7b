"""Where in the source an access, a barrier or a raise stands; what error messages need."""

from __future__ import annotations

import ast
from dataclasses import asdict, dataclass
from typing import Any

from gpukit.compiler import refuse
from gpukit.compiler.unit import Unit


@dataclass(frozen=True)
class Site:
    """One place in a kernel's source; `what` is the text of the access or call."""

    kernel: str
    file: str
    line: int
    source: str
    array: str
    what: str


_sites: list[Site] = []
_numbers: dict[Site, int] = {}
# What `raise` statements raise, by site.
raised: dict[int, Any] = {}


def number(unit: Unit, node: ast.AST, array: str = "", what: str = "") -> int:
    """Return the number under which compiled code reports this place."""
    if not array.isidentifier() and what.endswith("]") and not what.startswith("cuda."):
        array = _base(what)  # `node` may be rewritten already; `what` is as it was written
    kernel, file, line, text = refuse.where(unit, node)
    site = Site(kernel, file, line, text, unit.as_written(array), unit.as_written(what))
    if site not in _numbers:
        _numbers[site] = len(_sites)
        _sites.append(site)
    return _numbers[site]


def _base(text: str) -> str:
    """Return what is indexed in the text of a subscript.

    >>> _base("a[r][c]")
    'a[r]'
    """
    found = ast.parse(text, mode="eval").body
    return ast.unparse(found.value) if isinstance(found, ast.Subscript) else text


def get(index: int) -> Site:
    """Return the site with a number."""
    return _sites[index]


def export(indices: set[int]) -> dict[str, dict[str, Any]]:
    """Return the sites as plain data, for the disk cache."""
    return {str(k): asdict(_sites[k]) for k in sorted(indices)}
