"""Pictures for the lesson on memory: two walks over a matrix, the memories of a GPU, streams."""

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
from gpukit.draw import style

MOST_WALKED = 16


# ---- two walks over a matrix ---------------------------------------------------------------------


@cuda.jit
def rows_kernel(thread, turn):
    """Write which thread visits each element and when; each thread has a row."""
    row = cuda.grid(1)
    if row < thread.shape[0]:
        for col in range(thread.shape[1]):
            thread[row, col] = row
            turn[row, col] = col


@cuda.jit
def columns_kernel(thread, turn):
    """Write which thread visits each element and when; each thread has a column."""
    col = cuda.grid(1)
    if col < thread.shape[1]:
        for row in range(thread.shape[0]):
            thread[row, col] = col
            turn[row, col] = row


def walks(side: int = 8, turn: int | None = None) -> Figure:
    """Draw a square matrix twice: a thread for each row, and a thread for each column.

    Each cell holds the thread that visits it, and below it the turn of that thread's loop.
    `turn` marks what all threads visit in that turn. The kernels wrote down both numbers.
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
        axes.add_patch(Rectangle((col - 0.5, row - 0.5), 1, 1, fc=fill, ec=style.INK,
                                 lw=2.6 if here else 0.6, zorder=2 if here else 1))  # fmt: skip
        weight = "bold" if here else "normal"
        axes.text(col, row - 0.13, f"thread {number}", ha="center", va="center", fontsize=6.5,
                  zorder=3, fontweight=weight)  # fmt: skip
        axes.text(col, row + 0.22, f"turn {at}", ha="center", va="center", fontsize=6.5, zorder=3,
                  fontweight=weight)  # fmt: skip
    axes.set_xlim(-0.6, side - 0.4)
    axes.set_ylim(side - 0.4, -0.6)
    axes.set_aspect("equal")


# ---- the memories of a GPU -----------------------------------------------------------------------


def memories(gpu: str = "H100") -> Figure:
    """Draw where numbers can be: in a thread, a block, on the GPU, in the computer around it.

    Sizes are those of one GPU of `gpukit.checked.gpus`, from NVIDIA's sheets.
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
        _box(axes, (0.8, 6.2), (13.8, 2.0), "#FFFFFF",
             f"registers: {registers} KB, each thread has its own", small=True)  # fmt: skip
        for number in range(4):
            _box(axes, (1.2 + 3.4 * number, 6.5), (3.0, 0.85), style.FILLS[number],
                 f"thread {number}" if number < 3 else "... thread 31 ...", small=True)  # fmt: skip
        _box(axes, (0.8, 4.25), (8.2, 1.5), "#BFE3D6",
             f"shared memory: up to {shared} KB,\nthe threads of a block share it",
             small=True)  # fmt: skip
        _box(axes, (9.4, 4.25), (5.2, 1.5), "#E4E4E4", "L1 cache, constant cache:\nkept by the "
             "hardware", small=True)  # fmt: skip
        _box(axes, (0.4, 2.45), (14.6, 1.1), "#E4E4E4", f"L2 cache: {cache}, for all SMs",
             small=True)  # fmt: skip
        _box(axes, (0.4, 0.4), (14.6, 1.7), "#FFE2B3",
             f"device memory{speed}: holds global memory,\nlocal memory and constant memory",
             small=True)  # fmt: skip
        _box(axes, (17.6, 0.4), (5.2, 9.6), "#F3D9E6", "host: the computer\n\nits memory holds\n"
             "NumPy's arrays")  # fmt: skip
        axes.annotate("", (17.5, 1.25), (15.1, 1.25),
                      arrowprops={"arrowstyle": "<->", "lw": 2.5, "color": style.INK})  # fmt: skip
        axes.text(16.5, 1.6, "bus", ha="center", fontsize=11, fontweight="bold")
        axes.set_xlim(-0.1, 22.9)
        axes.set_ylim(-0.1, 10.1)
        style.bare(axes)
    return fig


def _box(axes: Any, at: tuple[float, float], size: tuple[float, float], fill: str, text: str,
         small: bool = False) -> None:  # fmt: skip
    (x, y), (width, height) = at, size
    axes.add_patch(Rectangle(at, width, height, fc=fill, ec=style.INK, lw=1.1))
    axes.text(x + 0.2, y + height - 0.18, text, va="top", fontsize=9.5 if small else 11.5,
              fontweight="normal" if small else "bold", linespacing=1.35)  # fmt: skip


# ---- streams -------------------------------------------------------------------------------------


class Step(NamedTuple):
    """One box of a time line: which engine does it, for which piece, from when to when."""

    engine: int
    piece: int
    begin: float
    end: float


ENGINES = ("copies to the GPU", "kernels", "copies back")


def stream_steps(times: tuple[float, float, float], pieces: int, streams: int) -> list[Step]:
    """Return the time line of copying in, computing and copying back in pieces.

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
    """Draw the same work in different numbers of streams: who is busy when. A model, no time."""
    runs = [stream_steps(times, pieces, count) for count in streams]
    last = max(step.end for run in runs for step in run)
    with style.house():
        fig, rows = style.figure(9.4, 1.75 * len(runs) + 0.5, len(runs), 1, squeeze=False)
        for axes, run, count in zip(rows[:, 0], runs, streams, strict=True):
            for step in run:
                size = step.end - step.begin
                axes.add_patch(Rectangle(
                    (step.begin, step.engine - 0.42), size, 0.84, lw=0.9, ec=style.INK,
                    fc=style.FILLS[step.piece % len(style.FILLS)],
                ))  # fmt: skip
                axes.text(step.begin + size / 2, step.engine, step.piece + 1, ha="center",
                          va="center", fontsize=10)  # fmt: skip
            end = max(step.end for step in run)
            word = "stream" if count == 1 else "streams"
            axes.set_title(f"{count} {word}: {end:g} units of time", fontsize=11)
            axes.set_xlim(0, last * 1.01)
            axes.set_ylim(2.6, -0.6)
            axes.set_yticks(range(3), ENGINES)
            axes.tick_params(axis="y", length=0)
        rows[-1, 0].set_xlabel("time in units of the model; the number in a box is the piece")
    return fig
