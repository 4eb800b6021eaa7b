"""Pictures for the lesson on memory: traversals of a matrix, memories, tiles and banks, streams."""

# Kernels carry no type hints.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit import cuda
from gpukit.checked import gpus
from gpukit.checked.profile.pattern import BANKS, WORD, Pattern
from gpukit.draw import style

MOST_WALKED = 16
TILE, ROWS = 32, 8
_WARP, _ONE, _MINE = style.SKY, style.ORANGE, "#E2E2DC"


# ---- two traversals of a matrix ------------------------------------------------------------------


@cuda.jit
def rows_kernel(thread, turn):
    """Write which thread visits each element and when; one thread per row."""
    row = cuda.grid(1)
    if row < thread.shape[0]:
        for col in range(thread.shape[1]):
            thread[row, col] = row
            turn[row, col] = col


@cuda.jit
def columns_kernel(thread, turn):
    """Write which thread visits each element and when; one thread per column."""
    col = cuda.grid(1)
    if col < thread.shape[1]:
        for row in range(thread.shape[0]):
            thread[row, col] = col
            turn[row, col] = row


def walks(side: int = 8, turn: int | None = None) -> Figure:
    """Draw a square matrix twice: one thread per row, and one thread per column.

    Each cell holds the thread that visits it, and below it the iteration of that thread's loop.
    `turn` marks the elements that all threads visit in that iteration. Both numbers were recorded.
    """
    if not 1 <= side <= MOST_WALKED or (turn is not None and not 0 <= turn < side):
        raise ValueError(
            f"walks: expected a side from 1 to {MOST_WALKED} and a turn below it, got side={side} "
            f"and turn={turn}. Draw a smaller matrix: the pattern is the same."
        )
    with style.house():
        fig, both = style.figure(max(7.0, 1.15 * side), 0.58 * side + 1.3, 1, 2)
        names = ("a thread for each row", "a thread for each column")
        for axes, kernel, name in zip(both, (rows_kernel, columns_kernel), names, strict=True):
            thread, turns = np.full((2, side, side), -1)
            kernel[1, side](thread, turns)
            _walk(axes, thread, turns, turn)
            axes.set_title(name, fontsize=11)
            style.bare(axes)
    return fig


def _walk(axes: Any, thread: npt.NDArray[Any], turns: npt.NDArray[Any], marked: int | None) -> None:
    side = len(thread)
    for (row, col), number in np.ndenumerate(thread):
        at = int(turns[row, col])
        here = at == marked
        plain = marked is None or here
        fill = style.FILLS[int(number) % len(style.FILLS)] if plain else "#ECECEC"
        axes.add_patch(
            Rectangle(
                (col - 0.5, row - 0.5),
                1,
                1,
                fc=fill,
                ec=style.INK,
                lw=2.6 if here else 0.6,
                zorder=2 if here else 1,
            )
        )
        weight = "bold" if here else "normal"
        axes.text(
            col,
            row - 0.13,
            f"thread {number}",
            ha="center",
            va="center",
            fontsize=6.5,
            zorder=3,
            fontweight=weight,
        )
        axes.text(
            col,
            row + 0.22,
            f"turn {at}",
            ha="center",
            va="center",
            fontsize=6.5,
            zorder=3,
            fontweight=weight,
        )
    axes.set_xlim(-0.6, side - 0.4)
    axes.set_ylim(side - 0.4, -0.6)
    axes.set_aspect("equal")


# ---- the memories of a GPU -----------------------------------------------------------------------


