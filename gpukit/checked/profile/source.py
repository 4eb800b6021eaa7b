"""The source beside which a profile's counts are shown: the kernel's and that of its callees."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile


@dataclass(frozen=True)
class Listing:
    """The lines of one function, by number. A docstring is folded into its first line."""

    name: str
    lines: list[tuple[int, str]]


def listings(kernel: str, source: list[tuple[int, str]], called: list[Listing]) -> list[Listing]:
    """Return the functions to show, the kernel first; the common indent is removed."""
    return [_tidy(each) for each in (Listing(kernel, source), *called) if each.lines]


def called(places: Iterable[Any], own: list[tuple[int, str]]) -> list[Listing]:
    """Return the device functions with counted locations outside the kernel's own lines."""
    known = {number for number, _ in own}
    found: dict[tuple[str, str, int], list[tuple[int, str]]] = {}
    for place in places:
        if place.line not in known:
            name, lines = _function_at(place.file, place.line)
            lines = lines or [(place.line, place.source)]
            found[place.file, name or place.kernel, lines[0][0]] = lines
            known |= {number for number, _ in lines}
    return [Listing(name, lines) for (_, name, _), lines in sorted(found.items())]


def _function_at(file: str, line: int) -> tuple[str, list[tuple[int, str]]]:
    """Return the innermost function around a line, or nothing where the file cannot be read."""
    texts = linecache.getlines(file)
    try:
        tree = ast.parse("".join(texts))
    except (SyntaxError, ValueError):
        return "", []
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if not around:
        return "", []
    inner = max(around, key=lambda node: node.lineno)
    first = min([inner.lineno, *(d.lineno for d in inner.decorator_list)])
    numbers = range(first, (inner.end_lineno or first) + 1)
    return inner.name, [(k, texts[k - 1].rstrip("\n")) for k in numbers]


def one_sided(profile: Profile) -> frozenset[int]:
    """Return the lines that hold an `if` without `else`: the lanes that skip it only wait."""
    found: set[int] = set()
    for lines in (profile.source, *(listing.lines for listing in profile.called)):
        try:
            tree = ast.parse(textwrap.dedent("\n".join(text for _, text in lines)))
        except (SyntaxError, ValueError):
            continue
        ifs = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
        found |= {lines[node.lineno - 1][0] for node in ifs if not node.orelse}
    return frozenset(found)


def _tidy(listing: Listing) -> Listing:
    numbers = [number for number, _ in listing.lines]
    text = textwrap.dedent("\n".join(line.expandtabs(4) for _, line in listing.lines))
    lines = dict(zip(numbers, text.split("\n"), strict=False))
    first, last = _docstring(text)
    if last > first:
        start = lines[numbers[first]]
        quote = start.strip().lstrip("rRuU")[:3]
        lines[numbers[first]] = f"{start} ...{quote}"
        for k in range(first + 1, last + 1):
            del lines[numbers[k]]
    return Listing(listing.name, list(lines.items()))


def _docstring(text: str) -> tuple[int, int]:
    """Return the first and last line of a function's docstring, counted from 0; (0, 0) if none."""
    try:
        function = ast.parse(text).body[0]
    except (SyntaxError, ValueError, IndexError):
        return 0, 0
    if isinstance(function, ast.FunctionDef) and ast.get_docstring(function, clean=False):
        node = function.body[0]
        return node.lineno - 1, (node.end_lineno or node.lineno) - 1
    return 0, 0
