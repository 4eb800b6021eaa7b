"""Paths over a surface: how the steps of optimizers lead to its minimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator

from gpukit.draw import style
from gpukit.draw.pictures import MISSING
from gpukit.draw.throughput import LOOKS

_LEVELS = 12


def paths(
    x: Any, y: Any, height: Any, tracks: Mapping[str, Any], *, title: str, xlabel: str, ylabel: str
) -> Figure:
    """Draw contour lines, and each track (steps, 2) of points (x, y) over them.

    `height` (len(y), len(x)) is above 0; contours are at equal ratios. A cross marks its minimum.
    Raises ValueError for more tracks than are distinguishable.
    """
    if not 0 < len(tracks) <= len(LOOKS):
        raise ValueError(
            f"paths: expected 1 to {len(LOOKS)} tracks, got {len(tracks)}. Draw the others in a "
            "second picture."
        )
    height = np.asarray(height)
    levels = np.geomspace(height.min() * 1.2, height.max(), _LEVELS)
    row, col = np.unravel_index(height.argmin(), height.shape)
    with style.house():
        fig, axes = style.figure(8.4, 5.4 + 0.22 * len(tracks))
        axes.contour(x, y, height, levels=levels, colors=style.FAINT, linewidths=0.8)
        for (name, track), (colour, dashes, mark) in zip(tracks.items(), LOOKS, strict=False):
            across, down = np.asarray(track).T
            axes.plot(across, down, color=colour, ls=dashes, lw=1.6, marker=mark, ms=4, label=name)
        axes.plot(x[col], y[row], "x", color=style.INK, ms=12, mew=2.5)
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        style.legend(fig, fontsize=10, handlelength=4)
    return fig


def field(
    values: Any,
    x: tuple[float, float],
    y: tuple[float, float],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    bar: str,
    missing: str = "",
) -> Figure:
    """Draw values (rows, cols) over two axes, row 0 lowest, each axis from its first to its last.

    The scale is logarithmic. `missing` says what NaN means, which has its own colour.
    """
    values = np.asarray(values)
    with style.house():
        fig, axes = style.figure(8.4, 5.0)
        axes.set_facecolor(MISSING)
        drawn = axes.imshow(
            values,
            origin="lower",
            aspect="auto",
            extent=(*x, *y),
            interpolation="nearest",
            norm="log",
            cmap="viridis_r",
        )
        marks = LogLocator(subs=(1, 2, 5))
        fig.colorbar(drawn, ax=axes, label=bar, ticks=marks, format=FuncFormatter(_plain))
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if missing and np.isnan(values).any():
            patch = Patch(facecolor=MISSING, edgecolor=style.INK, label=missing)
            style.legend(fig, handles=[patch], fontsize=10)
    return fig


def _plain(value: float, _position: object = None) -> str:
    return f"{value:,g}"