def memories(gpu: str = "H100") -> Figure:
    """Draw the memories of a thread, a block, a GPU, and of the computer around it.

    Sizes are those of one GPU of `gpukit.checked.gpus`, from NVIDIA's data sheets.
    """
    if gpu not in gpus.GPUS:
        known = ", ".join(gpus.GPUS)
        raise ValueError(f"memories: expected one of {known}, got {gpu!r}. Name one of them.")
    chip = gpus.GPUS[gpu]
    registers, shared = chip.registers_per_sm * 4 // gpus.KB, chip.shared_per_sm // gpus.KB
    speed = f", {chip.bandwidth / 1e12:.3g} TB/s" if chip.bandwidth else ""
    cache = f"{chip.l2 // gpus.MB} MB" if chip.l2 else "size not found"
    with style.house():
        fig, axes = style.figure(10.0, 5.6)
        _box(axes, (0, 0), (15.4, 10), style.PAPER, f"GPU ({chip.product})")
        _box(axes, (0.4, 3.9), (14.6, 5.2), "#E8F3FA", f"multiprocessor (SM), one of {chip.sms}")
        _box(
            axes,
            (0.8, 6.2),
            (13.8, 2.0),
            "#FFFFFF",
            f"registers: {registers} KB, each thread has its own",
            small=True,
        )
        for number in range(4):
            _box(
                axes,
                (1.2 + 3.4 * number, 6.5),
                (3.0, 0.85),
                style.FILLS[number],
                f"thread {number}" if number < 3 else "... thread 31 ...",
                small=True,
            )
        _box(
            axes,
            (0.8, 4.25),
            (6.4, 1.5),
            "#BFE3D6",
            f"shared memory: up to {shared} KB,\nthe threads of a block share it",
            small=True,
        )
        _box(
            axes,
            (7.2, 4.25),
            (3.5, 1.5),
            "#E4E4E4",
            "L1 cache: the rest\nof the same store",
            small=True,
        )
        _box(axes, (11.1, 4.25), (3.5, 1.5), "#E4E4E4", "constant cache", small=True)
        _box(
            axes, (0.4, 2.45), (14.6, 1.1), "#E4E4E4", f"L2 cache: {cache}, for all SMs", small=True
        )
        _box(
            axes,
            (0.4, 0.4),
            (14.6, 1.7),
            "#FFE2B3",
            f"device memory{speed}: holds global memory,\nlocal memory and constant memory",
            small=True,
        )
        _box(
            axes,
            (17.6, 0.4),
            (5.2, 9.6),
            "#F3D9E6",
            "host: the computer\n\nits memory holds\nNumPy's arrays",
        )
        axes.annotate(
            "",
            (17.5, 1.25),
            (15.1, 1.25),
            arrowprops={"arrowstyle": "<->", "lw": 2.5, "color": style.INK},
        )
        axes.text(16.5, 1.6, "bus", ha="center", fontsize=11, fontweight="bold")
        axes.set_xlim(-0.1, 22.9)
        axes.set_ylim(-0.1, 10.1)
        style.bare(axes)
    return fig


def _box(
    axes: Any,
    at: tuple[float, float],
    size: tuple[float, float],
    fill: str,
    text: str,
    small: bool = False,
) -> None:
    (x, y), (width, height) = at, size
    axes.add_patch(Rectangle(at, width, height, fc=fill, ec=style.INK, lw=1.1))
    axes.text(
        x + 0.2,
        y + height - 0.18,
        text,
        va="top",
        fontsize=9.5 if small else 11.5,
        fontweight="normal" if small else "bold",
        linespacing=1.35,
    )


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

    Four steps of its first iteration: load from x, store in tile, load from tile, store in out.
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
        "2. store in tile",
        "(barrier)\n3. load from tile",
        "4. store in out",
    )
    with style.house():
        fig, panels = style.figure(10.6, 3.7, 1, 4)
        for axes, mark, name, step in zip(panels, marks, names, steps, strict=True):
            _tile(axes, mark, step)
            row, col = np.argwhere(mark == 2)[0]
            axes.set_xlabel(f"{name}[{row}, {col}]", fontsize=11, fontweight="bold")
        fig.legend(
            handles=[
                Rectangle((0, 0), 1, 1, fc=_WARP, ec=style.INK, label="one warp, 32 lanes"),
                Rectangle((0, 0), 1, 1, fc=_ONE, ec=style.INK, label=f"its thread {thread}"),
                Rectangle((0, 0), 1, 1, fc=_MINE, ec=style.INK, label="the tile of block (1, 0)"),
            ],
            loc="outside lower left",
            ncols=3,
            frameon=False,
            fontsize=10,
        )
    return fig


def _tile(axes: Any, marks: npt.NDArray[Any], title: str) -> None:
    """Draw an array with its tiles; that of the block is grey, the marked elements are coloured."""
    size = len(marks)
    row, col = np.argwhere(marks)[0] // TILE * TILE
    axes.add_patch(Rectangle((col, row), TILE, TILE, fc=_MINE, lw=0))
    for at, mark in np.ndenumerate(marks):
        if mark:
            wide = 0.9 if mark == 2 and size > TILE else 0.0  # else it would be too small to see
            axes.add_patch(
                Rectangle(
                    (at[1] - wide, at[0] - wide),
                    1 + 2 * wide,
                    1 + 2 * wide,
                    fc=_ONE if mark == 2 else _WARP,
                    ec=style.INK,
                    lw=0.9 if mark == 2 else 0.15,
                    zorder=int(mark),
                )
            )
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
            passes = column_passes(width, column)
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
            axes.set_ylabel("row of the tile")
            many = f"{passes} pass{'' if passes == 1 else 'es'}"
            axes.set_title(f"rows of {width} words: {many}", fontsize=12, pad=20)
        fig.supxlabel(
            "in each cell the bank of the word; marked: the column that a warp reads", fontsize=11
        )
    return fig


