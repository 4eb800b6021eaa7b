"""Lay out tables and text to fit a terminal: wrap columns at words, or make rows paragraphs."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from gpukit import status

# Characters per line of a notebook's output in a window 1280 pixels wide, with Lab's file browser
# open. Lab breaks longer lines anywhere, even inside words.
NOTEBOOK = 76
# The minimum width of the column of names, beside which longer ones have lines of their own.
_LEAST_NAME = 12
_TIE = "\0"


def layout(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    width: int | None = None,
) -> tuple[list[str], list[list[str]]]:
    """Return the lines of the header and those of each row; without a width nothing is wrapped.

    The columns whose indices are in `right` hold numbers with units, or ranges of them, perhaps
    after a colon: right-aligned, and wrapped only at the colon and at the "to" of a range. A name
    in the first column that leaves too little space for the others has a line of its own.

    >>> layout(["name", "what"], [["relu", "numbers below zero become zero"]], width=24)
    (['name  what'], [['relu  numbers below zero', '      become zero']])
    >>> layout(["name", "time"], [["copy_one", "9 us to 1 ms"]], right=[1], width=14)
    (['name       time'], [['copy_one  9 us', '            to', '          1 ms']])
    >>> layout(["name", "GB/s"], [["sum", "12.5"]], right=[1], width=8)
    ([], [['name: sum', '  GB/s:', '  12.5']])
    """
    bodies = [[_tied(cell) if k in right else cell for k, cell in enumerate(row)] for row in rows]
    columns = list(zip(headers, *bodies, strict=True))
    widths, gap = [max(map(len, column)) for column in columns], 2
    if width is not None:
        least = [_least(column) for column in columns]
        if sum(least) + gap * (len(widths) - 1) > width:
            gap = 1
        available = width - gap * (len(widths) - 1)
        if sum(least) > available:
            least[0] = max(available - sum(least[1:]), _LEAST_NAME)
        if sum(least) > available:
            return [], [_paragraph(headers, row, width) for row in rows]
        while sum(widths) > available:
            wide = [
                k for k, (now, most) in enumerate(zip(widths, least, strict=True)) if now > most
            ]
            # Narrow the column where it costs the fewest lines; among equals the widest.
            cost = {
                k: _height(columns[k], widths[k] - 1) - _height(columns[k], widths[k]) for k in wide
            }
            widths[min(wide, key=lambda k: (cost[k], -widths[k]))] -= 1
    heads, *below = (_lines(row, widths, right, gap) for row in (headers, *bodies))
    return heads, below


def _tied(cell: str) -> str:
    """Tie the words of a number, not those of a range, by a character at which no line breaks."""
    return re.sub(r"(?<!\bto)(?<!:) (?!to\b)", _TIE, cell)


def broken(text: str, width: int) -> list[str]:
    """Wrap text between words only; a word longer than a line gets a line of its own."""
    if len(text) <= width and "\n" not in text:
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def fitted(text: str, width: int) -> Iterator[str]:
    """Wrap the lines of a text that are too long; continuation lines keep their indentation."""
    for line in text.splitlines():
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        if len(line) <= width:
            yield line
        else:
            yield from (f"{indent}{part}" for part in broken(words, max(width - len(indent), 20)))


def columns(stream: TextIO | None) -> int | None:
    """Return the width of a stream's terminal or of a notebook's page; None if unlimited."""
    with contextlib.suppress(ValueError):
        return int(os.environ.get("COLUMNS", "")) or None
    if status.in_notebook():
        return NOTEBOOK
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream else None
    except (OSError, ValueError):
        return None


def code_lines(line: str, width: int) -> list[str]:
    """Wrap a line of code between its words; continuation lines are indented further.

    A word longer than a line is broken, too, because other columns stand beside the source.

    >>> code_lines("    out[i] = first + second", 20)
    ['    out[i] = first +', '        second']
    """
    if len(line) <= width:
        return [line]
    text = line.lstrip()
    indent = min(len(line) - len(text), width // 4)
    return textwrap.wrap(
        text,
        width,
        break_on_hyphens=False,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
    )


def _height(column: Sequence[str], width: int) -> int:
    """Return how many lines the cells of a column take in total."""
    return sum(len(broken(cell, width)) for cell in column)


def _least(column: Sequence[str]) -> int:
    """Return the minimum width of a column."""
    return max((len(word) for cell in column for word in cell.split()), default=0)


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[int], gap: int) -> list[str]:
    cells = [broken(cell, width) for cell, width in zip(row, widths, strict=True)]
    name = cells[0] if cells and len(cells[0][0]) > widths[0] else []
    if name:
        cells[0] = []
    lines = [
        (" " * gap)
        .join(
            piece.rjust(width) if k in right else piece.ljust(width)
            for k, (piece, width) in enumerate(zip(pieces, widths, strict=True))
        )
        .rstrip()
        for pieces in itertools.zip_longest(*cells, fillvalue="")
    ]
    return [line.replace(_TIE, " ") for line in (*name, *lines)]


def _paragraph(headers: Sequence[str], row: Sequence[str], width: int) -> list[str]:
    """Return a row as its first cell and, below it, `header: cell` of the others."""
    first, *pairs = [f"{head}: {cell}" for head, cell in zip(headers, row, strict=True)]
    indent = "  "
    kept = [pair.replace(" ", "\0") if len(pair) < width - 3 else pair for pair in pairs]
    lines = broken(", ".join(kept), width - len(indent))
    return [first, *(f"{indent}{line}".replace("\0", " ") for line in lines)]
