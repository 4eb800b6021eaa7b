"""Photographs to work on, and arrays shown as pictures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from gpukit.draw import style

MISSING = "#D55E00"


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

    Grey arrays are stretched from their least to their largest value; NaN, what no thread
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
    """Return RGB for imshow: colour as it is, grey stretched, NaN marked."""
    if image.ndim == 3:
        return image if image.dtype == np.uint8 else np.clip(image / 255, 0, 1)
    missing = np.isnan(image)
    low, high = (np.nanmin(image), np.nanmax(image)) if not missing.all() else (0.0, 1.0)
    grey = (image - low) / max(high - low, 1e-12)
    rgb = np.repeat(grey[:, :, None], 3, axis=2)
    rgb[missing] = [int(MISSING[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return rgb


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
