"""Pictures of the hardware of a launch, and of a launch at two scales.

Sources of the figures in `computer`: H100: NVIDIA's white paper on the Hopper architecture (132
SMs, 128 float32 units each) and the H100 SXM data sheet (3,350 GB/s). Ryzen 7 7840U: AMD's product
page (8 cores, DDR5-5600 in two channels of 8 bytes: 2 x 8 x 5.6 = 89.6 GB/s) and its optimisation
guide for Zen 4 (two multiply-add units of 8 float32 each per core). PCI Express 5.0: 16 lanes of 32
Gbit/s, 64 GB/s each way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit import launch
from gpukit.draw import style

SMS, UNITS_PER_SM = 132, 128
CORES, UNITS_PER_CORE = 8, 16
GPU_MEMORY, CPU_MEMORY, BUS = 3350.0, 89.6, 64.0  # GB/s

_WIDTH_PER_GB = 1 / 1500  # of a road, in inches per GB/s
_CHIP: dict[str, Any] = {"fc": "#E4E4E0", "ec": style.INK, "lw": 1.6}
_STORE: dict[str, Any] = {"fc": "#FFF3D6", "ec": style.INK, "lw": 1.6}


def computer() -> Figure:
    """Draw a laptop's processor and an H100: arithmetic units as dots, bandwidths to scale."""
    with style.house():
        fig, axes = style.figure(10.2, 5.4)
        axes.set_xlim(-0.1, 10.1)
        axes.set_ylim(5.35, -0.35)
        axes.set_aspect("equal")
        style.bare(axes)
        _chip(axes, 0.2, 0.9, 2.4, 2.0, (4, 2), (4, 4), 1.0)
        _chip(axes, 4.5, 0.25, 5.3, 2.9, (22, 6), (8, 16), 1.0)
        _road(axes, 1.4, 2.9, 4.2, CPU_MEMORY)
        _road(axes, 7.15, 3.15, 4.2, GPU_MEMORY)
        bus = BUS * _WIDTH_PER_GB
        axes.add_patch(Rectangle((2.6, 1.9 - bus / 2), 1.9, bus, fc=style.VERMILLION, lw=0))
        for x, width, words in (
            (0.2, 2.4, "the computer's memory"),
            (4.5, 5.3, "the GPU's own memory"),
        ):
            axes.add_patch(Rectangle((x, 4.2), width, 0.55, **_STORE))
            _write(axes, x + width / 2, 4.475, words)
        _write(axes, 1.4, 0.62, "CPU: 8 cores", weight="bold")
        _write(axes, 7.15, -0.02, "GPU: 132 SMs", weight="bold")
        _write(axes, 3.55, 1.55, "the bus,\n64 GB/s each way")
        _write(axes, 1.55, 3.55, "90 GB/s", ha="left")
        _write(axes, 7.15, 3.68, "3,350 GB/s", weight="bold", color="white")
        _write(axes, 0.2, 5.1, "AMD Ryzen 7 7840U, in laptops", ha="left", fontsize=9)
        _write(
            axes,
            4.5,
            5.1,
            "NVIDIA H100 SXM. A dot: one unit that multiplies and adds float32",
            ha="left",
            fontsize=9,
        )
    return fig


def _chip(
    axes: Any,
    x: float,
    y: float,
    width: float,
    height: float,
    cores: tuple[int, int],
    dots: tuple[int, int],
    size: float,
) -> None:
    """Draw a chip with rows of cores in it and dots in each core; pairs are (across, down)."""
    axes.add_patch(Rectangle((x, y), width, height, **_CHIP))
    step_x, step_y = (width - 0.1) / cores[0], (height - 0.1) / cores[1]
    left = x + 0.05 + step_x * np.arange(cores[0])
    top = y + 0.05 + step_y * np.arange(cores[1])
    for a in left:
        for b in top:
            corner, core = (a + 0.05 * step_x, b + 0.05 * step_y), (0.9 * step_x, 0.9 * step_y)
            axes.add_patch(Rectangle(corner, *core, fc=style.PAPER, ec=style.FAINT, lw=0.6))
    inside_x = 0.1 * step_x + 0.8 * step_x * (np.arange(dots[0]) + 0.5) / dots[0]
    inside_y = 0.1 * step_y + 0.8 * step_y * (np.arange(dots[1]) + 0.5) / dots[1]
    all_x, all_y = np.add.outer(left, inside_x).ravel(), np.add.outer(top, inside_y).ravel()
    grid = np.stack(np.meshgrid(all_x, all_y), axis=-1).reshape(-1, 2)
    axes.plot(*grid.T, "s", ms=size, color=style.BLUE, mew=0)


def _road(axes: Any, middle: float, top: float, bottom: float, speed: float) -> None:
    """Draw the connection of a chip and its memory, as wide as its bandwidth."""
    width = speed * _WIDTH_PER_GB
    axes.add_patch(Rectangle((middle - width / 2, top), width, bottom - top, fc=style.BLUE, lw=0))


def _write(axes: Any, x: float, y: float, words: str, **how: Any) -> None:
    axes.text(x, y, words, va="center", **{"ha": "center", "fontsize": 11, **how})


def zoom(image: Any, block: tuple[int, int], at: tuple[int, int]) -> Figure:
    """Draw an image under its grid of blocks (x, y), the block number `at`, one thread of it."""
    rows, cols = image.shape
    across, down = launch.ceil_div(cols, block[0]), launch.ceil_div(rows, block[1])
    if not (0 <= at[0] < across and 0 <= at[1] < down):
        raise ValueError(
            f"zoom: expected a block from (0, 0) to {(across - 1, down - 1)}, got {at}. Choose one."
        )
    x, y = at[0] * block[0], at[1] * block[1]
    part = image[y : y + block[1], x : x + block[0]]
    low, high = float(np.min(image)), float(np.max(image))
    with style.house():
        fig, axes = style.figure(11.0, 4.4, 1, 2, width_ratios=(1.05, 1))
        for panel, shown in zip(axes, (image, part), strict=True):
            panel.imshow(shown, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
            style.bare(panel)
        _lines(axes[0], (across, down), block, style.INK, 0.3)
        _lines(axes[1], part.shape[::-1], (1, 1), style.PAPER, 0.6)
        pixel = (part.shape[1] // 2, part.shape[0] // 2)
        for panel, (left, top), size in ((axes[0], (x, y), block), (axes[1], pixel, (1, 1))):
            frame = Rectangle((left - 0.5, top - 0.5), *size, fill=False, ec=style.VERMILLION, lw=3)
            frame.set_clip_on(False)
            panel.add_patch(frame)
        axes[0].set_title("the grid: a thin rectangle is a block", fontsize=11)
        axes[1].set_title("the framed block: a square is a thread's pixel", fontsize=11)
    return fig


def _lines(
    axes: Any, count: tuple[int, int], step: tuple[int, int], colour: str, width: float
) -> None:
    right, bottom = count[0] * step[0] - 0.5, count[1] * step[1] - 0.5
    how: Any = {"color": colour, "lw": width, "clip_on": False}
    axes.vlines(np.arange(count[0] + 1) * step[0] - 0.5, -0.5, bottom, **how)
    axes.hlines(np.arange(count[1] + 1) * step[1] - 0.5, -0.5, right, **how)
    axes.set_xlim(-1, right + 0.5)
    axes.set_ylim(bottom + 0.5, -1)
