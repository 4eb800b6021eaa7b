"""Quantities as areas, and functions of one variable, on axes of any scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import cycle
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from gpukit.draw import style

# Lines differ in dashes and markers too, never in colour alone.
LOOKS = (
    (style.BLUE, "-", "o"),
    (style.VERMILLION, "--", "s"),
    (style.BLACK, ":", "^"),
    ("#00735A", "-.", "D"),
    ("#8F4E7B", (0, (7, 2, 1, 2, 1, 2)), "v"),
    ("#6B6B6B", (0, (1, 1)), "x"),
)
_MARKS = 8
_LEAST_SIDE = 0.02


def areas(quantities: Mapping[str, float], *, title: str) -> Figure:
    """Draw each quantity as a square of proportional area, with its name and value below.

    Raises ValueError for a quantity that is not above 0.
    """
    if not quantities or min(quantities.values()) <= 0:
        raise ValueError(
            f"areas: expected one or more quantities above 0, got {dict(quantities)}. Leave out "
            "what is nothing: it has no area."
        )
    largest = max(quantities.values())
    sides = [3 * math.sqrt(value / largest) for value in quantities.values()]
    available = [max(side, 1.8) for side in sides]
    with style.house():
        fig, axes = style.figure(1.25 * (sum(available) + 0.4 * len(available)), 5.0)
        left = 0.0
        for (name, value), side, wide in zip(quantities.items(), sides, available, strict=True):
            drawn = max(side, _LEAST_SIDE)
            axes.add_patch(
                Rectangle((left, 0), drawn, drawn, facecolor=style.SKY, edgecolor=style.INK, lw=1)
            )
            axes.text(left, -0.15, f"{name}\n{value:,.0f}", va="top", linespacing=1.4)
            left += wide + 0.4
        axes.set_xlim(-0.1, left)
        axes.set_ylim(-0.65, 3.05)
        axes.set_aspect("equal")
        axes.set_title(title)
        style.bare(axes)
    return fig


def lines(
    x: Any, series: Mapping[str, Any], *, title: str, xlabel: str, ylabel: str, log: str = ""
) -> Figure:
    """Draw each series over x, with a legend below; `log` names the logarithmic axes, as in "xy".

    A dotted line marks 1 on a logarithmic y axis, 0 on another one, where the series reach it.
    """
    if not 0 < len(series) <= len(LOOKS):
        raise ValueError(
            f"lines: expected 1 to {len(LOOKS)} series, got {len(series)}. Draw the others in a "
            "second picture."
        )
    with style.house():
        fig, axes = style.figure(8.4, 4.6 + 0.22 * len(series))
        for (name, values), (colour, dashes, mark) in zip(series.items(), cycle(LOOKS)):
            axes.plot(
                x,
                values,
                color=colour,
                ls=dashes,
                lw=2,
                marker=mark,
                ms=6,
                markevery=max(1, len(x) // _MARKS),
                label=name,
            )
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if name in log:
                getattr(axes, f"set_{name}scale")("log")
                axis.set_major_formatter(FuncFormatter(_short))
        low, high = axes.get_ylim()
        level = 1 if "y" in log else 0
        if low < level < high:
            axes.axhline(level, color=style.INK, lw=1, ls=(0, (1, 2)), zorder=0)
        axes.tick_params(which="minor", length=0)
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(alpha=0.3)
        style.legend(fig, fontsize=10, handlelength=4)
    return fig


def _short(value: float, _position: object = None) -> str:
    """Return a number as an axis label.

    >>> _short(0.001), _short(1000), _short(10_000_000), _short(1e-06)
    ('0.001', '1,000', '10 million', '1e-06')
    """
    if value >= 1e6:
        return f"{value / 1e6:,g} million"
    return f"{value:,g}"
