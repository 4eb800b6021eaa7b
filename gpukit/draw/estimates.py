"""A picture of estimates: a bar per variant, from its floor over the likely time to the worst."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from gpukit.draw import style
from gpukit.draw.throughput import log_ticks
from gpukit.estimates.as_text import seconds

if TYPE_CHECKING:
    from gpukit.estimates import Estimate

MOST = 24


def estimates(
    found: Estimate | Iterable[Estimate],
    *,
    published: Mapping[str, float] | None = None,
    title: str = "Estimated times",
) -> Figure:
    """Draw each estimate on a logarithmic axis of time: floor, and the band from likely to worst.

    `published` are measured times in seconds by kernel, drawn where there are some. An estimate
    that has no likely time is its floor alone; one without a floor has a row and no mark.
    """
    rows, measured = _listed(found), published or {}
    ends = [t for e in rows for t in (e.floor, e.likely, e.worst) if t]
    ends += [measured[e.kernel] for e in rows if e.kernel in measured]
    with style.house():
        fig, axes = style.figure(9.0, 0.42 * len(rows) + 1.9)
        axes.set_xscale("log")
        for row, estimate in enumerate(rows):
            _bar(axes, row, estimate, measured.get(estimate.kernel))
        if ends:
            axes.set_xlim(min(ends) / 1.5, max(ends) * 1.5)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), _names(rows), fontsize=10)
        axes.tick_params(axis="y", length=0)
        log_ticks(axes.xaxis, seconds)
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        axes.set_xlabel("time; estimates for this input only, not measurements")
        axes.set_title(title)
        style.legend(fig, handles=_keys(any(e.kernel in measured for e in rows)), ncols=4)
    return fig


def estimates_in_words(
    found: Estimate | Iterable[Estimate], *, published: Mapping[str, float] | None = None
) -> str:
    """Describe what `estimates` draws, for its alt text."""
    rows, measured = _listed(found), published or {}
    sentences = []
    for name, estimate in zip(_names(rows), rows, strict=True):
        if estimate.likely is None:
            text = f"{name}: floor {seconds(estimate.floor)}, no likely time"
        else:
            text = (
                f"{name}: floor {seconds(estimate.floor)}, likely {seconds(estimate.likely)}, "
                f"worst {seconds(estimate.worst)}, limited by {estimate.bound}"
            )
        if estimate.kernel in measured:
            text += f", published {seconds(measured[estimate.kernel])}"
        sentences.append(f"{text}.")
    return f"Estimated times, not measured ones. {' '.join(sentences)}"


def _listed(found: Estimate | Iterable[Estimate]) -> Sequence[Estimate]:
    rows: list[Any] = [found] if hasattr(found, "likely") else list(found)
    if not 0 < len(rows) <= MOST:
        raise ValueError(
            f"estimates: expected 1 to {MOST} estimates, got {len(rows)}. Draw the others in a "
            "second picture."
        )
    return rows


def _names(rows: Sequence[Estimate]) -> list[str]:
    """Return the kernels, or the GPUs, or both: what tells the rows apart."""
    if len({e.gpu for e in rows}) == 1:
        return [e.kernel for e in rows]
    if len({e.kernel for e in rows}) == 1:
        return [e.gpu for e in rows]
    return [f"{e.kernel}, {e.gpu}" for e in rows]


def _bar(axes: Any, row: int, estimate: Estimate, measured: float | None) -> None:
    if estimate.likely is not None and estimate.worst is not None:
        wide = estimate.worst - estimate.likely
        axes.add_patch(Rectangle((estimate.likely, row - 0.3), wide, 0.6, **_BAND))
        axes.plot([estimate.likely] * 2, [row - 0.36, row + 0.36], color=style.BLUE, lw=3.5)
        words = f"{seconds(estimate.likely)}, {estimate.bound}"
        place = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 9}
        axes.text(1.01, row, words, **place)
    if estimate.floor is not None:
        axes.plot([estimate.floor] * 2, [row - 0.3, row + 0.3], color=style.INK, lw=1.6)
    if measured is not None:
        axes.plot(measured, row - 0.36, "v", color=style.VERMILLION, mec=style.INK, ms=8, zorder=4)


_BAND: dict[str, Any] = {"fc": style.SKY, "ec": style.INK, "lw": 0.8, "alpha": 0.45}


def _keys(published: bool) -> list[Any]:
    keys = [
        Line2D([], [], color=style.INK, lw=1.6, label="floor"),
        Line2D([], [], color=style.BLUE, lw=3.5, label="likely"),
        Patch(label="likely to worst case", **_BAND),
    ]
    mark: Any = {"marker": "v", "color": style.VERMILLION, "mec": style.INK, "ls": ""}
    return [*keys, Line2D([], [], label="published", **mark)] if published else keys
