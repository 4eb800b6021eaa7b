"""Pictures of threads that add together: trees, active threads per round, scans, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from gpukit import errors
from gpukit.draw import style

MOST_THREADS = 64
MOST_VALUES = 16
MOST_POINTS = 1000


def chain_and_tree(n: int = 8) -> Figure:
    """Draw two orders of adding n numbers, n a power of two: one after another, and in pairs."""
    if n not in (4, 8, 16):
        raise errors.LaunchError(
            f"chain_and_tree: expected 4, 8 or 16 numbers, got {n}. Draw 8: they show the shape."
        )
    rounds = n.bit_length() - 1
    with style.house():
        fig, (left, right) = style.figure(9.6, 0.42 * n + 1.5, 1, 2, sharey=True)
        _numbers(left, n)
        for k in range(1, n):
            below = (0, 0) if k == 1 else (k - 1, k - 1)
            _addition(left, (k, k), below, (k, 0))
        left.set_title(f"one after another: {n - 1} additions in a row", fontsize=11)
        _numbers(right, n)
        rise = (n - 1) / rounds
        at = [(float(k), 0.0) for k in range(n)]
        for k in range(1, rounds + 1):
            pairs = list(zip(at[::2], at[1::2], strict=True))
            at = [((a[0] + b[0]) / 2, k * rise) for a, b in pairs]
            for node, (a, b) in zip(at, pairs, strict=True):
                _addition(right, node, a, b)
        right.set_title(f"in pairs: {n - 1} additions in {rounds} rounds", fontsize=11)
        for axes in (left, right):
            style.bare(axes)
            axes.set_xlim(-0.7, n - 0.3)
            axes.set_ylim(-0.8, n - 0.2)
    return fig


def _numbers(axes: Any, n: int) -> None:
    for k in range(n):
        axes.add_patch(
            Rectangle(
                (k - 0.36, -0.36), 0.72, 0.72, fc=style.FILLS[6], ec=style.INK, lw=0.8, zorder=2
            )
        )
        axes.text(k, 0, f"x{k}", ha="center", va="center", fontsize=9, zorder=3)


def _addition(axes: Any, at: Any, *operands: Any) -> None:
    for x, y in operands:
        axes.plot([x, at[0]], [y, at[1]], color=style.FAINT, lw=1.4, zorder=1)
    axes.plot(*at, "o", ms=17, color=style.SKY, markeredgecolor=style.INK, zorder=2)
    axes.text(*at, "+", ha="center", va="center_baseline", fontsize=12, zorder=3)


def who_works(*pairs: Any, steps: Any = (), warp: int = 32) -> Figure:
    """Draw which threads work in each round; each argument is a title and flags [round, thread].

    `steps` are written after the rounds' numbers. A warp in which no thread works is left out of
    the round; one in which any does must run, and its other threads are inactive.
    """
    flags = [np.asarray(mask, bool) for _, mask in pairs]
    if max(mask.shape[1] for mask in flags) > MOST_THREADS:
        raise errors.LaunchError(
            f"who_works: expected at most {MOST_THREADS} threads to draw, got "
            f"{max(mask.shape[1] for mask in flags)}. Draw a smaller block: it looks the same."
        )
    with style.house():
        high = sum(0.26 * len(mask) + 0.62 for mask in flags) + 0.7
        fig, all_axes = style.figure(9.6, high, len(pairs), 1, squeeze=False)
        for axes, (title, _), mask in zip(all_axes[:, 0], pairs, flags, strict=True):
            _rounds(axes, mask, steps, warp)
            axes.set_title(title, fontsize=11)
        all_axes[-1, 0].set_xlabel("thread")
        keys = [
            Patch(fc=style.BLUE, ec=style.INK, label="adds"),
            Patch(
                fc=style.PAPER,
                ec=style.FAINT,
                hatch="/////",
                label="inactive, while others of its warp add",
            ),
            Patch(
                fc="#E4E4E2",
                ec="#E4E4E2",
                label="its whole warp skips the addition and waits at the barrier",
            ),
        ]
        style.legend(fig, handles=keys, ncols=3, fontsize=9)
    return fig


def _rounds(axes: Any, mask: Any, steps: Any, warp: int) -> None:
    rounds, threads = mask.shape
    names = [f"round {k + 1}" for k in range(rounds)]
    if len(steps):
        names = [f"{name}, step {step}" for name, step in zip(names, steps, strict=True)]
    for level in range(rounds):
        running = 0
        for first in range(0, threads, warp):
            lanes = mask[level, first : first + warp]
            running += int(lanes.any())
            for k, works in enumerate(lanes):
                if works:
                    look: Any = {"fc": style.BLUE, "ec": style.INK}
                elif lanes.any():
                    look = {"fc": style.PAPER, "ec": style.FAINT, "hatch": "/////"}
                else:
                    look = {"fc": "#E4E4E2", "ec": "#E4E4E2"}
                axes.add_patch(Rectangle((first + k - 0.5, level - 0.4), 1, 0.8, lw=0.6, **look))
        adding = "1 warp adds" if running == 1 else f"{running} warps add"
        axes.text(threads + 0.2, level, adding, va="center", fontsize=9)
    for edge in range(warp, threads, warp):
        axes.axvline(edge - 0.5, color=style.INK, lw=2)
    axes.set_xlim(-0.6, threads + 7)
    axes.set_ylim(rounds - 0.5, -0.5)
    axes.set_yticks(range(rounds), names, fontsize=9)
    axes.set_xticks(
        range(0, threads + 1, 8),
        [f"{k}" if k < threads else "" for k in range(0, threads + 1, 8)],
        fontsize=9,
    )
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def scan_steps(values: Any) -> Figure:
    """Draw a scan in steps of 1, 2, 4, ...: what each thread holds, and which sum it adds."""
    row = np.asarray(values)
    if not 2 <= row.size <= MOST_VALUES or row.ndim != 1:
        raise errors.LaunchError(
            f"scan_steps: expected 2 to {MOST_VALUES} values, got shape {row.shape}. Draw 8."
        )
    with style.house():
        levels = (row.size - 1).bit_length()
        fig, axes = style.figure(max(6.4, 0.72 * row.size + 2.0), 0.95 * levels + 1.6)
        names = ["values"]
        _row(axes, row, 0, row.size)
        for level in range(1, levels + 1):
            step = 1 << (level - 1)
            after = row.copy()
            after[step:] += row[:-step]
            for k in range(step, row.size):
                _arrow(axes, (k + 0.06, level - 0.7), (k + 0.06, level - 0.33), style.FAINT)
                _arrow(axes, (k - step, level - 0.7), (k - 0.12, level - 0.33), style.BLUE)
            row = after
            _row(axes, row, level, step)
            names.append(f"after step {step}")
        axes.set_xlim(-0.6, row.size - 0.4)
        axes.set_ylim(levels + 0.5, -0.5)
        axes.set_yticks(range(levels + 1), names)
        axes.set_xticks(range(row.size), [f"{k}" for k in range(row.size)])
        axes.set_xlabel("thread")
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        keys = [
            Patch(
                fc=style.SKY,
                ec=style.INK,
                lw=1.6,
                label="its own sum (vertical grey arrow) plus the sum of "
                "the thread step places to the left (slanted blue arrow)",
            ),
            Patch(fc=style.PAPER, ec=style.INK, lw=0.7, label="as it was before"),
        ]
        style.legend(fig, handles=keys, fontsize=9)
    return fig


def _arrow(axes: Any, start: Any, end: Any, color: str) -> None:
    look = {"arrowstyle": "->", "color": color, "lw": 1.3}
    axes.annotate("", end, start, zorder=1, arrowprops=look)


def _row(axes: Any, row: Any, level: int, first: int) -> None:
    """Draw one state; those from `first` on have just added."""
    for k, value in enumerate(row):
        added = k >= first
        fill = style.SKY if added else style.PAPER
        axes.add_patch(
            Rectangle(
                (k - 0.38, level - 0.3),
                0.76,
                0.6,
                fc=fill,
                ec=style.INK,
                lw=1.6 if added else 0.7,
                zorder=2,
            )
        )
        axes.text(k, level, f"{value}", ha="center", va="center", fontsize=10, zorder=3)


def bars(
    *pairs: Any, x: str, y: str = "how many", same: bool = False, width: float = 1.0
) -> Figure:
    """Draw bars side by side: each argument is a title and the heights, such as counts.

    With `same` all have the same scale. A `width` below 1 leaves gaps, as between categories.
    """
    with style.house():
        fig, all_axes = style.figure(9.6, 2.9, 1, len(pairs), squeeze=False, sharey=same)
        for axes, (title, counts) in zip(all_axes[0], pairs, strict=True):
            counts = np.asarray(counts)
            axes.bar(np.arange(counts.size), counts, width=width, color=style.BLUE)
            axes.set_title(title, fontsize=11)
            axes.set_xlabel(x)
            axes.set_xlim(-0.7, counts.size - 0.3)
            if np.issubdtype(counts.dtype, np.integer):
                axes.yaxis.get_major_locator().set_params(integer=True)
                axes.yaxis.set_major_formatter("{x:,.0f}")
        all_axes[0][0].set_ylabel(y)
    return fig


def drift(sums: Any, term: float, marks: Any) -> Figure:
    """Draw the error of running sums of one term, with a line where they pass each mark."""
    row = np.asarray(sums, np.float64)
    if row.size < 2 or row.ndim != 1 or not all(row[0] <= mark <= row[-1] for mark in marks):
        raise errors.LaunchError(
            f"drift: expected running sums that pass the marks {tuple(marks)}, got shape "
            f"{row.shape}. Draw np.cumsum of a vector, and marks between its ends."
        )
    picked = np.unique(np.linspace(0, row.size - 1, MOST_POINTS).astype(np.int64))
    added = picked + 1  # additions in each sum
    with style.house():
        fig, axes = style.figure(8.4, 3.6)
        axes.plot(added / 1e6, row[picked] - term * added, color=style.BLUE, lw=2)
        axes.axhline(0, color=style.INK, lw=1, ls=(0, (1, 2)), zorder=0)
        for mark in marks:
            where = (int(np.searchsorted(row, mark)) + 1) / 1e6
            axes.axvline(where, color=style.VERMILLION, lw=1.2, ls="--", zorder=0)
            axes.text(
                where,
                0.97,
                f" sum {mark:,}",
                va="top",
                fontsize=9,
                transform=axes.get_xaxis_transform(),
            )
        axes.set_title("Rounding error of the running sum")
        axes.set_xlabel("additions, in millions")
        axes.set_ylabel("sum minus exact sum")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.grid(alpha=0.3)
    return fig
