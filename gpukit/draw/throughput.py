"""Quantities as areas, and functions of one variable, on axes of any scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import cycle
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

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
_FEW = 1200  # the ratio of the ends of a logarithmic axis below which 2 and 5 have labels, too
_LEAST_PLAIN = 0.9e-4  # an axis that begins lower has powers of ten as labels below 1


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
    x: Any,
    series: Mapping[str, Any],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    log: str = "",
    baseline: str = "",
) -> Figure:
    """Draw each series over x, with a legend below; `log` names the logarithmic axes, as in "xy".

    `baseline` is the name of a dotted line at y = 1, drawn where it is given. Series whose values
    are all equal are levels: lines without markers, behind the others. A y axis that is not
    logarithmic has a dotted line at 0 where the series reach below it.
    """
    if not 0 < len(series) <= len(LOOKS):
        raise ValueError(
            f"lines: expected 1 to {len(LOOKS)} series, got {len(series)}. Draw the others in a "
            "second picture."
        )
    with style.house():
        fig, axes = style.figure(8.4, 4.6 + 0.22 * len(series))
        for (name, values), look in zip(series.items(), cycle(LOOKS)):
            _line(axes, x, values, look, name)
        dotted: dict[str, Any] = {"color": style.INK, "lw": 1, "ls": (0, (1, 2)), "zorder": 0}
        if baseline:
            axes.axhline(1, label=baseline, **dotted)
        elif "y" not in log and axes.get_ylim()[0] < 0 < axes.get_ylim()[1]:
            axes.axhline(0, **dotted)
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if name in log:
                getattr(axes, f"set_{name}scale")("log")
                low, _ = axis.get_view_interval()
                log_ticks(axis, partial(_short, low=low))
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(alpha=0.3)
        style.legend(fig, fontsize=10, handlelength=4)
    return fig


def _line(axes: Any, x: Any, values: Any, look: tuple[str, Any, str], name: str) -> None:
    colour, dashes, mark = look
    level = len(x) > 1 and len(set(map(float, values))) == 1
    axes.plot(
        x,
        values,
        color=colour,
        ls=dashes,
        lw=2,
        marker="" if level else mark,
        ms=6,
        markevery=max(1, len(x) // _MARKS),
        zorder=1.9 if level else 2,
        label=name,
    )


def log_ticks(axis: Any, label: Callable[[float], str]) -> None:
    """Label decades, and within few of them also 2 and 5; the other ticks are minor ones."""
    low, high = axis.get_view_interval()
    few = high < low * _FEW
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=99))
    axis.set_minor_formatter(NullFormatter())


def _short(value: float, low: float = 1e-3) -> str:
    """Return a number as a label of an axis that begins at `low`.

    >>> _short(0.001), _short(1000), _short(10_000_000)
    ('0.001', '1,000', '10 million')
    >>> _short(0.001, low=1e-6), _short(1e-6, low=1e-6), _short(1, low=1e-6)
    ('1e-3', '1e-6', '1')
    """
    if value >= 1e6:
        return f"{value / 1e6:,g} million"
    if low < _LEAST_PLAIN and value < 1:
        digits, _, power = f"{value:.0e}".partition("e")
        return f"{digits}e{int(power)}"
    return f"{value:,g}"
