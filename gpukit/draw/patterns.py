"""Pictures of threads over time and in three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from gpukit import errors
from gpukit.draw import record, style

WARP = 32
MOST_STRIDE = 64


def grid_stride(n: int, blocks: int, block: int) -> Figure:
    """Draw a grid-stride loop: one line per iteration, with element and thread in each cell."""
    if n > 16 * MOST_STRIDE or blocks * block > MOST_STRIDE:
        raise errors.LaunchError(
            f"grid_stride: expected at most {MOST_STRIDE} threads and {16 * MOST_STRIDE} elements "
            f"to draw, got {blocks * block} and {n}. Draw a smaller launch."
        )
    thread, step = record.grid_stride(n, blocks, block)
    threads, iterations = blocks * block, int(step.max()) + 1
    with style.house():
        fig, axes = style.figure(max(6.4, 0.5 * threads + 1.6), 0.5 * iterations + 1.9)
        for i in range(n):
            _cell(axes, int(thread[i]), int(step[i]), i, int(thread[i]) // block)
        axes.set_xlim(-0.55, threads - 0.45)
        axes.set_ylim(iterations - 0.4, -0.6)
        axes.set_aspect("equal")
        axes.set_xticks(range(threads), [f"{t}" for t in range(threads)])
        axes.set_yticks(range(iterations), [f"iteration {t}" for t in range(iterations)])
        axes.tick_params(length=0)
        axes.set_xlabel("thread, cuda.grid(1)")
        for b in range(1, blocks):
            axes.axvline(b * block - 0.5, color=style.INK, lw=3)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(f"{n} elements, {threads} threads: which thread processes which element")
        keys = [
            Patch(fc=style.FILLS[b % len(style.FILLS)], ec=style.INK, label=f"block {b}")
            for b in range(min(blocks, 8))
        ]
        style.legend(fig, handles=keys, ncols=8, fontsize=9)
    return fig


def _cell(axes: Any, x: int, y: int, text: object, block: int) -> None:
    fill = style.FILLS[block % len(style.FILLS)]
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc=fill, ec=style.INK, lw=0.8))
    axes.text(x, y, text, ha="center", va="center", fontsize=11)


def block_3d(block: tuple[int, int, int]) -> Figure:
    """Draw the threads of one block (x, y, z) in slices, with their linear order."""
    number = record.block_3d(block)
    with style.house():
        across = 0.55 * block[0] + 0.8
        size = (max(6.0, across * block[2]), 0.55 * block[1] + 1.7)
        fig, all_axes = style.figure(*size, 1, block[2], squeeze=False)
        for z, axes in enumerate(all_axes[0]):
            axes.imshow(number[z] // WARP % 2, cmap="Greys", vmin=-0.1, vmax=2.5)
            for (ty, tx), value in np.ndenumerate(number[z]):
                axes.add_patch(
                    Rectangle((tx - 0.5, ty - 0.5), 1, 1, fill=False, lw=0.6, clip_on=False)
                )
                axes.text(tx, ty, value, ha="center", va="center", fontsize=10)
            axes.set_title(f"threadIdx.z = {z}", fontsize=11)
            axes.set_xticks(range(block[0]))
            axes.set_yticks(range(block[1]))
            axes.set_xlabel("threadIdx.x")
        all_axes[0][0].set_ylabel("threadIdx.y")
        warps = -(-number.size // WARP)
        note = f", {warps} warps: light and dark" if warps > 1 else ": one warp"
        fig.suptitle(f"{number.size} threads{note}", x=0.01, ha="left", fontweight="bold")
    return fig


def warp_iterations(iterations: Any, warp: int = 0) -> Figure:
    """Draw how many iterations of a loop each lane of one warp ran, and how long it then waited.

    `iterations` holds one count per thread, as a kernel recorded it.
    """
    mine = np.asarray(iterations)[warp * WARP : (warp + 1) * WARP]
    lanes, longest = np.arange(len(mine)), int(mine.max())
    busy = mine.sum() / (longest * len(mine)) if longest else 1.0
    with style.house():
        fig, axes = style.figure(9.2, 3.8)
        axes.bar(lanes, mine, color=style.SKY, edgecolor=style.INK, label="the lane works")
        axes.bar(
            lanes,
            longest - mine,
            bottom=mine,
            color=style.PAPER,
            edgecolor=style.FAINT,
            hatch="////",
            label="the lane is inactive and waits",
        )
        axes.set_xlabel(f"lane of warp {warp}")
        axes.set_ylabel("iterations of the loop")
        axes.set_xlim(-0.7, len(mine) - 0.3)
        axes.set_ylim(0, 1.08 * max(longest, 1))
        last = {"ha": "center", "va": "bottom", "fontsize": 9, "fontweight": "bold"}
        axes.text(int(mine.argmax()), longest, f"{longest}", **last)
        axes.set_title(
            f"One warp, {len(mine)} lanes: {100 * busy:.0f} % of the lane iterations are useful"
        )
        style.legend(fig, ncols=2, fontsize=9)
    return fig
