"""Pictures of a training: its loss while it runs, confusion matrices, images side by side."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit import status
from gpukit.draw import style

PAUSE = 0.7  # seconds between two pictures: one takes about a tenth of that
MOST_CLASSES = 24


class LiveLoss:
    """The loss curve of a running training: `nn.fit(..., report=draw.LiveLoss())`.

    Called with the `nn.History` it draws, in a notebook, one picture that is updated in place: at
    most one per `PAUSE` seconds, and the last one. Elsewhere it shows nothing. `picture` is the
    last one drawn. Use a new one for each training.
    """

    def __init__(self, title: str = "A network learns") -> None:
        self.title = title
        self.picture: style.Picture | None = None
        self._handle: Any = None
        self._drawn = -math.inf

    def __call__(self, history: Any) -> None:
        """Draw the losses and accuracies of the history, if an update is due."""
        due = history.ended or time.perf_counter() - self._drawn >= PAUSE
        if not len(history.losses) or not due:
            return
        stopped = f" ({_stopped_in_words(history)})" if history.stopped else ""
        figure = loss_curve(
            history.losses, history.accuracies, steps=history.steps, title=self.title + stopped
        )
        self.picture = style.show(figure, alt=loss_curve_in_words(history))
        self._show()
        self._drawn = time.perf_counter()

    def _show(self) -> None:
        if self._handle is not None:
            self._handle.update(self.picture)
        elif status.in_notebook():
            from IPython import display as ipython

            show: Any = ipython.display  # which has no types
            self._handle = show(self.picture, display_id=True)


def loss_curve(
    losses: Any, accuracies: Sequence[float] = (), *, steps: int | None = None, title: str
) -> Figure:
    """Draw the loss of each step, with the mean of the last 10, and the accuracy of each epoch.

    The axis extends to `steps`, the total number of steps.
    """
    losses, steps = np.asarray(losses), steps or len(losses)
    panels = 2 if len(accuracies) else 1
    with style.house():
        fig, axes = style.figure(4.6 * panels + 1, 3.4, 1, panels, squeeze=False)
        left = axes[0, 0]
        left.plot(np.arange(1, len(losses) + 1), losses, color=style.SKY, lw=1, label="each step")
        means = np.array([losses[max(0, k - 10) : k].mean() for k in range(1, len(losses) + 1)])
        left.plot(
            np.arange(1, len(means) + 1),
            means,
            color=style.BLUE,
            lw=2,
            ls="--",
            label="mean of the last 10 steps",
        )
        left.set_xlim(0, steps + 1)
        left.set_ylim(bottom=0)
        left.set_xlabel("step")
        left.set_ylabel("loss")
        left.legend(frameon=False, fontsize=10)
        if len(accuracies):
            right = axes[0, 1]
            right.plot(np.arange(1, len(accuracies) + 1), accuracies, "o-", color=style.VERMILLION)
            right.set_ylim(0, 1.02)
            right.set_xlim(0, max(1, round(len(accuracies) * steps / len(losses))) + 0.5)
            right.set_xlabel("epoch")
            right.set_ylabel("accuracy")
        for axis in axes.flat:
            axis.grid(alpha=0.3)
        fig.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=13)
    return fig


def loss_curve_in_words(history: Any) -> str:
    """Say what `loss_curve` draws of an `nn.History`, for its alt text."""
    losses = history.losses
    words = f"Loss of {len(losses):,} of {history.steps:,} steps, from {losses[0]:.2f} "
    words += f"to {np.mean(losses[-10:]):.2g}, the mean of the last 10 steps."
    if history.accuracies:
        first, last = history.accuracies[0], history.accuracies[-1]
        when = "at the end" if history.ended else "now"
        words += f" Accuracy {100 * first:.1f} % after the first epoch, {100 * last:.1f} % {when}."
    if history.stopped:
        words += f" The training was {_stopped_in_words(history)}."
    return words


def _stopped_in_words(history: Any) -> str:
    return f"stopped by Ctrl-C after step {len(history.losses):,} of {history.steps:,}"


def confusion(counts: Any, *, title: str, names: Sequence[str] | None = None) -> Figure:
    """Draw how many of each class (rows) were predicted as each class (columns).

    Correct predictions are on the diagonal, blue; mistakes are orange with a thick border, and a
    cell without any is empty.
    """
    counts = np.asarray(counts)
    classes = len(counts)
    if counts.shape != (classes, classes) or not 0 < classes <= MOST_CLASSES:
        raise ValueError(
            f"confusion: expected a square of at most {MOST_CLASSES} classes, got {counts.shape}. "
            "nn.confusion makes one."
        )
    with style.house():
        fig, axes = style.figure(0.52 * classes + 1.2, 0.46 * classes + 1.2)
        for (row, col), count in np.ndenumerate(counts):
            if count:
                fill, edge = (style.SKY, 0.5) if row == col else (style.ORANGE, 1.8)
                place = (col - 0.46, row - 0.46)
                axes.add_patch(Rectangle(place, 0.92, 0.92, fc=fill, ec=style.INK, lw=edge))
                axes.text(col, row, f"{count}", ha="center", va="center")
        axes.set_xlim(-0.5, classes - 0.5)
        axes.set_ylim(classes - 0.5, -0.5)
        named = list(map(str, range(classes)) if names is None else names)
        axes.set_xticks(range(classes), named)
        axes.set_yticks(range(classes), named)
        axes.tick_params(length=0)
        axes.set_xlabel("predicted class")
        axes.set_ylabel("true class")
        axes.set_title(title)
    return fig


def grid(
    pictures: Any,
    words: Sequence[str] = (),
    *,
    title: str,
    cols: int = 10,
    marked: Collection[int] = (),
    signed: bool = False,
    side: float = 0.9,
    bar: str = "weight",
) -> Figure:
    """Draw small images (N, H, W), or (N, H, W, 3) in colour from 0 to 1, in rows of `cols`.

    All share one grey scale; with `signed` it is blue with dashes for negative values and red for
    positive ones, with a colour bar that `bar` names. `words` are written above them, and those
    whose indices are `marked` have a border.
    """
    pictures = np.asarray(pictures)
    if pictures.ndim not in (3, 4) or not pictures.size:
        raise ValueError(
            f"grid: expected pictures (N, H, W) or (N, H, W, 3), got {pictures.shape}. Give one or "
            "more; of images (N, 1, H, W) take [:, 0]."
        )
    if words and len(words) != len(pictures):
        raise ValueError(
            f"grid: expected a word for each of {len(pictures)} pictures, got {len(words)}. "
            "Leave out words, or give one for each."
        )
    count, cols = len(pictures), min(cols, len(pictures))
    rows = math.ceil(count / cols)
    low, high = float(pictures.min()), float(pictures.max())
    most = max(-low, high)
    look: dict[str, Any] = {"cmap": "gray"}
    if signed:
        look = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    elif pictures.ndim == 3:
        look |= {"vmin": low, "vmax": high}
    with style.house():
        fig, axes = style.figure(
            side * cols + 0.3 + signed,
            (side + 0.25 * bool(words)) * rows + 0.5,
            rows,
            cols,
            squeeze=False,
        )
        for axis in axes.flat:
            style.bare(axis)
        for number, (axis, picture) in enumerate(zip(axes.flat, pictures, strict=False)):
            drawn = axis.imshow(picture, interpolation="nearest", **look)
            if words:
                axis.set_title(words[number], fontsize=10, fontweight="normal", loc="center", pad=3)
            if number in marked:
                axis.add_patch(
                    Rectangle(
                        (0, 0),
                        1,
                        1,
                        transform=axis.transAxes,
                        fill=False,
                        ec=style.VERMILLION,
                        lw=4,
                    )
                )
        if signed:
            fig.colorbar(drawn, ax=axes, shrink=0.9, label=bar)
            _signs(fig, axes, pictures, most, side)
        fig.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=13)
    return fig


def _signs(fig: Figure, axes: Any, pictures: Any, most: float, side: float) -> None:
    points = 72 * side / max(pictures.shape[1:3])
    drawn = [
        style.dashes(axis, picture, most, points)
        for axis, picture in zip(axes.flat, pictures, strict=False)
    ]
    if any(drawn):
        style.legend(fig, handles=[style.dash_key()], fontsize=10)
