"""Pictures for the lesson on memory: traversals of a matrix, and the memories of a GPU."""

# Kernels carry no type hints.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit import cuda
from gpukit.checked import gpus
from gpukit.draw import style

MOST_WALKED = 16


# ---- two traversals of a matrix ------------------------------------------------------------------


@cuda.jit
def rows_kernel(thread, iteration):
    """Write which thread visits each element and when; one thread per row."""
    row = cuda.grid(1)
    if row < thread.shape[0]:
        for col in range(thread.shape[1]):
            thread[row, col] = row
            iteration[row, col] = col


@cuda.jit
def columns_kernel(thread, iteration):
    """Write which thread visits each element and when; one thread per column."""
    col = cuda.grid(1)
    if col < thread.shape[1]:
        for row in range(thread.shape[0]):
            thread[row, col] = col
            iteration[row, col] = row


def walks(side: int = 8, iteration: int | None = None) -> Figure:
    """Draw a square matrix twice: one thread per row, and one thread per column.

    Each cell holds the iteration in which its thread visits it; rows or columns name the thread,
    which also gives the colour. `iteration` marks the elements that all threads visit in it.
    Threads and iterations were recorded.
    """
    if not 1 <= side <= MOST_WALKED or (iteration is not None and not 0 <= iteration < side):
        raise ValueError(
            f"walks: expected a side from 1 to {MOST_WALKED} and an iteration below it, got "
            f"side={side} and iteration={iteration}. Draw a smaller matrix: the pattern is the "
            "same."
        )
    with style.house():
        fig, both = style.figure(max(7.0, 1.15 * side), 0.58 * side + 1.3, 1, 2)
        names = ("one thread per row", "one thread per column")
        for axes, kernel, name in zip(both, (rows_kernel, columns_kernel), names, strict=True):
            thread, iterations = np.full((2, side, side), -1)
            kernel[1, side](thread, iterations)
            _walk(axes, thread, iterations, iteration)
            axes.set_title(name, fontsize=11)
            style.bare(axes)
            if kernel is rows_kernel:
                axes.set_yticks(range(side), map(str, thread[:, 0]))
                axes.set_ylabel("thread")
            else:
                axes.set_xticks(range(side), map(str, thread[0]))
                axes.set_xlabel("thread")
            axes.tick_params(length=0, labelsize=10)
        fig.supxlabel("Each cell shows the iteration in which its thread reads it.", fontsize=11)
    return fig


def _walk(
    axes: Any, thread: npt.NDArray[Any], iterations: npt.NDArray[Any], marked: int | None
) -> None:
    side = len(thread)
    for (row, col), number in np.ndenumerate(thread):
        at = int(iterations[row, col])
        here = at == marked
        plain = marked is None or here
        fill = style.FILLS[int(number) % len(style.FILLS)] if plain else "#ECECEC"
        square: Any = {"fc": fill, "lw": 2.6, "zorder": 2} if here else {"fc": fill, "lw": 0.6}
        axes.add_patch(Rectangle((col - 0.5, row - 0.5), 1, 1, ec=style.INK, **square))
        words: Any = {"ha": "center", "va": "center", "fontsize": 10, "zorder": 3}
        words["fontweight"] = "bold" if here else "normal"
        axes.text(col, row, at, **words)
    axes.set_xlim(-0.6, side - 0.4)
    axes.set_ylim(side - 0.4, -0.6)
    axes.set_aspect("equal")


# ---- the memories of a GPU -----------------------------------------------------------------------


# KB per SM of shared memory and L1 cache together, per compute capability: NVIDIA, "CUDA C++
# Programming Guide", technical specifications, unified data cache.
_SHARED_AND_L1 = {(7, 5): 96, (8, 0): 192, (8, 9): 128, (9, 0): 256, (10, 0): 256}


def memories(gpu: str = "H100") -> Figure:
    """Draw the memories of a thread, a block, a GPU, and of the computer around it.

    Sizes are those of one GPU of `gpukit.checked.gpus`, from NVIDIA's data sheets.
    """
    if gpu not in gpus.GPUS:
        known = ", ".join(gpus.GPUS)
        raise ValueError(f"memories: expected one of {known}, got {gpu!r}. Name one of them.")
    chip = gpus.GPUS[gpu]
    registers, shared = chip.registers_per_sm * 4 // gpus.KB, chip.shared_per_sm // gpus.KB
    both = _SHARED_AND_L1[chip.capability]
    speed = f", {chip.bandwidth / 1e12:.3g} TB/s" if chip.bandwidth else ""
    cache = f"{chip.l2 // gpus.MB} MB" if chip.l2 else "size not found"
    with style.house():
        fig, axes = style.figure(10.0, 5.6)
        _box(axes, (0, 0), (15.4, 10), style.PAPER, f"GPU ({chip.product})")
        _box(axes, (0.4, 3.9), (14.6, 5.2), "#E8F3FA", f"multiprocessor (SM), one of {chip.sms}")
        for at, size, fill, text in (
            (
                (0.8, 6.2),
                (13.8, 2.0),
                "#FFFFFF",
                f"registers: {registers} KB, each thread has its own",
            ),
            *(
                ((1.2 + 3.4 * k, 6.5), (3.0, 0.85), style.FILLS[k], name)
                for k, name in enumerate(("thread 0", "thread 1", "thread 2", "... thread 31 ..."))
            ),
            (
                (0.8, 4.25),
                (6.4, 1.5),
                "#BFE3D6",
                f"shared memory: up to {shared} KB,\nthe threads of a block share it",
            ),
            ((7.2, 4.25), (3.5, 1.5), "#E4E4E4", f"L1 cache: the rest\nof the same {both} KB"),
            ((11.1, 4.25), (3.5, 1.5), "#E4E4E4", "constant cache"),
            ((0.4, 2.45), (14.6, 1.1), "#E4E4E4", f"L2 cache: {cache}, for all SMs"),
            (
                (0.4, 0.4),
                (14.6, 1.7),
                "#FFE2B3",
                f"device memory{speed}: holds global memory,\nlocal memory and constant memory",
            ),
        ):
            _box(axes, at, size, fill, text, small=True)
        host = "host: the computer\n\nits memory holds\nNumPy's arrays"
        _box(axes, (17.6, 0.4), (5.2, 9.6), "#F3D9E6", host)
        both_ways = {"arrowstyle": "<->", "lw": 2.5, "color": style.INK}
        axes.annotate("", (17.5, 1.25), (15.1, 1.25), arrowprops=both_ways)
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
