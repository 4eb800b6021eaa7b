"""Pictures of a launch: which thread has which element, which are idle, what was missed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from gpukit import errors, launch
from gpukit.draw import record, style

MOST_CELLS = 200_000
# Up to this many threads, a cell is wide enough for the numbers of its thread.
_CELLS_WITH_TEXT = 340
# Up to this many threads, those of a 1-D launch are drawn in one line.
_STRIP = 64
_MOST_LINES = 32

_MISSED = style.PAPER


class Count(NamedTuple):
    """The totals of a launch."""

    blocks: int
    threads: int
    elements: int
    working: int
    missed: int

    @property
    def idle(self) -> int:
        """Threads without an element."""
        return self.threads - self.working


def count(canvas: Any, rows: int, cols: int, block: tuple[int, int]) -> Count:
    """Count the cells of a canvas, from what the threads wrote there."""
    touched = canvas[record.BX] != record.NOBODY
    working = int(touched[:rows, :cols].sum())
    threads = int(touched.sum())
    return Count(
        blocks=threads // (block[0] * block[1]),
        threads=threads,
        elements=rows * cols,
        working=working,
        missed=rows * cols - working,
    )


def launch_1d(n: int, block: int, grid: int | None = None) -> Figure:
    """Draw a launch of blocks of `block` threads over n elements.

    Without `grid` there are just enough blocks. Each cell is a thread; the numbers are its
    index in the array and, below, threadIdx.x. Long launches have a line per block.
    """
    grid = launch.ceil_div(n, block) if grid is None else grid
    check_size("launch_1d", 1, n, (grid, 1), (block, 1))
    canvas = record.ownership(1, n, (grid, 1), (block, 1))
    if canvas.shape[2] > _STRIP:
        return _stack(canvas, n, block, grid)
    with style.house():
        width = min(12.0, max(6.0, 0.36 * canvas.shape[2]))
        fig, axes = style.figure(width, 1.9)
        _paint(axes, canvas, 1, n, (block, 1))
        _strip_numbers(axes, canvas, n)
        axes.set_title(f"{n} elements, {grid} blocks of {block} threads", pad=22)
        legend(fig, canvas, 1, n)
    return fig


def _stack(canvas: Any, n: int, block: int, grid: int) -> Figure:
    """Draw a 1-D launch with one line per block."""
    lines = max(grid, launch.ceil_div(n, block))
    if lines > _MOST_LINES:
        raise errors.LaunchError(
            f"launch_1d: expected at most {_MOST_LINES} blocks to draw, got {lines}. Draw a "
            "smaller launch: the pattern is the same."
        )
    place = np.arange(lines * block).reshape(lines, block)
    there = np.full(lines * block, record.NOBODY)
    there[: canvas.shape[2]] = canvas[record.BX, 0]
    has_thread, has_element = there.reshape(lines, block) != record.NOBODY, place < n
    with style.house():
        fig, axes = style.figure(9.0, 0.42 * lines + 1.6)
        for b in range(lines):
            fill = style.FILLS[b % len(style.FILLS)]
            for mask, how in (
                (has_thread[b] & has_element[b], {"fc": fill}),
                (has_thread[b] & ~has_element[b], {"fc": _pale(to_rgb(fill)), "hatch": "////"}),
                (~has_thread[b] & has_element[b], {"fc": _MISSED, "hatch": "xx"}),
            ):
                for low, high in _runs(mask):
                    _box(axes, low, b + 0.1, high - low, 0.8, ec=style.INK, lw=1, **how)
                    words = f"{place[b, low]:,} to {place[b, high - 1]:,}"
                    if high - low >= block // 3:
                        axes.text(
                            (low + high) / 2, b + 0.5, words, ha="center", va="center", fontsize=10
                        )
            axes.text(-0.01 * block, b + 0.5, f"block {b}", ha="right", va="center", fontsize=10)
        axes.set_xlim(-0.12 * block, 1.01 * block)
        axes.set_ylim(lines, 0)
        style.bare(axes)
        axes.set_title(f"{n:,} elements, {grid} blocks of {block} threads")
        legend(fig, canvas, 1, n, outline=False)
    return fig


def launch_2d(
    rows: int, cols: int, block: tuple[int, int], grid: tuple[int, int] | None = None
) -> Figure:
    """Draw a launch of blocks (x, y) over an image of rows and columns.

    Without `grid` there are just enough blocks. Threads without a pixel are hatched, pixels
    without a thread are crossed out.
    """
    grid = launch.grid_2d("launch_2d", cols, rows, block) if grid is None else grid
    check_size("launch_2d", rows, cols, grid, block)
    canvas = record.ownership(rows, cols, grid, block)
    with style.house():
        fig, axes = style.figure(*_size(canvas))
        plan(axes, canvas, rows, cols, block)
        axes.set_title(f"{rows} rows x {cols} columns, blocks of {block[0]} x {block[1]} threads")
        legend(fig, canvas, rows, cols)
    return fig


def plan(axes: Any, canvas: Any, rows: int, cols: int, block: tuple[int, int]) -> None:
    """Draw a recorded canvas from above, x to the right and y down."""
    _paint(axes, canvas, rows, cols, block)
    if canvas[0].size <= _CELLS_WITH_TEXT:
        _thread_numbers(axes, canvas)
    _block_names(axes, canvas, rows, cols, block)
    axes.set_xlabel("x: column")
    axes.set_ylabel("y: row")


def _size(canvas: Any) -> tuple[float, float]:
    """Return inches that give square cells of a readable size."""
    height, width = canvas.shape[1:]
    scale = min(0.5, 10.5 / width, 6.5 / height)
    return max(5.5, scale * width + 0.9), scale * height + 1.5


def check_size(function: str, rows: int, cols: int, grid: tuple[int, int], block: Any) -> None:
    cells = max(rows, grid[1] * block[1]) * max(cols, grid[0] * block[0])
    if cells > MOST_CELLS:
        raise errors.LaunchError(
            f"{function}: expected at most {MOST_CELLS:,} threads to draw, got {cells:,}. "
            "Draw a smaller launch: the pattern is the same."
        )


def _paint(axes: Any, canvas: Any, rows: int, cols: int, block: tuple[int, int]) -> None:
    """Colour cells by block; hatch idle threads, cross out missed elements, outline the data."""
    touched = canvas[record.BX] != record.NOBODY
    height, width = touched.shape
    inside = np.zeros_like(touched)
    inside[:rows, :cols] = True
    # Neighbouring blocks differ in x by one colour and in y by three.
    colour = (canvas[record.BX] + 3 * canvas[record.BY]) % len(style.FILLS)
    pixels = np.array([to_rgb(fill) for fill in style.FILLS])[colour]
    pixels[touched & ~inside] = _pale(pixels[touched & ~inside])
    pixels[~touched] = to_rgb(_MISSED)
    axes.imshow(pixels, extent=(0, width, height, 0), interpolation="nearest")
    for mask, hatch in ((touched & ~inside, "////"), (inside & ~touched, "xx")):
        for low, high, row, last in _rectangles(mask):
            _box(
                axes,
                low,
                row,
                high - low,
                last - row,
                hatch=hatch,
                fill=False,
                lw=0,
                edgecolor=style.FAINT,
            )
    if touched.size <= _CELLS_WITH_TEXT:
        for x in range(width + 1):
            axes.axvline(x, color=style.PAPER, lw=0.7, zorder=1)
        for y in range(height + 1):
            axes.axhline(y, color=style.PAPER, lw=0.7, zorder=1)
    _outlines(axes, touched, block)
    _box(axes, 0, 0, cols, rows, fill=False, lw=3, edgecolor=style.INK)
    axes.set_xlim(-0.02 * width, 1.02 * width)
    axes.set_ylim(1.02 * height, -0.02 * height)
    style.bare(axes)


def _pale(colour: Any) -> Any:
    """Return the colour of a block's idle threads: its own, halfway to the background."""
    return (np.asarray(colour) + to_rgb(style.PAPER)) / 2


