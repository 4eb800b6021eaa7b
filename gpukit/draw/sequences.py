"""Sequences: the state of a recurrent network per time step, and which steps depend on others."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit.draw import style

_ROW, _LEAST, _WIDE = 0.12, 0.7, 6.6  # inches: a row, all rows, all columns
_BOX = 0.62
MOST_BOXES = 8


def over_time(*pairs: Any, title: str, xlabel: str = "step") -> Figure:
    """Draw matrices (rows, steps) below each other, time to the right: each argument is a title and
    a matrix.

    Each has a scale of its own. With negative values, white is 0, orange with a dash below and
    purple above; otherwise the scale begins at 0.
    """
    tables = [(name, np.asarray(values)) for name, values in pairs]
    steps = {values.shape[-1] for _, values in tables if values.ndim == 2}
    if len(steps) != 1 or any(values.ndim != 2 for _, values in tables):
        raise ValueError(
            "over_time: expected matrices (rows, steps) of as many steps, got shapes "
            f"{', '.join(str(values.shape) for _, values in tables)}. Turn a sequence of states "
            "(steps, units) with .T."
        )
    high = [max(_LEAST, _ROW * len(values)) for _, values in tables]
    with style.house():
        fig, axes = style.figure(
            8.4,
            sum(high) + 0.5 * len(high) + 0.7,
            len(tables),
            1,
            squeeze=False,
            sharex=True,
            height_ratios=high,
        )
        signs = [
            _matrix(fig, axis, name, values)
            for axis, (name, values) in zip(axes[:, 0], tables, strict=True)
        ]
        axes[-1, 0].set_xlabel(xlabel)
        fig.suptitle(title, fontweight="bold", fontsize=13, x=0.01, ha="left")
        if any(signs):
            style.legend(fig, handles=[style.dash_key()], fontsize=10)
    return fig


def _matrix(fig: Figure, axis: Any, name: str, values: Any) -> bool:
    """Draw a matrix and its colour bar; return whether negative values have dashes."""
    most = float(np.abs(values).max()) or 1.0
    signed = float(values.min()) < 0
    drawn = axis.imshow(
        values,
        aspect="auto",
        interpolation="nearest",
        cmap="PuOr" if signed else None,
        vmin=-most if signed else 0,
        vmax=most,
    )
    axis.set_title(name, fontsize=11, fontweight="normal")
    axis.set_yticks([])
    ticks = [-most, 0, most] if signed else [0, most]
    fig.colorbar(drawn, ax=axis, aspect=8, ticks=ticks, format="%.2g")
    side = 72 * min(max(_LEAST / len(values), _ROW), _WIDE / values.shape[1])
    return signed and style.dashes(axis, values, most, side)


def unrolled(steps: int = 6, samples: int = 3, *, together: int = 2) -> Figure:
    """Draw states as boxes, time steps to the right, samples downwards, and an arrow to each box
    from the one that it depends on. A frame marks the step `together`, computed by one launch.
    """
    if not (2 <= steps <= MOST_BOXES and 1 <= samples <= MOST_BOXES and 0 <= together < steps):
        raise ValueError(
            f"unrolled: expected 2 to {MOST_BOXES} steps, 1 to {MOST_BOXES} samples and one of the "
            f"steps, got {steps}, {samples} and {together}. Draw a part."
        )
    arrow = {"arrowstyle": "-|>", "color": style.INK, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    with style.house():
        fig, axes = style.figure(1.15 * steps + 1.4, 0.8 * samples + 1.2)
        for sample in range(samples):
            for step in range(steps):
                axes.add_patch(
                    Rectangle(
                        (step, sample),
                        _BOX,
                        _BOX,
                        fc=style.FILLS[sample % len(style.FILLS)],
                        ec=style.INK,
                        lw=1,
                    )
                )
                axes.text(
                    step + _BOX / 2, sample + _BOX / 2, f"$h_{{{step}}}$", ha="center", va="center"
                )
                if step:
                    left, middle = step - 1 + _BOX, sample + _BOX / 2
                    axes.annotate("", (step, middle), (left, middle), arrowprops=arrow)
            axes.text(-0.15, sample + _BOX / 2, f"sample {sample}", ha="right", va="center")
        axes.add_patch(
            Rectangle(
                (together - 0.12, -0.15),
                _BOX + 0.24,
                samples - 1 + _BOX + 0.3,
                fill=False,
                ec=style.VERMILLION,
                lw=2.4,
            )
        )
        axes.text(
            together + _BOX / 2, -0.25, "one launch", ha="center", va="bottom", color=style.INK
        )
        axes.text(0, samples + 0.05, "time", va="center")
        axes.annotate(
            "",
            (steps - 1 + _BOX, samples + 0.05),
            (0.55, samples + 0.05),
            arrowprops={**arrow, "color": style.FAINT},
        )
        axes.set_xlim(-1.3, steps - 1 + _BOX + 0.2)
        axes.set_ylim(samples + 0.25, -0.65)
        axes.set_aspect("equal")
        axes.set_title("Dependencies between time steps")
        style.bare(axes)
    return fig
