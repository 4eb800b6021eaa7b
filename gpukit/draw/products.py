"""Pictures of a matrix product: what threads read, whose lane has which element, bytes that fall.

Legend
    a, b      the matrices that are multiplied, size x size; a layer of `reads` counts each
    row, col  the element of the product that a thread computes
    turn      the one turn of the loop over k that counts, or EVERY                 -1
    first, last   the threads that count, by their number in the first block: [first, last)
"""

# Kernels carry no type hints.
# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter

from gpukit import cuda
from gpukit.draw import style

A, B, OUT = 0, 1, 2
EVERY = -1
MOST = 64
WHO = {"thread": 1, "warp": 32, "block": None}
_NEVER, _ONCE, _OFTEN = style.PAPER, style.SKY, style.ORANGE

Ints = npt.NDArray[np.int64]


@cuda.jit
def reads_kernel(reads, swapped, turn, first, last):
    """Count what the chosen threads of block (0, 0) read of a and b, and write to out."""
    x, y = cuda.grid(2)
    row, col = (x, y) if swapped else (y, x)
    number = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    size = reads.shape[1]
    if cuda.blockIdx.x == 0 and cuda.blockIdx.y == 0 and first <= number < last:
        if row < size and col < size:
            for k in range(size):
                if turn in (EVERY, k):
                    cuda.atomic.add(reads, (A, row, k), 1)
                    cuda.atomic.add(reads, (B, k, col), 1)
            cuda.atomic.add(reads, (OUT, row, col), 1)


def product_reads(
    size: int = 32,
    block: int = 16,
    who: str = "warp",
    *,
    swapped: bool = False,
    turn: int | None = None,
) -> Figure:
    """Draw what the first thread, warp or block of a product reads, one thread for one element.

    In all turns of its loop over k, or in one `turn`. With `swapped` x runs along the rows.
    """
    reads = counted(size, block, who, swapped=swapped, turn=turn)
    with style.house():
        fig, axes = style.figure(8.4, 9.0, 2, 2)
        for axis, layer, name in ((axes[1, 0], A, "a"), (axes[0, 1], B, "b"),
                                  (axes[1, 1], OUT, "out")):  # fmt: skip
            _counts(axis, reads[layer], block, name)
        style.bare(axes[0, 0])
        when = "in all turns of the loop" if turn is None else f"in the turn k = {turn}"
        axes[0, 0].text(0.02, 0.62, f"One {who}\n{when}", fontsize=15, fontweight="bold",
                        va="bottom", transform=axes[0, 0].transAxes)  # fmt: skip
        axes[0, 0].text(0.02, 0.57, f"x runs along the {'rows' if swapped else 'columns'}\n"
                        "memory runs along each row, left to right", fontsize=11, va="top",
                        transform=axes[0, 0].transAxes)  # fmt: skip
        axes[0, 0].legend(handles=[
            Patch(fc=_ONCE, ec=style.INK, label="touched once"),
            Patch(fc=_OFTEN, ec=style.INK, hatch="///", label="touched more than once"),
        ], loc="lower left", frameon=False)  # fmt: skip
    return fig


