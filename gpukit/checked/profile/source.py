"""The source beside which a profile's counts are shown: the kernel's and that of its callees."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gpukit.compiler.frontend import source as frontend_source

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


@dataclass(frozen=True)
class Listing:
    """The lines of one function, by number. A docstring is folded into its first line."""

    name: str
    file: str
    lines: list[tuple[int, str]]

    def places(self) -> Iterator[tuple[Place, str]]:
        """Yield each line's place and text."""
        for number, text in self.lines:
            yield Place(self.file, number), text


def listings(profile: Profile) -> list[Listing]:
    """Return the functions to show, the kernel first; the common indent is removed."""
    return [_tidy(each) for each in _all(profile) if each.lines]


def _all(profile: Profile) -> list[Listing]:
    return [Listing(profile.kernel, profile.file, profile.source), *profile.called]


def called(places: Iterable[Any], file: str, own: list[tuple[int, str]]) -> list[Listing]:
    """Return the device functions with counted locations outside the kernel's lines in `file`."""
    known = {Place(file, number) for number, _ in own}
    found: dict[tuple[str, str, int], list[tuple[int, str]]] = {}
    for place in places:
        if Place(place.file, place.line) not in known:
            around = frontend_source.around(place.file, place.line, place.source)
            lines = around.listing if around else [(place.line, place.source)]
            found[place.file, around.tree.name if around else place.kernel, lines[0][0]] = lines
            known |= {Place(place.file, number) for number, _ in lines}
    return [Listing(name, file, lines) for (file, name, _), lines in sorted(found.items())]


def parsed(profile: Profile) -> Iterator[tuple[str, ast.Module]]:
    """Yield the file and the tree of each function whose source is known, with its line numbers."""
    for listing in _all(profile):
        text = textwrap.dedent("\n".join(text for _, text in listing.lines))
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        if listing.lines:
            yield listing.file, ast.increment_lineno(tree, listing.lines[0][0] - 1)


def one_sided(profile: Profile) -> frozenset[Place]:
    """Return the lines that hold an `if` without `else`: the lanes that skip it only wait."""
    return frozenset(
        Place(file, node.lineno)
        for file, tree in parsed(profile)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and not node.orelse
    )


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
    return Listing(listing.name, listing.file, list(lines.items()))


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
