"""Example photographs, and arrays shown as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from gpukit.draw import style

MISSING = "#D55E00"
MOST_CELLS = 24
_LEAST_CELL = 3  # points: smaller cells have no room for a mark of their own


def photo(name: str) -> npt.NDArray[np.uint8]:
    """Return one of scikit-learn's two photographs, uint8 of shape (427, 640, 3).

    They are "china", a temple, and "flower", a dahlia. The array is the caller's own.
    """
    if name not in ("china", "flower"):
        raise ValueError(f"photo: expected 'china' or 'flower', got {name!r}. Pick one.")
    from sklearn.datasets import load_sample_image

    return np.array(load_sample_image(f"{name}.jpg"))


def images(
    *pairs: Any, cols: int = 2, width: float = 9.0, span: tuple[float, float] | None = None
) -> Figure:
    """Draw arrays side by side, with pixels of one size: each argument is a title and an array.

    Grey arrays are scaled from their minimum to their maximum, or all from `span[0]` (black) to
    `span[1]` (white), so that they can be compared. NaN, an element that no thread wrote, is
    orange and hatched.
    """
    cols = min(cols, len(pairs))
    arrays = [np.asarray(array) for _, array in pairs]
    lines = [arrays[first : first + cols] for first in range(0, len(arrays), cols)]
    wide = [max(array.shape[1] for array in arrays[col::cols]) for col in range(cols)]
    high = [max(array.shape[0] for array in line) for line in lines]
    pixel = width / sum(wide)  # in inches
    with style.house():
        fig, axes = style.figure(
            width,
            pixel * sum(high) + 0.35 * len(lines),
            len(lines),
            cols,
            squeeze=False,
            width_ratios=wide,
            height_ratios=high,
        )
        for k, (axis, (title, _), array) in enumerate(zip(axes.flat, pairs, arrays, strict=False)):
            axis.imshow(_pixels(array, span), interpolation="nearest")
            axis.set_title(title, fontsize=11)
            axis.set_xlim(-0.5, wide[k % cols] - 0.5)  # all panels of a column have one width
            axis.set_ylim(high[k // cols] - 0.5, -0.5)
            if array.ndim == 2 and np.isnan(array).any():
                _mark_missing(axis, np.isnan(array), 72 * pixel)
        for axis in axes.flat:
            style.bare(axis)
    return fig


def _mark_missing(axis: Any, missing: Any, size: float) -> None:
    """Mark cells of `size` points so that they differ in grey: a diagonal in each, or hatching."""
    look: Any = {"ec": style.INK, "lw": 0.8}
    if size >= _LEAST_CELL:
        rows, cols = np.nonzero(missing)
        corners = [(cols, rows + 1), (cols + 1, rows)]
    else:
        edges = np.diff(np.pad(missing, ((0, 0), (1, 1))).astype(np.int8))
        (rows, left), right = np.nonzero(edges == 1), np.nonzero(edges == -1)[1]  # runs of each row
        corners = [(left, rows), (right, rows), (right, rows + 1), (left, rows + 1), (left, rows)]
        look |= {"lw": 0, "hatch": "////"}
    vertices = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    codes = np.tile([Path.MOVETO] + [Path.LINETO] * (len(corners) - 1), len(rows))
    outline = Path(vertices.reshape(-1, 2) - 0.5, codes)
    axis.add_patch(PathPatch(outline, fill=False, capstyle="butt", **look))


def _pixels(image: Any, span: tuple[float, float] | None = None) -> Any:
    """Return RGB for imshow: colour as it is, grey scaled, NaN marked."""
    if image.ndim == 3:
        return image if image.dtype == np.uint8 else np.clip(image / 255, 0, 1)
    missing = np.isnan(image)
    found = (np.nanmin(image), np.nanmax(image)) if not missing.all() else (0.0, 1.0)
    low, high = found if span is None else span
    grey = np.clip((image - low) / max(high - low, 1e-12), 0, 1)
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
