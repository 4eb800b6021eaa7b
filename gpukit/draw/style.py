"""Colours, fonts and `show`, which shows a figure with alt text for readers who cannot see it."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

# Okabe and Ito's colours, which colour-blind readers can distinguish. None is the only cue: the
# pictures also write numbers, draw borders or hatch.
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILLION, PURPLE, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#000000"
# Light enough for black text on top, and neighbours differ.
FILLS = (SKY, ORANGE, "#66C5AB", YELLOW, PURPLE, "#E58E5A", "#C0C0C0", "#B7A6E8")
# The background is a card: the same colours are readable on it in a light and a dark notebook.
INK, PAPER, FAINT = "#222222", "#F8F8F6", "#8A8A8A"

LEAST_ALT = 20
PALE = 0.05  # of the largest magnitude: signs of smaller values are not marked
_LEAST_CELL = 5.0  # points
_DPI = 132
_SHOWN_DPI = 88
_MARGIN = 0.18  # inches of background around the drawing

_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 11.0,
    "axes.titlesize": 13.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 11.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.8,
    "image.cmap": "viridis",
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}


@contextmanager
def house() -> Iterator[None]:
    """Draw in the house style, whatever the user's own matplotlib settings are."""
    with matplotlib.rc_context(_RC):
        yield


def figure(
    width: float, height: float, rows: int = 1, cols: int = 1, **rest: Any
) -> tuple[Figure, Any]:
    """Return a figure of this many inches that pyplot does not know, and its axes.

    Its background is opaque even outside the house style: text is readable on it in a
    light and in a dark notebook.
    """
    made = Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)
    FigureCanvasAgg(made)
    return made, made.subplots(rows, cols, **rest)


def bare(axes: Any) -> None:
    """Remove ticks and frame."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def legend(fig: Figure, **how: Any) -> None:
    """Write the legend below the picture."""
    fig.legend(loc="outside lower left", frameon=False, **how)


def inside(axes: Any, x: float, y: float, words: object, fill: str, **how: Any) -> None:
    """Write in the middle of a box of this fill, so that no hatch runs through the words."""
    behind = {"fc": fill, "ec": "none", "pad": 1.8}
    axes.text(x, y, words, ha="center", va="center", bbox=behind, **how)


def dashes(axes: Any, values: Any, most: float, points: float) -> bool:
    """Write a dash into the cells of an image that are below -`PALE` * most; return whether it did.

    The scale is from -most to most, dark at both ends: in grey nothing else has the sign. Cells of
    a side of fewer than 5 `points` stay empty.
    """
    values = np.asarray(values)
    below = values < -PALE * most
    if points < _LEAST_CELL or not below.any():
        return False
    dark = values < -0.55 * most
    for cells, colour in ((below & ~dark, INK), (below & dark, PAPER)):
        rows, cols = np.nonzero(cells)
        axes.plot(cols, rows, ls="", marker="_", ms=min(0.55 * points, 9), mew=1.3, color=colour)
    return True


def dash_key() -> Line2D:
    """Return the entry of a legend for `dashes`."""
    mark: Any = {"marker": "_", "ms": 8, "mew": 1.3, "ls": "", "color": INK}
    return Line2D([], [], label=f"negative, by more than {PALE:.0%} of the scale", **mark)


class Picture:
    """A figure and its alt text, as Jupyter shows them."""

    def __init__(self, png: bytes, alt: str, width: int) -> None:
        self.png, self.alt, self.width = png, alt, width

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return the picture as HTML with alt text, as PNG and as text.

        JupyterLab and nbconvert use the HTML: both drop the alt text of a bare PNG. The second copy
        is for what shows no HTML: an export to PDF through LaTeX would have no picture without it.
        """
        del include, exclude
        coded, words = base64.b64encode(self.png).decode("ascii"), html.escape(self.alt)
        page = (
            '<figure style="margin: 0.5em 0">'
            f'<img alt="{words}" width="{self.width}" style="max-width: 100%; height: auto;'
            ' border-radius: 8px"'
            f' src="data:image/png;base64,{coded}">'
            "<figcaption><details><summary>This picture in words</summary>"
            f"{words}</details></figcaption></figure>"
        )
        bundle = {"text/html": page, "image/png": coded, "text/plain": f"Picture: {self.alt}"}
        return bundle, {"image/png": {"alt": self.alt, "width": self.width}}


def show(fig: Figure, *, alt: str) -> Picture:
    """Return a figure as a picture that Jupyter shows; `alt` describes what it shows.

    Put it on the last line of a cell. Raises ValueError when the words say nothing.
    """
    alt = " ".join(alt.split())
    if len(alt) < LEAST_ALT:
        raise ValueError(
            f"show: expected alt to describe the picture in {LEAST_ALT} letters or more, "
            f"got {alt!r}. Describe it for a reader who cannot see it."
        )
    store = io.BytesIO()
    with house():
        fig.savefig(store, format="png", dpi=_DPI, bbox_inches="tight", pad_inches=_MARGIN)
    png = store.getvalue()
    pixels = int.from_bytes(png[16:20], "big")  # the width in a PNG's header
    return Picture(png, alt, round(pixels * _SHOWN_DPI / _DPI))
