"""Example photographs, and arrays shown as pictures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit.draw import style

MISSING = "#D55E00"
MOST_CELLS = 24


def photo(name: str) -> npt.NDArray[np.uint8]:
    """Return one of scikit-learn's two photographs, uint8 of shape (427, 640, 3).

    They are "china", a temple, and "flower", a dahlia. The array is the caller's own.
    """
    if name not in ("china", "flower"):
        raise ValueError(f"photo: expected 'china' or 'flower', got {name!r}. Pick one.")
    from sklearn.datasets import load_sample_image

    return np.array(load_sample_image(f"{name}.jpg"))


def images(*pairs: Any, cols: int = 2, width: float = 9.0) -> Figure:
    """Draw arrays side by side: each argument is a title and an array.

    Grey arrays are scaled from their minimum to their maximum; NaN, an element that no thread
    wrote, is orange.
    """
    cols = min(cols, len(pairs))
    rows = math.ceil(len(pairs) / cols)
    shape = np.asarray(pairs[0][1]).shape
    high = width / cols * shape[0] / shape[1] + 0.35
    with style.house():
        fig, axes = style.figure(width, rows * high, rows, cols, squeeze=False)
        for axis, (title, image) in zip(axes.flat, pairs, strict=False):
            axis.imshow(_pixels(np.asarray(image)), interpolation="nearest")
            axis.set_title(title, fontsize=11)
        for axis in axes.flat:
            style.bare(axis)
    return fig


def _pixels(image: Any) -> Any:
    """Return RGB for imshow: colour as it is, grey scaled, NaN marked."""
    if image.ndim == 3:
        return image if image.dtype == np.uint8 else np.clip(image / 255, 0, 1)
    missing = np.isnan(image)
    low, high = (np.nanmin(image), np.nanmax(image)) if not missing.all() else (0.0, 1.0)
    grey = (image - low) / max(high - low, 1e-12)
    rgb = np.repeat(grey[:, :, None], 3, axis=2)
    rgb[missing] = [int(MISSING[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return rgb


def counts(*pairs: Any, marked: Any = ()) -> Figure:
    """Draw matrices of small integers as cells: each argument is a title and a matrix.

    A cell of 0 is empty, one of 1 blue, one of more orange, and shows its number. The cells
    (row, col) in `marked` have a thick border.
    """
    shapes = [np.asarray(values).shape for _, values in pairs]
    if max(cols for _, cols in shapes) > MOST_CELLS or max(rows for rows, _ in shapes) > MOST_CELLS:
        raise ValueError(
            f"counts: expected at most {MOST_CELLS} rows and columns, got "
            f"{', '.join(map(str, shapes))}. Draw a part."
        )
    wide = [cols for _, cols in shapes]
    with style.house():
        fig, axes = style.figure(
            0.3 * sum(wide) + 0.3 * len(pairs),
            0.3 * max(rows for rows, _ in shapes) + 0.5,
            1,
            len(pairs),
            squeeze=False,
            width_ratios=wide,
        )
        for axis, (title, values) in zip(axes.flat, pairs, strict=True):
            _cells(axis, np.asarray(values), marked)
            axis.set_title(title, fontsize=11)
    return fig


def _cells(axis: Any, values: Any, marked: Any) -> None:
    fills = (style.PAPER, style.SKY, style.ORANGE)
    for (row, col), value in np.ndenumerate(values):
        axis.add_patch(
            Rectangle((col, row), 1, 1, fc=fills[min(int(value), 2)], ec=style.FAINT, lw=0.5)
        )
        if value:
            axis.text(col + 0.5, row + 0.5, value, ha="center", va="center", fontsize=9)
    for row, col in marked:
        axis.add_patch(Rectangle((col, row), 1, 1, fill=False, ec=style.INK, lw=2.6, zorder=3))
    axis.set_xlim(-0.1, values.shape[1] + 0.1)
    axis.set_ylim(values.shape[0] + 0.1, -0.1)
    axis.set_aspect("equal")
    axis.set_anchor("N")
    style.bare(axis)


def matrix(values: Any, *, title: str, groups: Any, bar: str) -> Figure:
    """Draw a square matrix of pairs in viridis; `groups` names the group of each row, in order."""
    names, first, size = np.unique(groups, return_index=True, return_counts=True)
    middles = first + (size - 1) / 2
    with style.house():
        fig, axes = style.figure(6.6, 5.4)
        drawn = axes.imshow(values, interpolation="nearest")
        axes.set_title(title)
        axes.set_xticks(middles, names)
        axes.set_yticks(middles, names)
        axes.tick_params(length=0)
        fig.colorbar(drawn, ax=axes, label=bar)
    return fig


def curve(values: Any, *, title: str, x: str, y: str) -> Figure:
    """Draw a series of numbers as a line with dots."""
    with style.house():
        fig, axes = style.figure(7.0, 3.2)
        axes.plot(values, "o-", color=style.BLUE, lw=2, ms=4)
        axes.set_title(title)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(alpha=0.3)
    return fig
