"""A report in a notebook: HTML with its own styles, for light and for dark pages.

Text has the page's colour and boxes a half-transparent grey, so both themes work. The colour
of a severity is always shown beside its word.
"""

from __future__ import annotations

import html
import re

from gpukit.checked.finding import ERROR, INFO, WARNING
from gpukit.checked.report import content as report_parts

# The first ones are open, the next ones closed, the rest only counted: pages stay small.
OPEN, SHOWN = 3, 200

# White text on these has a contrast of at least 4.5.
_COLOURS = {ERROR: "#b3261e", WARNING: "#8a5a00", INFO: "#1c5d99"}

MONO = "font-family: var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace)"
_SECTION = (
    "max-width: 56em; margin: 0.5em 0; line-height: 1.5; "
    "font-family: var(--jp-ui-font-family, system-ui, sans-serif)"
)
SUMMARY = "font-size: 1.05em; font-weight: 600; margin: 0.4em 0"
_LIST = "list-style: none; margin: 0; padding: 0"
_ITEM = (
    "margin: 0.5em 0; border: 1px solid rgba(128, 128, 128, 0.4); border-radius: 4px; "
    "border-left: 5px solid"
)
_HEAD = "cursor: pointer; padding: 0.4em 0.7em"
_BADGE = "color: #fff; border-radius: 3px; padding: 0.1em 0.5em; font-weight: 600; background:"
_KIND = "display: inline; font-size: 1em; font-weight: 600; margin: 0 0 0 0.4em"
_PLACE = f"{MONO}; font-size: 0.92em; overflow-wrap: anywhere; margin-left: 0.4em"
_BODY = "padding: 0 0.9em 0.6em"
_PRE = (
    f"{MONO}; font-size: 0.92em; color: inherit; background: rgba(128, 128, 128, 0.13); "
    "padding: 0.4em 0.6em; margin: 0.2em 0 0.5em; border-radius: 3px; overflow-x: auto; "
    "white-space: pre"
)
_NUMBER = "opacity: 0.75; user-select: none"
_TEXT = "margin: 0.3em 0"
CODE = (
    f"{MONO}; font-size: 0.92em; color: inherit; background: rgba(128, 128, 128, 0.13); "
    "padding: 0 0.25em; border-radius: 3px"
)


def render(report: report_parts.ShownReport) -> str:
    """Return the report as one section of a page."""
    shown = report.findings[:SHOWN]
    items = "".join(_item(finding, place < OPEN) for place, finding in enumerate(shown))
    parts = [_tag("h3", SUMMARY, _escaped(report.summary))]
    if items:
        parts.append(f'<ol role="list" style="{_LIST}">{items}</ol>')
    hidden = len(report.findings) - len(shown)
    if hidden:
        more = f"{hidden} more are not shown here; `report.findings` has all of them."
        parts.append(_tag("p", _TEXT, _words(more)))
    parts += [_tag("p", _TEXT, f"Note: {_words(note)}") for note in report.notes]
    body = "".join(parts)
    return f'<section aria-label="What gpukit check found" style="{_SECTION}">{body}</section>'


def _item(finding: report_parts.Shown, is_open: bool) -> str:
    colour = _COLOURS[finding.severity]
    head = "".join(
        (
            _tag("span", f"{_BADGE} {colour}", finding.severity),
            _tag("h4", _KIND, _escaped(finding.kind)),
            f" {_escaped(finding.title)}",
            _tag("span", _PLACE, _escaped(report_parts.where(finding))),
        )
    )
    opened = " open" if is_open else ""
    return (
        f'<li style="{_ITEM} {colour}"><details{opened}><summary style="{_HEAD}">{head}</summary>'
        f'<div style="{_BODY}">{_body(finding)}</div></details></li>'
    )


def _body(finding: report_parts.Shown) -> str:
    parts = [_source(finding), _tag("p", _TEXT, _words(finding.message))]
    if finding.fix:
        parts.append(_tag("p", _TEXT, f"<strong>What to do:</strong> {_words(finding.fix)}"))
    if finding.count > 1:
        parts.append(_tag("p", _TEXT, report_parts.times(finding)))
    return "".join(parts)


def _source(finding: report_parts.Shown) -> str:
    """Return the source lines with their numbers; the one that was caught is marked and bold."""
    lines = report_parts.source_lines(finding)
    digits = max((len(str(line.number)) for line in lines), default=0)
    shown = []
    for line in lines:
        number = f"{line.number:>{digits}} | " if line.number else ""
        gutter = _tag("span", _NUMBER, f"{'&gt;' if line.marked else ' '} {number}")
        code = _escaped(line.text)
        shown.append(gutter + (f"<strong>{code}</strong>" if line.marked else code))
    return _tag("pre", _PRE, "\n".join(shown)) if shown else ""


def _tag(name: str, style: str, inside: str) -> str:
    return f'<{name} style="{style}">{inside}</{name}>'


def _escaped(text: str) -> str:
    return html.escape(report_parts.clean(text))


def _words(text: str) -> str:
    """Escape a sentence, and format what is between backticks as code."""
    return re.sub(r"`([^`\n]+)`", rf'<code style="{CODE}">\1</code>', _escaped(text))
