"""Attention weights as pictures: which query attends to which key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gpukit.draw import style

MOST_NUMBERS = 12
MOST_POSITIONS = 80
_LABEL = 0.12  # inches per position, for labels of 8 points


def attention_weights(
    *pairs: Any, rows: Sequence[str], cols: Sequence[str] | None = None
) -> Figure:
    """Draw weights as maps: each argument is a title and an array (queries, keys).

    Up to three maps are side by side, more in lines of two.

    `rows` names the queries, `cols` the keys, which are the same positions where it is
    missing. All maps have one scale, from white for 0; with up to 12 positions per side the cells
    show percentages, with more there is a colour bar. Raises ValueError for names that do not
    match the weights, and for more than 80 positions.
    """
    cols = rows if cols is None else cols
    shape = len(rows), len(cols)
    for title, weights in pairs:
        if np.shape(weights) != shape or max(shape) > MOST_POSITIONS:
            raise ValueError(
                f"attention_weights: expected weights of shape {shape}, a row per name and at most "
                f"{MOST_POSITIONS} per side, got {np.shape(weights)} for {title!r}. Draw a part."
            )
    most = max(np.max(weights) for _, weights in pairs)
    few = max(shape) <= MOST_NUMBERS
    side = 4.2 if few else max(5.6, _LABEL * max(shape) + 1.0)
    columns = len(pairs) if len(pairs) <= 3 else 2
    lines = -(-len(pairs) // columns)
    height = side * shape[0] / shape[1] + 0.7
    with style.house():
        fig, axes = style.figure(side * columns, height * lines, lines, columns, squeeze=False)
        for spare in axes.flat[len(pairs) :]:
            spare.set_axis_off()
        for axis, (title, weights) in zip(axes.flat, pairs, strict=False):
            image = _map(axis, np.asarray(weights, np.float64), most, rows, cols)
            axis.set_title(title, fontsize=11)
            axis.set_xlabel("key; weights in %" if few else "key")
        for first in axes[:, 0]:
            first.set_ylabel("query")
        if not few:
            fig.colorbar(image, ax=axes, label="weight", fraction=0.03, pad=0.02)
    return fig


def _map(axis: Any, weights: Any, most: float, rows: Sequence[str], cols: Sequence[str]) -> Any:
    image = axis.imshow(weights, vmin=0, vmax=most, cmap="Blues", interpolation="nearest")
    few = max(weights.shape) <= MOST_NUMBERS
    size = 10 if few else 8
    axis.set_xticks(range(len(cols)), cols, fontsize=size, family="DejaVu Sans Mono")
    axis.set_yticks(range(len(rows)), rows, fontsize=size, family="DejaVu Sans Mono")
    axis.tick_params(length=0)
    for (row, col), weight in np.ndenumerate(weights if few else np.empty((0, 0))):
        if weight > 0:
            colour = style.PAPER if weight > 0.6 * most else style.INK
            axis.text(
                col, row, f"{100 * weight:.0f}", ha="center", va="center", fontsize=9, color=colour
            )
    return image
