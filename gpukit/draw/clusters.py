"""Pictures of training on many devices: scaling, computation and communication, memory.

Each picture has a function beside it that describes it, for its alt text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from gpukit.draw import style
from gpukit.draw.throughput import LOOKS

MOST_ROWS = 24
Curves = Mapping[str, tuple[Sequence[int], Sequence[float], Sequence[float]]]
Points = Mapping[str, tuple[Sequence[int], Sequence[float]]]
Steps = Mapping[str, tuple[float, float, float]]
Memories = Mapping[str, tuple[float, float, float, float]]

_PARTS = {
    "parameters": (style.SKY, None),
    "gradients": (style.ORANGE, "//"),
    "optimizer state": ("#66C5AB", ".."),
    "activations": (style.YELLOW, "\\\\"),
}
_BAND: dict[str, Any] = {"alpha": 0.14, "lw": 0}
_HIDDEN: dict[str, Any] = {"fc": "#E8C3AC", "ec": style.INK, "hatch": "///", "lw": 0.7}
_EXPOSED: dict[str, Any] = {"fc": style.VERMILLION, "ec": style.INK, "lw": 0.7}
_COMPUTE: dict[str, Any] = {"fc": style.SKY, "ec": style.INK, "lw": 0.7}
_WITHIN: dict[str, Any] = {"fc": style.SKY, "ec": style.INK, "lw": 0.9}
_OUTSIDE: dict[str, Any] = {"fc": style.ORANGE, "ec": style.INK, "lw": 0.9, "hatch": "///"}


# ---- scaling -------------------------------------------------------------------------------------


def scaling_curve(
    predictions: Curves, published: Points, *, title: str, marks: str = "published"
) -> Figure:
    """Draw efficiencies over numbers of devices: predictions as bands, published figures as marks.

    A prediction is (devices, low, high), without overlap of computation and communication and with
    full overlap; a published series is (devices, efficiencies). The efficiency is 1 where devices
    double the speed whenever they double. `marks` says what the figures are, if they are not
    published: "measured".
    """
    _some("scaling_curve", predictions, len(LOOKS))
    with style.house():
        fig, axes = style.figure(9.0, 5.0 + 0.22 * len(predictions))
        looks = dict(zip(dict.fromkeys([*predictions, *published]), cycle(LOOKS)))
        for name, (devices, low, high) in predictions.items():
            colour, dashes, _ = looks[name]
            axes.plot(devices, high, color=colour, ls=dashes, lw=2, label=f"{name}, model")
            if not np.allclose(low, high):
                axes.plot(devices, low, color=colour, ls=dashes, lw=2)
                axes.fill_between(devices, low, high, color=colour, **_BAND)
        for name, (devices, values) in published.items():
            colour, _, mark = looks[name]
            axes.plot(
                devices,
                values,
                mark,
                color=colour,
                mec=style.INK,
                ms=9,
                ls="",
                zorder=4,
                label=f"{name}, {marks}",
            )
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, 1.06)
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=24))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
        axes.axhline(1, color=style.INK, lw=1, ls=(0, (1, 2)), zorder=0)
        axes.set_title(title)
        axes.set_xlabel("devices")
        axes.set_ylabel("efficiency")
        axes.grid(alpha=0.3)
        keys, names = axes.get_legend_handles_labels()
        if axes.collections:
            keys.append(Patch(fc=style.INK, **_BAND))
            names.append("band: no overlap to full overlap")
        style.legend(fig, handles=keys, labels=names, fontsize=10, handlelength=3.2, ncols=2)
    return fig


def scaling_curve_in_words(
    predictions: Curves, published: Points, *, marks: str = "published"
) -> str:
    """Say what `scaling_curve` draws, for its alt text."""
    words = "Efficiency over the number of devices."
    for name, (devices, low, high) in predictions.items():
        ends = (
            f"{low[-1]:.0%}"
            if np.isclose(low[-1], high[-1])
            else f"{low[-1]:.0%} to {high[-1]:.0%}"
        )
        words += f" The model predicts {ends} for {name} on {devices[-1]:,} devices"
        words += f"; {marks}: {_points(*published[name])}." if name in published else "."
    for name in (name for name in published if name not in predictions):
        words += f" {name}, {marks}: {_points(*published[name])}."
    return words


def _points(devices: Sequence[int], values: Sequence[float]) -> str:
    return ", ".join(f"{value:.0%} on {n:,}" for n, value in zip(devices, values, strict=True))


def published_bars(figures: Mapping[str, tuple[float, float, float]], *, title: str) -> Figure:
    """Draw predictions relative to published figures: (published, low, high) by name.

    A bar is the range that a model predicts, over the published figure; it crosses the line at 1
    where the figure is in the range.
    """
    _some("published_bars", figures)
    with style.house():
        fig, axes = style.figure(9.0, 0.34 * len(figures) + 1.6)
        for row, (published, low, high) in enumerate(figures.values()):
            look = _WITHIN if low <= published <= high else _OUTSIDE
            wide = max((high - low) / published, 0.008)
            axes.add_patch(Rectangle((low / published, row - 0.3), wide, 0.6, **look))
        axes.axvline(1, color=style.INK, lw=1.4, ls="--", zorder=0)
        ends = [end / published for published, *range_ in figures.values() for end in range_]
        axes.set_xlim(min(*ends, 1) - 0.08, max(*ends, 1) + 0.08)
        axes.set_ylim(len(figures) - 0.4, -0.6)
        axes.set_yticks(range(len(figures)), list(figures), fontsize=10)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        axes.set_xlabel("prediction over published figure")
        axes.set_title(title)
        keys = [
            Patch(label="figure in the range of the model", **_WITHIN),
            Patch(label="outside it", **_OUTSIDE),
        ]
        style.legend(fig, handles=keys, ncols=2)
    return fig


def published_bars_in_words(figures: Mapping[str, tuple[float, float, float]]) -> str:
    """Say what `published_bars` draws, for its alt text."""
    found = [
        f"{name}: published {published:.3g}, predicted {low:.3g}"
        + (f" to {high:.3g}" if high > low else "")
        for name, (published, low, high) in figures.items()
    ]
    inside = sum(low <= published <= high for published, low, high in figures.values())
    words = f"Predictions over published figures: {inside} of {len(figures)} are in the range of "
    return f"{words}the model. {'; '.join(found)}."


# ---- computation and communication ---------------------------------------------------------------


def step_bars(steps: Steps, *, title: str) -> Figure:
    """Draw a bar per step: computation, and after it the communication that nothing hides.

    A step is (compute, communication, exposed), all in seconds; the communication that runs during
    the computation is a thin bar inside, of which only the length is meant: the time of the step
    does not depend on when it runs.
    """
    _some("step_bars", steps)
    with style.house():
        fig, axes = style.figure(9.0, 0.5 * len(steps) + 1.8)
        unit, name = _unit(_longest(steps))
        for row, (compute, communication, exposed) in enumerate(steps.values()):
            hidden = communication - exposed
            axes.add_patch(Rectangle((0, row - 0.36), compute / unit, 0.72, **_COMPUTE))
            if hidden > 0:
                corner = ((compute - hidden) / unit, row + 0.08)
                axes.add_patch(Rectangle(corner, hidden / unit, 0.28, **_HIDDEN))
            if exposed > 0:
                corner = (compute / unit, row - 0.36)
                axes.add_patch(Rectangle(corner, exposed / unit, 0.72, **_EXPOSED))
            end = (compute + exposed) / unit
            share = compute / (compute + exposed)
            axes.annotate(
                f"{share:.0%}", (end, row), (6, 0), textcoords="offset points", va="center"
            )
        _bar_axes(axes, list(steps), _longest(steps) / unit)
        axes.set_xlabel(f"time of a step in {name}; the percentage is that of computation")
        axes.set_title(title)
        keys = [
            Patch(label="computation", **_COMPUTE),
            Patch(label="communication, hidden (length only)", **_HIDDEN),
            Patch(label="communication, exposed", **_EXPOSED),
        ]
        style.legend(fig, handles=keys, ncols=3)
    return fig


def step_bars_in_words(steps: Steps) -> str:
    """Say what `step_bars` draws, for its alt text."""
    unit, times = _unit(_longest(steps))
    found = [
        f"{name}: {compute / (compute + exposed):.0%} of {(compute + exposed) / unit:.3g} {times} "
        f"is computation, {exposed / unit:.3g} of {communication / unit:.3g} {times} of "
        "communication is exposed"
        for name, (compute, communication, exposed) in steps.items()
    ]
    return f"Time of a step. {'; '.join(found)}."


def _longest(steps: Steps) -> float:
    return max(compute + exposed for compute, _, exposed in steps.values())


# ---- memory --------------------------------------------------------------------------------------


def memory_bars(memories: Memories, *, title: str, limit: float | None = None) -> Figure:
    """Draw a bar per rank: bytes of parameters, gradients, optimizer state and activations.

    A dashed line marks `limit`, the memory of a device.
    """
    _some("memory_bars", memories)
    most = max(*(sum(parts) for parts in memories.values()), limit or 0)
    unit, name = _bytes(most)
    with style.house():
        fig, axes = style.figure(9.0, 0.5 * len(memories) + 1.8)
        for row, parts in enumerate(memories.values()):
            left = 0.0
            for size, (fill, hatch) in zip(parts, _PARTS.values(), strict=True):
                look: dict[str, Any] = {"fc": fill, "ec": style.INK, "lw": 0.7, "hatch": hatch}
                axes.add_patch(Rectangle((left, row - 0.36), size / unit, 0.72, **look))
                left += size / unit
            over = limit is not None and left * unit > limit
            words = f"{left:.3g} {name}" + (": does not fit" if over else "")
            box = {"fc": style.PAPER, "ec": "none", "pad": 1}  # in front of the line of the limit
            axes.annotate(
                words, (left, row), (6, 0), textcoords="offset points", va="center", bbox=box
            )
        _bar_axes(axes, list(memories), 1.12 * most / unit)
        axes.set_xlabel(f"{name} per rank")
        axes.set_title(title)
        keys: list[Any] = [
            Patch(fc=fill, ec=style.INK, lw=0.7, hatch=hatch, label=part)
            for part, (fill, hatch) in _PARTS.items()
        ]
        if limit is not None:
            label = f"memory of a device: {limit / unit:.3g} {name}"
            mark: Any = {"color": style.INK, "lw": 1.6, "ls": "--"}
            keys.append(axes.axvline(limit / unit, zorder=2.5, label=label, **mark))
        style.legend(fig, handles=keys, ncols=3, handlelength=2.6)
    return fig


def memory_bars_in_words(memories: Memories, limit: float | None = None) -> str:
    """Say what `memory_bars` draws, for its alt text."""
    unit, name = _bytes(max(*(sum(parts) for parts in memories.values()), limit or 0))
    found = []
    for rank, parts in memories.items():
        sizes = zip(_PARTS, parts, strict=True)
        each = ", ".join(f"{size / unit:.3g} of {part}" for part, size in sizes)
        found.append(f"{rank}: {sum(parts) / unit:.3g} {name} ({each})")
    words = f"Memory per rank. {'; '.join(found)}."
    return words + (f" A device has {limit / unit:.3g} {name}." if limit else "")


# ---- shared --------------------------------------------------------------------------------------


def _some(function: str, given: Mapping[str, Any], most: int = MOST_ROWS) -> None:
    if not 0 < len(given) <= most:
        raise ValueError(
            f"{function}: expected 1 to {most} entries, got {len(given)}. Draw the others in a "
            "second picture."
        )


def _bar_axes(axes: Any, names: list[str], most: float) -> None:
    axes.set_xlim(0, most * 1.16)  # room for the words beside the longest bar
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def _unit(seconds: float) -> tuple[float, str]:
    """Return a unit in which the time is 1 or more, and its name.

    >>> _unit(0.02)
    (0.001, 'ms')
    """
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
    return next((pair for pair in units if seconds >= pair[0]), units[-1])


def _bytes(size: float) -> tuple[float, str]:
    """Return a unit of bytes in which the size is 1 or more, and its name.

    >>> _bytes(3e9)
    (1000000000.0, 'GB')
    """
    units = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    return next((pair for pair in units if size >= pair[0]), (1.0, "bytes"))
