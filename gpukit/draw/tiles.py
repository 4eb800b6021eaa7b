"""Pictures of tiles in shared memory: what a warp moves through one, and its banks."""

# Kernels carry no type hints.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit import cuda
from gpukit.checked.profile.pattern import BANKS, WORD, Pattern
from gpukit.draw import style

TILE, ROWS = 32, 8
_WARP, _ONE, _MINE = style.SKY, style.ORANGE, "#E2E2DC"


# ---- a tile --------------------------------------------------------------------------------------


@cuda.jit
def tile_kernel(read, stored, taken, written, chosen):
    """Mark the elements that one warp of block (1, 0) transposes: 1, and 2 for one thread."""
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if cuda.blockIdx.x == 1 and cuda.blockIdx.y == 0 and ty == chosen[1]:
        mark = 2 if tx == chosen[0] else 1
        read[top + ty, left + tx] = mark
        stored[ty, tx] = mark
        taken[tx, ty] = mark
        written[left + ty, top + tx] = mark


def tile_steps(thread: tuple[int, int] = (5, 2)) -> Figure:
    """Draw how one warp of block (1, 0) transposes through a tile, and one thread (x, y) of it.

    Four steps of its first iteration: load from x, store to tile, load from tile, store to out.
    """
    if not (0 <= thread[0] < TILE and 0 <= thread[1] < ROWS):
        raise ValueError(
            f"tile_steps: expected a thread of a block of ({TILE}, {ROWS}), got {thread}. Name "
            "one by its x and y."
        )
    marks = [np.zeros((side, side), np.int64) for side in (2 * TILE, TILE, TILE, 2 * TILE)]
    tile_kernel[(2, 2), (TILE, ROWS)](*marks, np.array(thread))
    names = ("x", "tile", "tile", "out")
    steps = (
        "1. load from x",
        "2. store to tile",
        "(barrier)\n3. load from tile",
        "4. store to out",
    )
    with style.house():
        fig, panels = style.figure(10.6, 3.7, 1, 4)
        for axes, mark, name, step in zip(panels, marks, names, steps, strict=True):
            _tile(axes, mark, step)
            row, col = np.argwhere(mark == 2)[0]
            axes.set_xlabel(f"{name}[{row}, {col}]", fontsize=11, fontweight="bold")
        keys = (
            (_WARP, "one warp, 32 lanes"),
            (_ONE, f"its thread {thread}"),
            (_MINE, "the tile of block (1, 0)"),
        )
        patches = [Rectangle((0, 0), 1, 1, fc=fc, ec=style.INK, label=text) for fc, text in keys]
        style.legend(fig, handles=patches, ncols=3, fontsize=10)
    return fig


def _tile(axes: Any, marks: npt.NDArray[Any], title: str) -> None:
    """Draw an array with its tiles; that of the block is grey, the marked elements are coloured."""
    size = len(marks)
    row, col = np.argwhere(marks)[0] // TILE * TILE
    axes.add_patch(Rectangle((col, row), TILE, TILE, fc=_MINE, lw=0))
    for at, mark in np.ndenumerate(marks):
        if mark:
            how: Any = {"fc": _ONE, "lw": 0.9} if mark == 2 else {"fc": _WARP, "lw": 0.15}
            axes.add_patch(Rectangle(at[::-1], 1, 1, ec=style.INK, zorder=int(mark), **how))
            if mark == 2 and size > TILE:  # too small to be found without a ring
                ring: Any = {"mfc": "none", "mec": style.INK, "ms": 13, "mew": 1.4}
                axes.plot(at[1] + 0.5, at[0] + 0.5, "o", zorder=3, **ring)
    for edge in range(0, size + 1, TILE):
        axes.plot([edge, edge], [0, size], color=style.INK, lw=1.2)
        axes.plot([0, size], [edge, edge], color=style.INK, lw=1.2)
    axes.set_xlim(-1.5, size + 1.5)
    axes.set_ylim(size + 1.5, -1.5)
    axes.set_aspect("equal")
    style.bare(axes)
    axes.set_title(title, fontsize=11)


# ---- banks ---------------------------------------------------------------------------------------


def tile_banks(widths: tuple[int, ...] = (32, 33), column: int = 2, shown: int = 8) -> Figure:
    """Draw the banks of the first elements of a tile, for each width of its rows in words.

    The column that a warp reads, each lane in a row of its own, is marked.
    """
    with style.house():
        fig, panels = style.figure(10.0, 0.42 * shown + 1.7, 1, len(widths), squeeze=False)
        for axes, width in zip(panels[0], widths, strict=True):
            wavefronts = column_wavefronts(width, column)
            for row, col in np.ndindex(shown, shown):
                _bank(axes, row, col, (row * width + col) % BANKS, marked=col == column)
            axes.text(shown - 0.2, (shown - 1) / 2, "...", va="center", fontsize=13)
            axes.text(column, shown - 0.1, "...", ha="center", va="center", fontsize=13)
            axes.set_xlim(-0.6, shown + 0.5)
            axes.set_ylim(shown + 0.2, -0.6)
            axes.set_aspect("equal")
            style.bare(axes)
            axes.set_xticks(range(shown), map(str, range(shown)), fontsize=9)
            axes.set_yticks(range(shown), map(str, range(shown)), fontsize=9)
            axes.tick_params(length=0)
            axes.xaxis.tick_top()
            axes.xaxis.set_label_position("top")
            axes.set_xlabel("column of the tile")
            axes.set_ylabel("row of the tile")
            many = f"{wavefronts} wavefront{'' if wavefronts == 1 else 's'}"
            axes.set_title(f"rows of {width} words: {many}", fontsize=12, pad=10)
        fig.supxlabel(
            "Each cell shows the bank of its word. A warp reads the marked column.", fontsize=11
        )
    return fig


def column_wavefronts(width: int, column: int = 2) -> int:
    """Return the wavefronts of a warp that reads a column of a tile with rows of `width` words.

    >>> column_wavefronts(32), column_wavefronts(33)
    (32, 1)
    """
    lanes = range(TILE)
    at = tuple(WORD * (lane * width + column) for lane in lanes)
    return Pattern(tuple(lanes), at, WORD, "shared").wavefronts


def _bank(axes: Any, row: int, col: int, bank: int, *, marked: bool) -> None:
    square: Any = {"lw": 2.0, "zorder": 2} if marked else {"lw": 0.5}
    fill = _ONE if marked else style.PAPER
    axes.add_patch(Rectangle((col - 0.5, row - 0.5), 1, 1, fc=fill, ec=style.INK, **square))
    weight = "bold" if marked else "normal"
    axes.text(col, row, bank, ha="center", va="center", fontsize=10, zorder=3, fontweight=weight)


def stride_bars(passes: Any) -> Figure:
    """Draw the wavefronts of one request per stride, from 0 on, as bars."""
    heights = np.asarray(passes)
    with style.house():
        fig, axes = style.figure(9.4, 3.6)
        axes.bar(range(len(heights)), heights, color=style.SKY, edgecolor=style.INK, width=0.7)
        for stride, height in enumerate(heights):
            axes.text(stride, height + 0.4, height, ha="center", fontsize=8.5)
        axes.set_xticks(range(len(heights)), map(str, range(len(heights))), fontsize=8.5)
        axes.set_xlim(-0.7, len(heights) - 0.3)
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("stride in words")
        axes.set_ylabel("wavefronts")
        axes.set_title("Wavefronts of one request")
    return fig