def column_passes(width: int, column: int = 2) -> int:
    """Return the passes of a warp that reads a column of a tile with rows of `width` words.

    >>> column_passes(32), column_passes(33)
    (32, 1)
    """
    lanes = range(TILE)
    at = tuple(WORD * (lane * width + column) for lane in lanes)
    return Pattern(tuple(lanes), at, WORD, "shared").passes


def _bank(axes: Any, row: int, col: int, bank: int, *, marked: bool) -> None:
    axes.add_patch(
        Rectangle(
            (col - 0.5, row - 0.5),
            1,
            1,
            fc=_ONE if marked else style.PAPER,
            ec=style.INK,
            lw=2.0 if marked else 0.5,
            zorder=2 if marked else 1,
        )
    )
    axes.text(
        col,
        row,
        bank,
        ha="center",
        va="center",
        fontsize=10,
        zorder=3,
        fontweight="bold" if marked else "normal",
    )


def stride_bars(passes: Any) -> Figure:
    """Draw the passes of one request per stride, from 0 on, as bars."""
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
        axes.set_ylabel("passes")
        axes.set_title("Passes of one request")
    return fig


# ---- streams -------------------------------------------------------------------------------------


class Step(NamedTuple):
    """One box of a timeline: its engine, its piece, its start and its end."""

    engine: int
    piece: int
    begin: float
    end: float


ENGINES = ("copies to the GPU", "kernels", "copies back")


def stream_steps(times: tuple[float, float, float], pieces: int, streams: int) -> list[Step]:
    """Return the timeline of copying in, computing and copying back in pieces.

    A model: each engine does one thing at a time, and a stream keeps the order of its own work.

    >>> [step.end for step in stream_steps((2, 1, 2), pieces=2, streams=1)]
    [2.0, 3.0, 5.0, 7.0, 8.0, 10.0]
    """
    engine_free, stream_free = [0.0] * 3, [0.0] * streams
    found = []
    for piece in range(pieces):
        for engine, time in enumerate(times):
            begin = max(engine_free[engine], stream_free[piece % streams])
            engine_free[engine] = stream_free[piece % streams] = begin + time
            found.append(Step(engine, piece, begin, begin + time))
    return found


def stream_timeline(
    times: tuple[float, float, float], pieces: int, streams: tuple[int, ...] = (1, 4)
) -> Figure:
    """Draw the same work in different numbers of streams: which engine is busy when. A model."""
    runs = [stream_steps(times, pieces, count) for count in streams]
    last = max(step.end for run in runs for step in run)
    with style.house():
        fig, rows = style.figure(9.4, 1.75 * len(runs) + 0.5, len(runs), 1, squeeze=False)
        for axes, run, count in zip(rows[:, 0], runs, streams, strict=True):
            for step in run:
                size = step.end - step.begin
                axes.add_patch(
                    Rectangle(
                        (step.begin, step.engine - 0.42),
                        size,
                        0.84,
                        lw=0.9,
                        ec=style.INK,
                        fc=style.FILLS[step.piece % len(style.FILLS)],
                    )
                )
                axes.text(
                    step.begin + size / 2,
                    step.engine,
                    step.piece + 1,
                    ha="center",
                    va="center",
                    fontsize=10,
                )
            end = max(step.end for step in run)
            word = "stream" if count == 1 else "streams"
            axes.set_title(f"{count} {word}: {end:g} units of time", fontsize=11)
            axes.set_xlim(0, last * 1.01)
            axes.set_xticks(range(int(last) + 1), map(str, range(int(last) + 1)), fontsize=9)
            axes.set_ylim(2.6, -0.6)
            axes.set_yticks(range(3), ENGINES)
            axes.tick_params(axis="y", length=0)
        rows[-1, 0].set_xlabel("time in units of the model; the number in a box is the piece")
    return fig
