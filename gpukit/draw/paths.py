"""Paths over a surface: how the steps of optimizers lead to its minimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator

from gpukit.draw import style
from gpukit.draw.pictures import MISSING
from gpukit.draw.throughput import LOOKS

_LEVELS = 12
_MISSING: dict[str, Any] = {"fc": MISSING, "ec": style.INK, "hatch": "//", "lw": 0}


def paths(
    x: Any, y: Any, height: Any, tracks: Mapping[str, Any], *, title: str, xlabel: str, ylabel: str
) -> Figure:
    """Draw contour lines, and each track (steps, 2) of points (x, y) over them.

    `height` (len(y), len(x)) is the loss, above 0; contours are at equal ratios. A cross marks its
    minimum, a large mark the end of each track; the longest track is drawn first, below the others.
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
        looks = zip(tracks.items(), LOOKS, strict=False)
        for (name, track), look in sorted(looks, key=lambda pair: -_length(pair[0][1])):
            _path(axes, name, np.asarray(track), look)
        axes.plot(x[col], y[row], "x", color=style.INK, ms=12, mew=2.5)
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        style.legend(fig, handles=_keys(axes, tracks), fontsize=10, handlelength=4, ncols=2)
    return fig


def _length(track: Any) -> float:
    return float(np.linalg.norm(np.diff(np.asarray(track), axis=0), axis=1).sum())


def _path(axes: Any, name: str, track: Any, look: tuple[str, Any, str]) -> None:
    colour, dashes, mark = look
    axes.plot(*track.T, color=colour, ls=dashes, lw=1.6, marker=mark, ms=4, label=name)
    axes.plot(*track[-1], color=colour, marker=mark, ms=10, mec=style.INK, label="_end")


def _keys(axes: Any, tracks: Mapping[str, Any]) -> list[Any]:
    """Return the entries of the legend, the tracks in the order in which they are given."""
    drawn = {line.get_label(): line for line in axes.lines}
    mark: Any = {"marker": "o", "ms": 10, "ls": "", "mfc": style.FAINT, "mec": style.INK}
    return [
        *(drawn[name] for name in tracks),
        Line2D([], [], label="large mark: end of the path", **mark),
        Line2D([], [], color=style.FAINT, lw=0.8, label="lines of equal loss"),
    ]


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

    The scale is logarithmic. `missing` says what NaN means, which is hatched.
    """
    values = np.asarray(values)
    with style.house():
        fig, axes = style.figure(8.4, 5.0)
        axes.patch.set(**_MISSING)  # shows where values are missing
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
            style.legend(fig, handles=[Patch(label=missing, **_MISSING)], fontsize=10)
    return fig


def _plain(value: float, _position: object = None) -> str:
    return f"{value:,g}"