def counted(size: int, block: int, who: str, *, swapped: bool, turn: int | None) -> Ints:
    """Return how often each element of a, b and out is touched, (3, size, size)."""
    if who not in WHO or not 1 <= size <= MOST or not 1 <= block <= 32:
        raise ValueError(
            f"product_reads: expected who to be one of {', '.join(WHO)}, a size of 1 to {MOST} and "
            f"a block of 1 to 32, got {who!r}, {size} and {block}. Draw a smaller product."
        )
    reads = np.zeros((3, size, size), np.int64)
    grid = -(-size // block)
    last = WHO[who] or block * block
    reads_kernel[(grid, grid), (block, block)](
        reads, swapped, EVERY if turn is None else turn, 0, last
    )
    return reads


def _counts(axis: Any, counts: Ints, block: int, name: str) -> None:
    size = len(counts)
    often = np.argwhere(counts > 1)
    shades = ListedColormap([_NEVER, _ONCE, _OFTEN])
    axis.imshow(np.minimum(counts, 2), cmap=shades, vmin=0, vmax=2, extent=(0, size, size, 0))
    if len(often):  # what is shared is whole rows of some columns: one rectangle
        (top, left), (bottom, right) = often.min(axis=0), often.max(axis=0)
        axis.add_patch(Rectangle((left, top), right - left + 1, bottom - top + 1, fill=False,
                                 ec=style.INK, lw=0, hatch="///"))  # fmt: skip
    for edge in range(size + 1):
        thick = {"color": style.INK, "lw": 1.2} if edge % block == 0 or edge == size else {}
        line = {"color": style.FAINT, "lw": 0.3, **thick}
        axis.plot([edge, edge], [0, size], **line)
        axis.plot([0, size], [edge, edge], **line)
    axis.set_xlim(-0.3, size + 0.3)
    axis.set_ylim(size + 0.3, -0.3)
    axis.set_aspect("equal")
    style.bare(axis)
    axis.set_title(name)
    axis.set_xlabel(_said(counts, "written" if name == "out" else "read"), fontsize=10)


def _said(counts: Ints, verb: str) -> str:
    """Say how many elements are touched, how often.

    >>> _said(np.array([[0, 2], [2, 2]]), "read"), _said(np.array([[1]]), "written")
    ('3 elements, each read 2 times', '1 element, written once')
    """
    touched = counts[counts > 0]
    elements = f"{touched.size:,} element{'' if touched.size == 1 else 's, each'}"
    elements += "," if touched.size == 1 else ""
    most = int(touched.max())
    return f"{elements} {verb} {'once' if most == 1 else f'{most} times'}"


def lanes(*pairs: Any, lane: int = 0) -> Figure:
    """Draw matrices of lane numbers: each argument is a title and a matrix of integers.

    The elements of one `lane` have a thick border.
    """
    shapes = [np.asarray(matrix).shape for _, matrix in pairs]
    wide = [cols for _, cols in shapes]
    with style.house():
        fig, axes = style.figure(0.42 * sum(wide) + 1.6, 0.42 * max(r for r, _ in shapes) + 0.9,
                                 1, len(pairs), squeeze=False, width_ratios=wide)  # fmt: skip
        for axis, (title, matrix) in zip(axes.flat, pairs, strict=True):
            _lanes(axis, title, np.asarray(matrix), lane)
    return fig


def _lanes(axis: Any, title: str, matrix: Ints, chosen: int) -> None:
    rows, cols = matrix.shape
    for row in range(rows):
        for col in range(cols):
            number = int(matrix[row, col])
            mine = number == chosen
            axis.add_patch(Rectangle(
                (col, row), 1, 1, fc=style.FILLS[number // 4 % len(style.FILLS)], ec=style.INK,
                lw=3.2 if mine else 0.5, zorder=3 if mine else 2,
            ))  # fmt: skip
            axis.text(col + 0.5, row + 0.5, number, ha="center", va="center", fontsize=9,
                      fontweight="bold" if mine else "normal", zorder=4)  # fmt: skip
    axis.set_xlim(-0.1, cols + 0.1)
    axis.set_ylim(rows + 0.1, -0.1)
    axis.set_aspect("equal")
    axis.set_anchor("N")
    style.bare(axis)
    axis.set_title(title, fontsize=11)


def bytes_moved(rows: Sequence[tuple[str, int]], least: int, title: str) -> Figure:
    """Draw how many bytes each kernel moves, and how few would do, on a logarithmic axis."""
    with style.house():
        fig, axes = style.figure(8.6, 0.5 * len(rows) + 1.6)
        axes.set_xscale("log")
        for y, (_, count) in enumerate(rows):
            axes.barh(y, count, height=0.66, color=style.SKY, edgecolor=style.INK)
            times = "once" if count == least else f"{count / least:.3g} times"
            axes.text(count * 1.06, y, f"{count:,} bytes, {times}", va="center", fontsize=10)
        axes.axvline(least, color=style.VERMILLION, lw=2)
        axes.text(least, -0.62, f" each number once: {least:,}", ha="left", va="bottom",
                  fontsize=10, color=style.INK)  # fmt: skip
        axes.set_yticks(range(len(rows)), [name for name, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -1.2)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", which="minor", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlim(least / 2, max(count for _, count in rows) * 12)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.set_xlabel("bytes moved, as warps ask for them; each mark is ten times the one before")
        axes.set_title(title)
    return fig
