"""A profile in a terminal: plain text, in which shading characters stand for heat."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gpukit.checked.profile import advice as profile_advice
from gpukit.checked.profile import cells as profile_parts
from gpukit.checked.profile import source as profile_source
from gpukit.checked.profile import tables
from gpukit.checked.profile.cells import Cell, Column
from gpukit.checked.profile.tables import Table
from gpukit.checked.report.as_text import fitting, wrapped
from gpukit.checked.report.content import clean
from gpukit.table import code_lines, layout

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

# How many pieces of advice are shown; `Profile.advice()` returns all.
MOST_ADVICE = 3
# Source is never narrower than this many characters: columns are left out instead.
_CODE = 42
_GAP, _COLUMN_GAP = "  ", " "
_STRONG, _DIM, _WARM, _HOT = "1", "2", "1;35", "1;31"


def render(profile: Profile, *, colour: bool = False, width: int | None = None) -> str:
    """Return the profile: what was launched, totals, advice, source with heat, tables."""
    width = fitting(width)
    page = _Page(colour, width)
    parts = [
        page.heading(profile),
        page.totals(profile),
        page.advice(profile),
        page.source(profile),
        page.table(tables.arrays(profile)),
        page.table(tables.accesses(profile)),
        page.occupancy(profile),
        page.notes(profile),
    ]
    return "\n\n".join(part for part in parts if part)


class _Page:
    def __init__(self, colour: bool, width: int) -> None:
        self.colour, self.width = colour, width
        self.shades = _shades()

    def paint(self, text: str, style: str) -> str:
        return f"\033[{style}m{text}\033[0m" if self.colour and style and text.strip() else text

    def title(self, text: str) -> str:
        return self.paint(text, _STRONG)

    # ---- parts -----------------------------------------------------------------------------------

    def heading(self, profile: Profile) -> str:
        name = wrapped(profile_parts.heading(profile), self.width).splitlines()
        below = wrapped(profile_parts.subtitle(profile), self.width)
        return "\n".join([*map(self.title, name), below])

    def totals(self, profile: Profile) -> str:
        rows = tables.totals(profile)
        if not rows:
            return "Nothing was counted."
        first, second, third = (max(len(row[k]) for row in rows) for k in range(3))
        beside = first + second + third + 2 * len(_GAP) <= self.width
        lines = []
        for label, words, counts in rows:
            if beside:
                lines.append(_GAP.join((label.ljust(first), words.ljust(second), counts)).rstrip())
            else:
                under = first + second + len(_GAP) > self.width
                indent = " " * (2 if under else first + len(_GAP))
                below = [wrapped(text, self.width, indent) for text in (words, counts) if text]
                if not under:
                    below[0] = label.ljust(len(indent)) + below[0].lstrip()
                lines += [label, *below] if under else below
        return "\n".join(lines)

    def advice(self, profile: Profile) -> str:
        texts = profile_advice.advise(profile)
        shown = texts[:MOST_ADVICE]
        lines = [self.title("Advice"), *(_bullet(text, self.width) for text in shown)]
        if len(texts) > len(shown):
            more = f"{len(texts) - len(shown)} more: profile.advice() returns all."
            lines.append(wrapped(more, self.width, "  "))
        return "\n".join(lines)

    def source(self, profile: Profile) -> str:
        """Return the lines of the kernel and of what it calls, the heat columns before them."""
        listings = profile_source.listings(profile)
        if not listings:
            return ""
        digits = max(len(str(n)) for each in listings for n, _ in each.lines)
        counted = profile_parts.columns(profile)
        columns = self._that_fit(counted, digits)
        widths = [max(len(c.top), len(c.below), 7) for c in columns]
        lines = [self.title("Source"), *self._heads(columns, widths)]
        for k, each in enumerate(listings):
            lines += [""] if k else []
            for place, text in each.places():
                line = profile_parts.line_of(profile, place)
                cells = [column.cell(line) for column in columns]
                lines.append(self._line(cells, widths, f"{place.line:>{digits}}", text))
        if columns:
            lines += ["", wrapped(self._legend(), self.width)]
        if left_out := [f"{c.top} {c.below}".strip() for c in counted[len(columns) :]]:
            named = ", ".join(left_out).replace("/ ", "/")
            more = f"Not shown for lack of space: {named}. Use a wider terminal to see them."
            lines.append(wrapped(more, self.width))
        return "\n".join(lines)

    def _that_fit(self, columns: list[Column], digits: int) -> list[Column]:
        width = self.width - digits - _CODE
        kept: list[Column] = []
        for column in columns:
            width -= max(len(column.top), len(column.below), 7) + len(_COLUMN_GAP)
            if width < 0 and kept:
                break
            kept.append(column)
        return kept

    def _heads(self, columns: list[Column], widths: list[int]) -> list[str]:
        pairs = list(zip(columns, widths, strict=True))
        tops = _COLUMN_GAP.join(column.top.rjust(width) for column, width in pairs)
        below = _COLUMN_GAP.join(column.below.rjust(width) for column, width in pairs)
        return [self.paint(text, _DIM) for text in (tops, below) if text.strip()]

    def _line(self, cells: list[Cell | None], widths: list[int], number: str, text: str) -> str:
        shown = _COLUMN_GAP.join(self._cell(c, w) for c, w in zip(cells, widths, strict=True))
        gutter = f"{_GAP if cells else ''}{number} | "
        width = self.width - sum(widths) - len(_COLUMN_GAP) * max(0, len(widths) - 1) - len(gutter)
        first, *rest = _broken(clean(text).rstrip(), width)
        lines = [(shown + self.paint(gutter, _DIM) + first).rstrip()]
        below = f"{'|':>{self.width - width - 1}} "
        return "\n".join([*lines, *(self.paint(below, _DIM) + each for each in rest)])

    def _cell(self, cell: Cell | None, width: int) -> str:
        if cell is None:
            return " " * width
        level = self.shades[-(-int(1000 * cell.heat) * 4 // 1000) if cell.heat > 0 else 0]
        style = _HOT if cell.heat > 0.75 else _WARM if cell.heat > 0.5 else ""
        return self.paint(f"{cell.text} {level}".rjust(width), style)

    def _legend(self) -> str:
        scale = " ".join(self.shades[1:])
        return f"Heat, from low to high: {scale}. {profile_parts.legend('shade')}"

    def table(self, table: Table) -> str:
        """Return a table as wide as the terminal."""
        if not table.rows:
            return ""
        right = [k for k in range(len(table.headers)) if k not in table.left]
        rows = [[clean(cell) for cell in row] for row in table.rows]
        heads, below = layout(table.headers, rows, right, self.width)
        made = [self.title(table.caption), *(self.paint(head, _DIM) for head in heads)]
        return "\n".join([*made, *(line for lines in below for line in lines)])

    def occupancy(self, profile: Profile) -> str:
        about = wrapped(tables.about_occupancy(profile), self.width)
        return f"{self.table(tables.occupancy(profile))}\n\n{about}"

    def notes(self, profile: Profile) -> str:
        return "\n".join(wrapped(f"Note: {clean(note)}", self.width) for note in profile.notes)


def _broken(text: str, width: int) -> list[str]:
    """Break a line of code that is too long, but cut comments and the lines of docstrings."""
    if len(text) <= width:
        return [text]
    code = text[: text.find("#")].rstrip() if "#" in text else text
    indent = len(text) - len(text.lstrip())
    if len(code) <= width - 4 or '"""' in text or indent > width - 12:
        return [f"{text[: width - 3].rpartition(' ')[0] or text[: width - 3]}..."]
    return code_lines(text, width)


def _bullet(text: str, width: int) -> str:
    return f"- {wrapped(clean(text), width, '  ')[2:]}"


def _shades() -> tuple[str, ...]:
    """Return five signs from cold to hot, letters where the terminal has no shades."""
    shades = (" ", "\N{LIGHT SHADE}", "\N{MEDIUM SHADE}", "\N{DARK SHADE}", "\N{FULL BLOCK}")
    try:
        "".join(shades).encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return (" ", ".", ":", "+", "#")
    return shades
