"""The picture of a class: results per exercise, points, frequent mistakes, bytes moved."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from gpukit.checked.messages.phrases import some
from gpukit.classroom import escape, statistics
from gpukit.classroom.statistics import ALMOST, NO_GRADE, NOTHING, RIGHT, WRONG, Summary
from gpukit.draw import style
from gpukit.draw.style import Picture
from gpukit.table import broken

_WIDTH = 9.6  # inches
_LINE = 0.34  # inches per bar
_FILLS = {
    RIGHT: ("#66C5AB", ""),
    ALMOST: (style.YELLOW, "///"),
    WRONG: ("#E58E5A", "xxx"),
    NOTHING: ("#C0C0C0", "..."),
    NO_GRADE: (style.PAPER, "\\\\\\"),
}
_MISTAKES, _MISTAKE_WIDTH, _MISTAKE_LINES = 8, 46, 3
_NAME = 26
_BINS = 20
_NUMBERED = 6  # different numbers of bytes in a row of which each shows its students
# What the font has; a name may hold any character.
_MISSING = re.compile("[^ -~\u00a1-\u024f\u0370-\u045f\u2010-\u2026]")


class _Panel(NamedTuple):
    """One part of the picture: its height in inches, and what draws it on axes."""

    height: float
    draw: Callable[[Any, Summary], None]


def draw(summary: Summary) -> Picture | None:
    """Return the picture of a class with its alt text; None for a class without grades."""
    panels = list(_panels(summary))
    if not panels:
        return None
    heights = [panel.height for panel in panels]
    ratios = {"height_ratios": heights}
    with style.house():
        fig, axes = style.figure(
            _WIDTH, sum(heights), len(panels), 1, squeeze=False, gridspec_kw=ratios
        )
        fig.set_layout_engine("constrained", hspace=0.06)
        for panel, place in zip(panels, axes[:, 0], strict=True):
            panel.draw(place, summary)
    return style.show(fig, alt=in_words(summary))


def _panels(summary: Summary) -> list[_Panel]:
    """Return the parts that have something to show."""
    totals = [total for total in summary["totals"].values() if total is not None]
    exercises, causes = summary["exercises"], summary["causes"][:_MISTAKES]
    found = []
    if exercises and summary["totals"]:
        found.append(_Panel(1.5 + _LINE * len(exercises), _outcomes))
    if totals and summary["of"]:
        found.append(_Panel(2.6, _totals))
    if causes:
        lines = sum(len(_label(one["cause"]).splitlines()) for one in causes)
        found.append(_Panel(1.1 + 0.12 * len(causes) + 0.2 * lines, _mistakes))
    if ranked := _ranked(summary):
        found.append(_Panel(1.3 + _LINE * len(ranked), _bytes))
    return found


def in_words(summary: Summary) -> str:
    """Describe the picture, for its alt text."""
    rates = [
        f"{escape.name(one['exercise'], 40)} {one['pass_rate']:.0%}"
        for one in summary["exercises"]
        if one["pass_rate"] is not None
    ]
    parts = [f"A class of {statistics.headline(summary)}"]
    parts += [f"Right answers: {', '.join(rates)}."] if rates else []
    if summary["causes"]:
        first = summary["causes"][0]
        who = some(first["students"], "student")
        parts.append(f"The most frequent mistake, of {who}: {escape.line(first['cause'], 160)}")
    return " ".join(parts)


def _outcomes(axes: Any, summary: Summary) -> None:
    """Draw a bar per exercise, of parts for each outcome."""
    exercises, most = summary["exercises"], len(summary["totals"])
    start = [0] * len(exercises)
    for outcome, (fill, hatch) in _FILLS.items():
        counts = [one["outcomes"][outcome] for one in exercises]
        if not any(counts):
            continue
        how: Any = {"color": fill, "hatch": hatch, "edgecolor": style.INK, "linewidth": 0.8}
        axes.barh(range(len(counts)), counts, 0.74, start, label=outcome, **how)
        for y, (left, count) in enumerate(zip(start, counts, strict=True)):
            if count >= 0.03 * most:
                style.inside(axes, left + count / 2, y, str(count), fill, fontsize=9)
        start = [left + count for left, count in zip(start, counts, strict=True)]
    _rows(axes, [one["exercise"] for one in exercises])
    axes.set_xlim(0, most)
    axes.set_xlabel("students")
    _whole_numbers(axes.xaxis)
    axes.set_title("Results", pad=28)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=5, frameon=False, borderpad=0)


def _totals(axes: Any, summary: Summary) -> None:
    """Draw how many students have how many points."""
    totals = [total for total in summary["totals"].values() if total is not None]
    least = summary["of"] / _BINS
    step = next(n * 10**k for k in range(9) for n in (1, 2, 5) if n * 10**k >= least)
    edges = [step * k - 0.5 for k in range(summary["of"] // step + 2)]
    axes.hist(totals, edges, color=style.SKY, edgecolor=style.INK, linewidth=0.8)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel(f"points of {summary['of']}" + (f", in steps of {step}" if step > 1 else ""))
    axes.set_ylabel("students")
    _whole_numbers(axes.yaxis)
    _whole_numbers(axes.xaxis)
    axes.set_title("Points")


def _mistakes(axes: Any, summary: Summary) -> None:
    """Draw how many students made each of the most frequent mistakes."""
    causes = summary["causes"][:_MISTAKES]
    counts = [one["students"] for one in causes]
    axes.barh(range(len(counts)), counts, 0.6, color=style.ORANGE, edgecolor=style.INK)
    for y, count in enumerate(counts):
        axes.annotate(str(count), (count, y), (4, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(causes)), [_label(one["cause"]) for one in causes], fontsize=9)
    _horizontal(axes)
    axes.set_xlim(0, 1.08 * max(counts))
    axes.set_xlabel("students")
    _whole_numbers(axes.xaxis)
    axes.set_title("Most frequent mistakes")


def _ranked(summary: Summary) -> list[tuple[str, dict[int, int]]]:
    """Return the exercises of which several right answers were counted, with students by bytes."""
    found = []
    for one in summary["exercises"]:
        students: dict[int, int] = {}
        for row in one["ranking"]:
            count = students.get(row["global_bytes"], 0)
            students[row["global_bytes"]] = count + len(row["students"])
        students.pop(0, None)
        if sum(students.values()) > 1:
            found.append((one["exercise"], students))
    return found


def _bytes(axes: Any, summary: Summary) -> None:
    """Draw how many times the fewest bytes of the class each right answer moves."""
    ranked = _ranked(summary)
    highest = 1.0
    for y, (_, students) in enumerate(ranked):
        fewest, everyone = min(students), sum(students.values())
        for moved, count in students.items():
            ratio, size = moved / fewest, 5 + 9 * math.sqrt(count / everyone)
            highest = max(highest, ratio)
            axes.plot(ratio, y, "o", ms=size, color=style.SKY, markeredgecolor=style.INK)
            if len(students) <= _NUMBERED:
                beside: Any = {"textcoords": "offset points", "va": "center", "fontsize": 9}
                axes.annotate(str(count), (ratio, y), (2 + size / 2, 0), **beside)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, max(2.2, 1.25 * highest))
    axes.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}")
    axes.minorticks_off()
    axes.grid(axis="x", color="#DDDDDD")
    axes.set_axisbelow(True)
    _rows(axes, [name for name, _ in ranked])
    axes.set_ylim(len(ranked) - 0.4, -0.6)
    axes.set_xlabel(
        "bytes moved to and from global memory / the fewest of the class\n"
        "(area and number: how many students)"
    )
    axes.set_title("Right answers by bytes moved")


def _rows(axes: Any, names: list[str]) -> None:
    """Name a row per exercise, the first at the top."""
    shown = [_drawable(escape.name(name, _NAME)) for name in names]
    axes.set_yticks(range(len(names)), shown, fontsize=10)
    _horizontal(axes)


def _horizontal(axes: Any) -> None:
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _whole_numbers(axis: Any) -> None:
    axis.get_major_locator().set_params(integer=True)


def _label(cause: str) -> str:
    """Return a sentence on a few lines."""
    lines = broken(escape.line(cause), _MISTAKE_WIDTH)
    if len(lines) > _MISTAKE_LINES:
        lines = [*lines[: _MISTAKE_LINES - 1], f"{lines[_MISTAKE_LINES - 1]} …"]
    return _drawable("\n".join(escape.line(line, _MISTAKE_WIDTH + 4) for line in lines))


def _drawable(text: str) -> str:
    """Return text for matplotlib: without formulas and characters that the font lacks."""
    lines = (_MISSING.sub("\u25a1", line).replace("$", r"\$") for line in text.split("\n"))
    return "\n".join(lines)
