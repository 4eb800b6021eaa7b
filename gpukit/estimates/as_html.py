"""Estimates in a notebook: tables with their own styles, for light and for dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpukit.checked.report.content import clean
from gpukit.estimates import as_text

if TYPE_CHECKING:
    from gpukit.estimates.estimated import Estimate

_SECTION = (
    "max-width: 60em; margin: 0.5em 0; line-height: 1.45; "
    "font-family: var(--jp-ui-font-family, system-ui, sans-serif)"
)
_TABLE = "border-collapse: collapse; margin: 0.3em 0; color: inherit"
_CELL = (
    "padding: 0.15em 0.6em; text-align: {}; font-weight: {}; background: none; "
    "vertical-align: top; border-bottom: 1px solid rgba(128, 128, 128, 0.3)"
)
_NOTE = "margin: 0.2em 0; opacity: 0.8"
_SCROLL = "overflow-x: auto"


def one(estimate: Estimate) -> str:
    """Return one estimate as a section of a page."""
    title = as_text.heading(estimate)
    body = "".join(
        f'<tr><th scope="row" style="{_CELL.format("left", "600")}">{_escaped(label)}</th>'
        f'<td style="{_CELL.format("left", "normal")}">{_escaped(text)}</td></tr>'
        for label, text in as_text.rows(estimate)
    )
    return _section(title, f"<tbody>{body}</tbody>", as_text.notes(estimate))


def several(estimates: Sequence[Estimate]) -> str:
    """Return a table with a row per estimate."""
    sides = ["left", "left", "right", "right", "right", "left"]
    head = "".join(
        f'<th scope="col" style="{_CELL.format(side, "600")}">{_escaped(text)}</th>'
        for side, text in zip(sides, as_text.HEADERS, strict=True)
    )
    body = "".join(_row(as_text.cells(estimate), sides) for estimate in estimates)
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return _section("Estimates", table, as_text.shared_notes(estimates))


def _row(cells: Sequence[str], sides: Sequence[str]) -> str:
    first, *rest = zip(cells, sides, strict=True)
    tail = "".join(
        f'<td style="{_CELL.format(side, "normal")}">{_escaped(text)}</td>' for text, side in rest
    )
    head = f'<th scope="row" style="{_CELL.format(first[1], "normal")}">{_escaped(first[0])}</th>'
    return f"<tr>{head}{tail}</tr>"


def _section(title: str, rows: str, notes: Sequence[str]) -> str:
    label = _escaped(title)
    below = "".join(f'<p style="{_NOTE}">{_escaped(note)}</p>' for note in notes)
    return (
        f'<section aria-label="{label}" style="{_SECTION}"><p><strong>{label}</strong></p>'
        f'<div style="{_SCROLL}"><table aria-label="{label}" style="{_TABLE}">{rows}</table></div>'
        f"{below}</section>"
    )


def _escaped(text: str) -> str:
    return html.escape(clean(text))
