"""Pictures of a matrix product: what threads read, which lane has which element, bytes moved.

Legend
    a, b      the matrices that are multiplied, size x size; a layer of `reads` per matrix
    row, col  the element of the product that a thread computes
    iteration      the one iteration of the loop over k that counts, or EVERY            -1
    per_thread   results per thread in a row of out, and as many in a column        8
    chosen    (x, y) of the one thread that counts                                  (1, 2)
    first, last   the threads that count, by their index in the first block: [first, last)
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
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from gpukit import cuda
from gpukit.draw import style

A, B, OUT = 0, 1, 2
EVERY = -1
MOST = 64
_WIDE = 40
WHO = {"thread": 1, "warp": 32, "block": None}
_NEVER, _ONCE, _OFTEN = style.PAPER, style.SKY, style.ORANGE

Ints = npt.NDArray[np.int64]


@cuda.jit
def reads_kernel(reads, swapped, iteration, first, last):
    """Count what the chosen threads of block (0, 0) read of a and b, and write to out."""
    x, y = cuda.grid(2)
    row, col = (x, y) if swapped else (y, x)
    number = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    size = reads.shape[1]
    if cuda.blockIdx.x == 0 and cuda.blockIdx.y == 0 and first <= number < last:
        if row < size and col < size:
            for k in range(size):
                if iteration in (EVERY, k):
                    cuda.atomic.add(reads, (A, row, k), 1)
                    cuda.atomic.add(reads, (B, k, col), 1)
            cuda.atomic.add(reads, (OUT, row, col), 1)


@cuda.jit
def step_kernel(a_tile, b_tile, sums, k, chosen):
    """Count the reads of one thread with several results in step k of the tiles, and its sums."""
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if tx == chosen[0] and ty == chosen[1]:
        for row in range(ty, sums.shape[0], cuda.blockDim.y):
            a_tile[row, k] += 1
        for col in range(tx, sums.shape[1], cuda.blockDim.x):
            b_tile[k, col] += 1
        for row in range(ty, sums.shape[0], cuda.blockDim.y):
            for col in range(tx, sums.shape[1], cuda.blockDim.x):
                sums[row, col] += 1


def product_reads(
    size: int = 32,
    block: int = 16,
    who: str = "warp",
    *,
    swapped: bool = False,
    iteration: int | None = None,
) -> Figure:
    """Draw what the first thread, warp or block of a product reads, one thread per element.

    In all iterations of its loop over k, or in one `iteration`. With `swapped` x is the row.
    """
    reads = counted(size, block, who, swapped=swapped, iteration=iteration)
    with style.house():
        fig, axes = style.figure(8.4, 9.0, 2, 2)
        for axis, layer, name in (
            (axes[1, 0], A, "a"),
            (axes[0, 1], B, "b"),
            (axes[1, 1], OUT, "out"),
        ):
            _counts(axis, reads[layer], block, name)
        style.bare(axes[0, 0])
        axes[0, 0].text(
            0.02,
            0.62,
            f"One {who}\n{_when(iteration)}",
            fontsize=15,
            fontweight="bold",
            va="bottom",
            transform=axes[0, 0].transAxes,
        )
        axes[0, 0].text(
            0.02,
            0.57,
            f"{_order(swapped)}\nthe elements of a row are neighbours\nin memory",
            fontsize=11,
            va="top",
            transform=axes[0, 0].transAxes,
        )
        axes[0, 0].legend(handles=_keys(block), loc="lower left", frameon=False)
    return fig


def product_orders(size: int = 32, block: int = 16, iteration: int = 5) -> Figure:
    """Draw what the first warp reads in one iteration where x is the row, and where the column."""
    with style.house():
        fig, axes = style.figure(9.6, 7.4, 2, 3)
        for line, swapped in zip(axes, (True, False), strict=True):
            reads = counted(size, block, "warp", swapped=swapped, iteration=iteration)
            for axis, layer, name in zip(line, (A, B, OUT), ("a", "b", "out"), strict=True):
                _counts(axis, reads[layer], block, name)
            line[0].set_ylabel(_order(swapped), fontsize=12, fontweight="bold")
        fig.suptitle(
            f"One warp {_when(iteration)}", x=0.01, ha="left", fontweight="bold", fontsize=13
        )
        style.legend(fig, handles=_keys(block), ncols=3, fontsize=10)
    return fig


def thread_results(block: int = 4, per_thread: int = 8, k: int = 1) -> Figure:
    """Draw what one thread with per_thread x per_thread results reads in one step of its tiles."""
    chosen = (min(1, block - 1), min(2, block - 1))
    a_tile, b_tile, sums = results_counted(block, per_thread, k, chosen)
    many = per_thread * per_thread
    with style.house():
        wide = [block + 3.6, block * per_thread + 0.6]  # data units: all panels have one scale
        high = [block + 0.6, block * per_thread + 0.6]
        fig, axes = style.figure(7.4, 8.6, 2, 2, width_ratios=wide, height_ratios=high)
        _counts(axes[1, 0], a_tile, block, "tile of a")
        _counts(axes[0, 1], b_tile, block, "tile of b")
        _counts(axes[1, 1], sums, block, "the block's part of out")
        axes[1, 0].set_xlim(-1.8, block + 1.8)
        axes[1, 0].set_xlabel(f"{per_thread} reads", fontsize=10)
        axes[0, 1].set_xlabel(f"{per_thread} reads", fontsize=10)
        axes[1, 1].set_xlabel(f"{many} multiply-adds, one per result", fontsize=10)
        style.bare(axes[0, 0])
        fig.suptitle(
            f"One thread, x = {chosen[0]} and y = {chosen[1]}, at k = {k}",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=13,
        )
        style.legend(
            fig,
            handles=[
                Patch(fc=_ONCE, ec=style.INK, label="what this thread reads, and its results"),
                Line2D([], [], color=style.INK, lw=1.2, label=f"every {block} elements"),
            ],
            ncols=2,
            fontsize=10,
        )
    return fig


def results_counted(
    block: int, per_thread: int, k: int, chosen: tuple[int, int]
) -> tuple[Ints, Ints, Ints]:
    """Return how often one thread reads each element of its tiles, and adds to each of out."""
    side = block * per_thread
    if not (1 <= block <= 32 and per_thread >= 1 and side <= MOST and 0 <= k < block):
        raise ValueError(
            f"thread_results: expected a block of 1 to 32, block * per_thread of 1 to {MOST} and "
            f"k from 0 to block - 1, got {block}, {per_thread} and {k}. Draw a smaller product."
        )
    a_tile, b_tile = np.zeros((side, block), np.int64), np.zeros((block, side), np.int64)
    sums = np.zeros((side, side), np.int64)
    step_kernel[1, (block, block)](a_tile, b_tile, sums, k, np.array(chosen))
    return a_tile, b_tile, sums


def _when(iteration: int | None) -> str:
    return "in all iterations of the loop" if iteration is None else f"in iteration k = {iteration}"


def _order(swapped: bool) -> str:
    return f"x is the {'row' if swapped else 'column'}"


def _keys(block: int) -> list[Any]:
    return [
        Patch(fc=_ONCE, ec=style.INK, label="accessed once"),
        Patch(fc=_OFTEN, ec=style.INK, hatch="///", label="accessed more than once"),
        Line2D([], [], color=style.INK, lw=1.2, label=f"every {block} elements"),
    ]


def counted(size: int, block: int, who: str, *, swapped: bool, iteration: int | None) -> Ints:
    """Return how often each element of a, b and out is accessed, (3, size, size)."""
    if who not in WHO or not 1 <= size <= MOST or not 1 <= block <= 32:
        raise ValueError(
            f"product_reads: expected who to be one of {', '.join(WHO)}, a size of 1 to {MOST} and "
            f"a block of 1 to 32, got {who!r}, {size} and {block}. Draw a smaller product."
        )
    reads = np.zeros((3, size, size), np.int64)
    grid = -(-size // block)
    last = WHO[who] or block * block
    reads_kernel[(grid, grid), (block, block)](
        reads, swapped, EVERY if iteration is None else iteration, 0, last
    )
    return reads


def _counts(axis: Any, counts: Ints, block: int, name: str) -> None:
    rows, cols = counts.shape
    often = np.argwhere(counts > 1)
    shades = ListedColormap([_NEVER, _ONCE, _OFTEN])
    axis.imshow(np.minimum(counts, 2), cmap=shades, vmin=0, vmax=2, extent=(0, cols, rows, 0))
    if len(often):  # repeated accesses cover whole rows of some columns: one rectangle
        (top, left), (bottom, right) = often.min(axis=0), often.max(axis=0)
        axis.add_patch(
            Rectangle(
                (left, top),
                right - left + 1,
                bottom - top + 1,
                fill=False,
                ec=style.INK,
                lw=0,
                hatch="///",
            )
        )
    for edge in range(cols + 1):
        axis.plot([edge, edge], [0, rows], **_line(edge, block, cols))
    for edge in range(rows + 1):
        axis.plot([0, cols], [edge, edge], **_line(edge, block, rows))
    axis.set_xlim(-0.3, cols + 0.3)
    axis.set_ylim(rows + 0.3, -0.3)
    axis.set_aspect("equal")
    style.bare(axis)
    axis.set_title(name)
    axis.set_xlabel(_said(counts, "written" if name == "out" else "read"), fontsize=10)


def _line(edge: int, block: int, size: int) -> dict[str, Any]:
    if edge % block == 0 or edge == size:
        return {"color": style.INK, "lw": 1.2}
    return {"color": style.FAINT, "lw": 0.3}


def _said(counts: Ints, action: str) -> str:
    """Describe how many elements are accessed, and how often.

    >>> _said(np.array([[0, 2], [2, 2]]), "read"), _said(np.array([[1]]), "written")
    ('3 elements, each read 2 times', '1 element, written once')
    """
    touched = counts[counts > 0]
    elements = f"{touched.size:,} element{'' if touched.size == 1 else 's, each'}"
    elements += "," if touched.size == 1 else ""
    most = int(touched.max())
    return f"{elements} {action} {'once' if most == 1 else f'{most} times'}"


def lanes(*pairs: Any, lane: int = 0) -> Figure:
    """Draw matrices of lane numbers: each argument is a title and a matrix of integers.

    The elements of one `lane` have a thick border.
    """
    shapes = [np.asarray(matrix).shape for _, matrix in pairs]
    wide = [cols for _, cols in shapes]
    with style.house():
        fig, axes = style.figure(
            0.42 * sum(wide) + 1.6,
            0.42 * max(r for r, _ in shapes) + 0.9,
            1,
            len(pairs),
            squeeze=False,
            width_ratios=wide,
        )
        for axis, (title, matrix) in zip(axes.flat, pairs, strict=True):
            _lanes(axis, title, np.asarray(matrix), lane)
    return fig


def _lanes(axis: Any, title: str, matrix: Ints, chosen: int) -> None:
    rows, cols = matrix.shape
    for row in range(rows):
        for col in range(cols):
            number = int(matrix[row, col])
            mine = number == chosen
            axis.add_patch(
                Rectangle(
                    (col, row),
                    1,
                    1,
                    fc=style.FILLS[number // 4 % len(style.FILLS)],
                    ec=style.INK,
                    lw=3.2 if mine else 0.5,
                    zorder=3 if mine else 2,
                )
            )
            axis.text(
                col + 0.5,
                row + 0.5,
                number,
                ha="center",
                va="center",
                fontsize=9,
                fontweight="bold" if mine else "normal",
                zorder=4,
            )
    axis.set_xlim(-0.1, cols + 0.1)
    axis.set_ylim(rows + 0.1, -0.1)
    axis.set_aspect("equal")
    axis.set_anchor("N")
    style.bare(axis)
    axis.set_title(title, fontsize=11)


def bytes_moved(rows: Sequence[tuple[str, int]], least: int, title: str) -> Figure:
    """Draw how many bytes each kernel moves, and the minimum: read inputs and write results once.

    Bars on a linear axis; where the maximum is more than _WIDE times the minimum, points on a
    logarithmic one, on which lengths mean nothing.
    """
    most = max(count for _, count in rows)
    log = most > _WIDE * least
    with style.house():
        fig, axes = style.figure(8.6, 0.5 * len(rows) + 1.6)
        axes.set_xscale("log" if log else "linear")
        for y, (_, count) in enumerate(rows):
            if log:
                axes.plot(count, y, "o", ms=11, color=style.SKY, mec=style.INK)
            else:
                axes.barh(y, count, height=0.66, color=style.SKY, edgecolor=style.INK)
            place: Any = {"xytext": (10 if log else 6, 0), "textcoords": "offset points"}
            axes.annotate(_moved(count, least), (count, y), va="center", fontsize=10, **place)
        axes.axvline(least, color=style.VERMILLION, lw=2)
        words = f" inputs read, results written once: {least:,} bytes"
        axes.text(least, -0.62, words, ha="left", va="bottom", fontsize=10)
        _byte_axes(axes, [name for name, _ in rows])
        room = (most / least) ** 0.8 if log else 1.7  # for the words beside the last mark
        axes.set_xlim(least / 2 if log else 0, most * room)
        axes.xaxis.set_major_locator(LogLocator() if log else MaxNLocator(5))
        axes.set_xlabel(f"bytes moved{', logarithmic axis' if log else ''}")
        axes.set_title(title)
    return fig


def _moved(count: int, least: int) -> str:
    """Return a number of bytes, and how many times the minimum it is.

    >>> _moved(4000, 1000), _moved(1000, 1000)
    ('4,000 bytes, 4 times the minimum', '1,000 bytes, the minimum')
    """
    if count == least:
        return f"{count:,} bytes, the minimum"
    ratio = count / least
    times = f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.3g}"
    return f"{count:,} bytes, {times} times the minimum"


def _byte_axes(axes: Any, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -1.2)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", which="minor", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
