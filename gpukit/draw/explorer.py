"""The launch explorer: one picture and the numbers of any launch over an image."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from gpukit import launch
from gpukit.draw import launches, record, style

WARP = 32


def explore(
    rows: int, cols: int, block: tuple[int, int] = (8, 4), grid: tuple[int, int] | None = None
) -> Figure:
    """Draw a launch of blocks (x, y) over an image, and beside it what it amounts to.

    Without `grid` there are just enough blocks. The launch is really made: a block or a grid
    that a GPU would refuse raises the same LaunchError as with any kernel.
    """
    grid = launch.grid_2d("explore", cols, rows, block) if grid is None else grid
    launches.check_size("explore", rows, cols, grid, block)
    canvas = record.ownership(rows, cols, grid, block)
    found = launches.count(canvas, rows, cols, block)
    with style.house():
        fig, (left, right) = style.figure(11.0, 5.2, 1, 2, width_ratios=(2.6, 1))
        launches.plan(left, canvas, rows, cols, block)
        left.set_title(f"kernel[{grid}, {block}]")
        style.bare(right)
        for line, (name, value) in enumerate(_facts(found, block)):
            right.text(0, 0.98 - 0.105 * line, name, transform=right.transAxes, va="top")
            right.text(1, 0.98 - 0.105 * line, value, transform=right.transAxes, va="top",
                       ha="right", fontweight="bold")  # fmt: skip
        launches.legend(fig, canvas, rows, cols)
    return fig


def in_words(rows: int, cols: int, block: tuple[int, int], grid: tuple[int, int]) -> str:
    """Say what `explore` draws, for its alt text."""
    launches.check_size("in_words", rows, cols, grid, block)
    canvas = record.ownership(rows, cols, grid, block)
    facts = _facts(launches.count(canvas, rows, cols, block), block)
    return f"Launch {grid}, {block} over {rows} rows and {cols} columns. " + ". ".join(
        f"{name}: {value}" for name, value in facts
    )


def _facts(found: launches.Count, block: tuple[int, int]) -> list[tuple[str, Any]]:
    per_block = block[0] * block[1]
    warps = found.blocks * launch.ceil_div(per_block, WARP)
    return [
        ("blocks", f"{found.blocks:,}"),
        ("threads a block", f"{per_block:,}"),
        ("threads", f"{found.threads:,}"),
        ("warps", f"{warps:,}"),
        ("lanes without a thread", f"{warps * WARP - found.threads:,}"),
        ("threads without a pixel", f"{found.idle:,} ({100 * found.idle / found.threads:.0f}%)"),
        ("pixels", f"{found.elements:,}"),
        ("pixels without a thread", f"{found.missed:,}"),
    ]
