"""A report in a terminal: plain text, coloured only where asked for."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Sequence

from gpukit.checked.finding import ERROR, INFO, WARNING
from gpukit.checked.messages.phrases import some
from gpukit.checked.report import content
from gpukit.table import code_lines, columns

WIDEST, NARROWEST = 100, 30

# Magenta, as in gcc's warnings: yellow is illegible on white.
_COLOURS = {ERROR: "1;31", WARNING: "1;35", INFO: "1;36", "strong": "1", "dim": "2", "good": "1;32"}
# Code this long is broken like words: a line must not exceed the width.
_LONG_CODE = 40


def render(
    report: content.ShownReport,
    *,
    colour: bool = False,
    width: int | None = None,
    limit: int,
    known: Sequence[content.Shown] = (),
) -> str:
    """Return the findings, one paragraph each, and the summary."""
    width = fitting(width)
    new = [finding for finding in report.findings if finding not in known]
    shown = new[:limit]
    paragraphs = [finding_text(finding, colour=colour, width=width) for finding in shown]
    hidden = len(new) - len(shown)
    if hidden:
        more = f"{hidden} more are not shown here; `report.findings` has all of them."
        paragraphs.append(wrapped(more, width))
    repeated = len(report.findings) - len(new)
    if repeated:
        again = f"Already printed above and not repeated: {some(repeated, 'finding')}."
        paragraphs.append(wrapped(again, width))
    paragraphs.append(_last(report, colour, width))
    return "\n\n".join(paragraphs)


def fitting(width: int | None) -> int:
    if width is None:
        width = columns(sys.stdout) or WIDEST
    return max(NARROWEST, min(width, WIDEST))


def _last(report: content.ShownReport, colour: bool, width: int) -> str:
    style = "good" if report.ok and report.launched else "strong"
    lines = [
        _paint(line, style if colour else "")
        for line in wrapped(report.summary, width).splitlines()
    ]
    lines += [wrapped(f"Note: {content.clean(note)}", width) for note in report.notes]
    return "\n".join(lines)


def finding_text(finding: content.Shown, *, colour: bool = False, width: int = WIDEST) -> str:
    """Return one finding: kind and location, the lines, the message, what to do."""
    place = content.where(finding)
    at = f" at {place}" if place and not place.startswith("in ") else f" {place}".rstrip()
    head, *rest = wrapped(f"{finding.severity}: {finding.kind}{at}", width).splitlines()
    mark = f"{finding.severity}:"
    if colour:
        head = head.replace(mark, _paint(mark, finding.severity), 1)
    lines = [head, *rest, *_source(finding, colour, width)]
    lines.append(wrapped(content.clean(finding.message), width, "  "))
    if finding.fix:
        fix = wrapped(f"What to do: {content.clean(finding.fix)}", width, "  ")
        mark = "What to do:"
        lines.append(fix.replace(mark, _paint(mark, "strong"), 1) if colour else fix)
    if finding.count > 1:
        lines.append(wrapped(content.times(finding), width, "  "))
    return "\n".join(lines)


def _source(finding: content.Shown, colour: bool, width: int) -> list[str]:
    """Return the source lines with their numbers; `>` marks the one that was caught."""
    shown = content.source_lines(finding)
    digits = max((len(str(line.number)) for line in shown), default=0)
    made = []
    for line in shown:
        mark = ">" if line.marked else " "
        gutter = f"  {mark} {line.number:>{digits}} | " if line.number else f"  {mark} "
        below = f"{'| ':>{len(gutter)}}" if line.number else " " * len(gutter)
        width = width - len(gutter)
        for number, part in enumerate(code_lines(line.text, width)):
            before = below if number else gutter
            made.append((_paint(before, "dim") if colour else before) + part)
    return made


def _paint(text: str, style: str) -> str:
    return f"\033[{_COLOURS[style]}m{text}\033[0m" if style else text


def wrapped(text: str, width: int, indent: str = "") -> str:
    """Break words at the width; short pieces of code between backticks stay in one piece."""
    kept = re.sub(
        r"`[^`\n]+`",
        lambda code: code[0].replace(" ", "\0") if len(code[0]) <= _LONG_CODE else code[0],
        text.replace("\0", " "),
    )
    lines = textwrap.wrap(
        kept,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\0", " ")
