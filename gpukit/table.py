"""Lay out tables and text to fit a terminal: wrap columns at words, or make rows paragraphs."""

from __future__ import annotations

import contextlib
import itertools
import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from gpukit import status

# Characters per line of a notebook's output in a window 1280 pixels wide, with Lab's file browser
# open. Lab breaks longer lines anywhere, even inside words.
NOTEBOOK = 76


def layout(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    width: int | None = None,
) -> tuple[list[str], list[list[str]]]:
    """Return the lines of the header and those of each row; without a width nothing is wrapped.

    The columns whose indices are in `right` hold numbers with units: right-aligned, never wrapped.

    >>> layout(["name", "what"], [["relu", "numbers below zero become zero"]], width=24)
    (['name  what'], [['relu  numbers below zero', '      become zero']])
    >>> layout(["name", "GB/s"], [["sum", "12.5"]], right=[1], width=8)
    ([], [['name: sum', '  GB/s:', '  12.5']])
    """
    columns = list(zip(headers, *rows, strict=True))
    widths, gap = [max(map(len, column)) for column in columns], 2
    if width is not None:
        least = [_least(column, k in right) for k, column in enumerate(columns)]
        if sum(least) + gap * (len(widths) - 1) > width:
            gap = 1
        available = width - gap * (len(widths) - 1)
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
    heads, *below = (_lines(row, widths, right, gap) for row in (headers, *rows))
    return heads, below


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


def _least(column: Sequence[str], numbers: bool) -> int:
    """Return the minimum width of a column."""
    head, *cells = column
    words = head.split() + (cells if numbers else [word for cell in cells for word in cell.split()])
    return max(map(len, words), default=0)


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[int], gap: int) -> list[str]:
    cells = [broken(cell, width) for cell, width in zip(row, widths, strict=True)]
    return [
        (" " * gap)
        .join(
            piece.rjust(width) if k in right else piece.ljust(width)
            for k, (piece, width) in enumerate(zip(pieces, widths, strict=True))
        )
        .rstrip()
        for pieces in itertools.zip_longest(*cells, fillvalue="")
    ]


def _paragraph(headers: Sequence[str], row: Sequence[str], width: int) -> list[str]:
    """Return a row as its first cell and, below it, `header: cell` of the others."""
    first, *pairs = [f"{head}: {cell}" for head, cell in zip(headers, row, strict=True)]
    indent = "  "
    kept = [pair.replace(" ", "\0") if len(pair) < width - 3 else pair for pair in pairs]
    lines = broken(", ".join(kept), width - len(indent))
    return [first, *(f"{indent}{line}".replace("\0", " ") for line in lines)]