def _box(axes: Any, x: float, y: float, width: float, height: float, **how: Any) -> None:
    axes.add_patch(Rectangle((x, y), width, height, **how))


def _rectangles(mask: Any) -> list[tuple[int, int, int, int]]:
    """Cover a mask with rectangles (left, right, top, bottom): runs, joined down equal rows."""
    found: dict[tuple[int, int], list[int]] = {}
    done = []
    for row in range(mask.shape[0] + 1):
        runs = _runs(mask[row]) if row < mask.shape[0] else []
        for run in [run for run in found if run not in runs]:
            done.append((*run, found.pop(run)[0], row))
        for run in runs:
            found.setdefault(run, [row])
    return done


def _runs(line: Any) -> list[tuple[int, int]]:
    """Return (start, end) of the runs of True in one row."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _outlines(axes: Any, touched: Any, block: tuple[int, int]) -> None:
    """Draw a line around each block, unless there are so many that they would cover all else."""
    height, width = touched.shape
    if width // block[0] * (height // block[1]) > 1500:
        return
    for y in range(0, height - block[1] + 1, block[1]):
        for x in range(0, width - block[0] + 1, block[0]):
            if touched[y, x]:
                _box(axes, x, y, *block, fill=False, lw=1.1, edgecolor=style.INK)


def _thread_numbers(axes: Any, canvas: Any) -> None:
    """Write threadIdx into every cell that a thread reached."""
    for row, col in np.argwhere(canvas[record.BX] != record.NOBODY):
        thread = f"({canvas[record.TX, row, col]}, {canvas[record.TY, row, col]})"
        axes.text(col + 0.5, row + 0.5, thread, ha="center", va="center", fontsize=7)


def _strip_numbers(axes: Any, canvas: Any, n: int) -> None:
    """Write the index above each cell, threadIdx.x inside and the block below."""
    width = canvas.shape[2]
    size = 9 if width <= 34 else 7
    for i in range(width):
        if i < n:
            axes.text(i + 0.5, -0.12, i, ha="center", va="bottom", fontsize=size)
        if canvas[record.BX, 0, i] != record.NOBODY:
            thread = canvas[record.TX, 0, i]
            axes.text(i + 0.5, 0.5, thread, ha="center", va="center", fontsize=size)
    for b in np.unique(canvas[record.BX]):
        if b != record.NOBODY:
            middle = np.flatnonzero(canvas[record.BX, 0] == b).mean() + 0.5
            axes.text(middle, 1.15, f"block {b}", ha="center", va="top", fontweight="bold")
    axes.text(-0.3, -0.12, "i", ha="right", va="bottom", fontstyle="italic")
    axes.text(-0.3, 0.5, "threadIdx.x", ha="right", va="center", fontsize=9)
    axes.set_ylim(1.9, -0.6)
    axes.set_aspect("auto")


def _block_names(axes: Any, canvas: Any, rows: int, cols: int, block: tuple[int, int]) -> None:
    """Write blockIdx into the working part of each block, where there is space for it."""
    _, height, width = canvas.shape
    if width // block[0] * (height // block[1]) > 120:
        return
    for y in range(0, height - block[1] + 1, block[1]):
        for x in range(0, width - block[0] + 1, block[0]):
            if canvas[record.BX, y, x] != record.NOBODY:
                right = min(x + block[0], cols) if x < cols else x + block[0]
                bottom = min(y + block[1], rows) if y < rows else y + block[1]
                name = f"block ({canvas[record.BX, y, x]}, {canvas[record.BY, y, x]})"
                if right - x < 4:  # a name wider than its block
                    name = name.replace(" ", "\n", 1)
                axes.text(
                    (x + right) / 2,
                    (y + bottom) / 2,
                    name,
                    ha="center",
                    va="center",
                    fontsize=10,
                    fontweight="bold",
                    bbox={"fc": style.PAPER, "ec": style.INK, "pad": 1.5},
                )


def legend(fig: Figure, canvas: Any, rows: int, cols: int, *, outline: bool = True) -> None:
    """Explain colour, outline and hatching, but only those that occur."""
    touched = canvas[record.BX] != record.NOBODY
    inside = np.zeros_like(touched)
    inside[:rows, :cols] = True
    keys = [Patch(fc=style.FILLS[0], ec=style.INK, label="thin outline, one colour: one block")]
    if outline:
        keys.append(Patch(fc=style.PAPER, ec=style.INK, lw=3, label="thick outline: the data"))
    if (touched & ~inside).any():
        keys.append(
            Patch(
                fc=_pale(to_rgb(style.FILLS[0])),
                ec=style.FAINT,
                hatch="////",
                label="thread without element",
            )
        )
    if (inside & ~touched).any():
        keys.append(Patch(fc=_MISSED, ec=style.FAINT, hatch="xx", label="element without thread"))
    style.legend(fig, handles=keys, ncols=2, fontsize=9)
