"""A profile in a notebook: HTML with its own styles, for light and for dark pages.

Heat is a bar behind a number: its length says what its colour says. Text has the page's colour.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from gpukit.checked.profile import advice, source, tables
from gpukit.checked.profile import cells as profile_parts
from gpukit.checked.profile.cells import Cell, Column
from gpukit.checked.profile.source import Listing
from gpukit.checked.profile.tables import Table
from gpukit.checked.report.as_html import CODE, MONO, SUMMARY
from gpukit.checked.report.content import clean

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

_SECTION = (
    "max-width: 72em; margin: 0.5em 0; line-height: 1.45; "
    "font-family: var(--jp-ui-font-family, system-ui, sans-serif)"
)
_HEADING = "font-size: 1em; font-weight: 600; margin: 1em 0 0.3em"
_QUIET = "margin: 0.3em 0 0.6em; opacity: 0.8"
_SCROLL = "overflow-x: auto"
_TABLE = "border-collapse: collapse; margin: 0.2em 0; font-size: 0.92em; color: inherit"
_HEAD = (
    "padding: 0.2em 0.6em; font-weight: 600; vertical-align: bottom; white-space: nowrap; "
    "border-bottom: 1px solid rgba(128, 128, 128, 0.5); background: none; text-align:"
)
_DATA = (
    "padding: 0.15em 0.6em; white-space: nowrap; font-weight: normal; background: none; "
    "border-bottom: 1px solid rgba(128, 128, 128, 0.2); text-align:"
)
_HEAT = (
    f"{MONO}; padding: 0 0.5em; text-align: right; vertical-align: top; white-space: nowrap; "
    "min-width: 4.2em"
)
_BAR = "border-left: 1px solid rgba(128, 128, 128, 0.3)"
_NUMBER = (
    f"{MONO}; padding: 0 0.6em; text-align: right; opacity: 0.75; font-weight: normal; "
    "vertical-align: top; user-select: none; background: none"
)
_SOURCE = (
    f"{MONO}; text-align: left; vertical-align: top; width: 100%; min-width: 22em; "
    "white-space: pre-wrap; overflow-wrap: anywhere; text-indent: -4ch; padding:"
)
_BLANK = "height: 0.8em"
_TEXT = "margin: 0.3em 0"
_LIST = "margin: 0.3em 0; padding-left: 1.3em"
_MORE = "cursor: pointer; font-weight: 600; margin: 0.8em 0 0.2em"
# Vermillion of the palette; at this opacity, text on it is legible on light and dark pages.
_HOT = "rgba(213, 94, 0, 0.42)"


def render(profile: Profile) -> str:
    """Return the profile as one section of a page."""
    heading = _tag("h3", SUMMARY, _escaped(profile_parts.heading(profile)))
    parts = [
        heading,
        _tag("p", _QUIET, _escaped(profile_parts.subtitle(profile))),
        _totals(profile),
        _advice(profile),
        _source(profile),
        _table(tables.arrays(profile)),
        _table(tables.accesses(profile)),
        _occupancy(profile),
        _columns(profile),
        *(_tag("p", _TEXT, f"Note: {_words(note)}") for note in profile.notes),
    ]
    label = f"Profile of {_escaped(profile.kernel)}"
    return f'<section aria-label="{label}" style="{_SECTION}">{"".join(parts)}</section>'


def _totals(profile: Profile) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="{_DATA} left">{_escaped(label)}</th>'
        + "".join(_tag("td", f"{_DATA} left", _escaped(text)) for text in rest)
        + "</tr>"
        for label, *rest in tables.totals(profile)
    )
    if not rows:
        return _tag("p", _TEXT, "Nothing was counted.")
    table = f'<table aria-label="Totals" style="{_TABLE}"><tbody>{rows}</tbody></table>'
    return _tag("div", _SCROLL, table)


def _advice(profile: Profile) -> str:
    items = "".join(_tag("li", _TEXT, _words(text)) for text in advice.advise(profile))
    return _tag("h4", _HEADING, "Advice") + _tag("ul", _LIST, items)


# ---- the source with its heat columns ------------------------------------------------------------


def _source(profile: Profile) -> str:
    listings = source.listings(profile)
    if not listings:
        return ""
    columns = profile_parts.columns(profile)
    head = "".join(_column_head(column) for column in columns)
    bodies = "".join(_listing(profile, listing, columns) for listing in listings)
    table = (
        f'<table aria-label="Source with counts" style="{_TABLE}"><thead><tr>{head}'
        f'<th scope="col" style="{_HEAD} right">line</th>'
        f'<th scope="col" style="{_HEAD} left">source</th></tr></thead>{bodies}</table>'
    )
    legend = _tag("p", _QUIET, _escaped(f"Bars are heat. {profile_parts.legend('bar')}"))
    return _tag("h4", _HEADING, "Source") + _tag("div", _SCROLL, table) + legend


def _column_head(column: Column) -> str:
    title = _escaped(f"{column.what}. Nsight Compute: {column.metric}")
    return (
        f'<th scope="col" title="{title}" style="{_HEAD} right">{_escaped(column.top)}'
        f"<br>{_escaped(column.below)}</th>"
    )


def _listing(profile: Profile, listing: Listing, columns: list[Column]) -> str:
    rows = []
    for place, text in listing.places():
        line, number = profile_parts.line_of(profile, place), place.line
        cells = "".join(_heat(column, column.cell(line), number) for column in columns)
        rows.append(
            f'<tr style="background: none">{cells}'
            f'<th scope="row" style="{_NUMBER}">{number}</th>'
            f'<td style="{_SOURCE} 0 0 0 {_indent(text) + 4}ch">{_escaped(text.lstrip())}</td></tr>'
        )
    blank = f'<tr style="background: none; {_BLANK}"><td colspan="{len(columns) + 2}"></td></tr>'
    return f"<tbody>{''.join(rows)}{blank}</tbody>"


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _heat(column: Column, cell: Cell | None, line: int) -> str:
    if cell is None:
        return f'<td style="{_HEAT}; {_BAR}"></td>'
    title = _escaped(f"Line {line}: {cell.words}. Nsight Compute: {column.metric}")
    share = f"{100 * cell.heat:.0f}%"
    gradient = f"linear-gradient(to right, {_HOT} {share}, transparent {share})"
    bar = f"; background: {gradient} padding-box no-repeat" if cell.heat else ""
    style = f"{_HEAT}; {_BAR}{bar}"
    return f'<td title="{title}" style="{style}">{_escaped(cell.text)}</td>'


# ---- tables --------------------------------------------------------------------------------------


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    sides = ["left" if k in table.left else "right" for k in range(len(table.headers))]
    head = "".join(
        f'<th scope="col" style="{_HEAD} {side}">{_escaped(text)}</th>'
        for side, text in zip(sides, table.headers, strict=True)
    )
    rows = "".join(_row(row, sides) for row in table.rows)
    made = (
        f'<table aria-label="{table.caption}" style="{_TABLE}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
    return _tag("h4", _HEADING, table.caption) + _tag("div", _SCROLL, made)


def _row(row: tuple[str, ...], sides: list[str]) -> str:
    first, *rest = zip(row, sides, strict=True)
    cells = "".join(_tag("td", f"{_DATA} {side}", _escaped(text)) for text, side in rest)
    return f'<tr><th scope="row" style="{_DATA} {first[1]}">{_escaped(first[0])}</th>{cells}</tr>'


def _occupancy(profile: Profile) -> str:
    about = _tag("p", _QUIET, _escaped(tables.about_occupancy(profile)))
    return _table(tables.occupancy(profile)) + about


def _columns(profile: Profile) -> str:
    """Return what each heat column means and the metric that it models, in a collapsed section."""
    items = "".join(
        f"<dt><strong>{_escaped(column.name)}</strong></dt>"
        f'<dd style="margin: 0 0 0.4em 1.3em">{_escaped(column.what)}. Nsight Compute: '
        f"{_tag('code', f'{CODE}; overflow-wrap: anywhere', _escaped(column.metric))}</dd>"
        for column in profile_parts.columns(profile)
    )
    if not items:
        return ""
    summary = f'<summary style="{_MORE}">What the columns mean</summary>'
    return f'<details>{summary}<dl style="{_TEXT}">{items}</dl></details>'


def _tag(name: str, style: str, inside: str) -> str:
    return f'<{name} style="{style}">{inside}</{name}>'


def _escaped(text: str) -> str:
    return html.escape(clean(text))


def _words(text: str) -> str:
    """Escape a sentence, and format what is between backticks as code."""
    return re.sub(r"`([^`\n]+)`", rf'<code style="{CODE}">\1</code>', _escaped(text))
