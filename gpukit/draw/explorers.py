"""Explorers: HTML with sliders, in which a reader changes a launch and sees the effect.

They need no kernel once they are shown, and no network. Their numbers are computed in JavaScript;
`tests/draw/test_explorers.py` compares them with kernels' records and gpukit's counts.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpukit import launch
from gpukit.draw import widgets

SIZES = (1, 2, 4, 8, 16)
# More cells than this are too small to see, and slow to draw.
MOST_CELLS = 65_536
Sizes = int | Sequence[int]


def launch_explorer(
    shape: Sizes = 100, block: Sizes = 32, grid: Sizes | None = None
) -> widgets.Widget:
    """Show which thread of a launch processes which element of an array, and which are idle.

    `shape` is the array's, (planes, rows, columns); `block` and `grid` are (x, y, z), as in a
    launch. Without `grid` there are just enough blocks, whatever the other sliders say.
    """
    dims = len(_listed(shape))
    sizes = _listed(shape)[::-1]
    blocks = _listed(block)
    if not (1 <= dims <= 3 and len(blocks) == dims and min(*sizes, *blocks, 1) >= 1):
        raise ValueError(
            f"launch_explorer: expected a shape of 1 to 3 dimensions and a block of as many, both "
            f"of 1 or more, got {shape} and {block}. Give block=(x, y) for a matrix."
        )
    grids = _listed(grid) if grid is not None else list(map(launch.ceil_div, sizes, blocks))
    cells = math.prod(max(n, g * b) for n, g, b in zip(sizes, grids, blocks, strict=True))
    if cells > MOST_CELLS:
        raise ValueError(
            f"launch_explorer: expected at most {MOST_CELLS:,} elements and threads, got {cells:,}."
            " Show a smaller launch: the pattern is the same."
        )
    options = {"shape": sizes, "block": blocks, "grid": grids}
    padded: dict[str, Any] = {k: [*v, 1, 1][:3] for k, v in options.items()}
    elements = " x ".join(map(str, _listed(shape)))
    words = f"an array of {elements} elements, blocks of {block} threads"
    words += f", a grid of {grid} blocks" if grid is not None else ""
    state = padded | {"dims": dims, "auto": grid is None}
    return _explorer("launch", state, f"Which thread processes which element: {words}.")


def _listed(sizes: Sizes) -> list[int]:
    return [int(n) for n in ([sizes] if isinstance(sizes, int) else sizes)]


def latency_explorer(warps: int = 1, latency: int = 400, work: int = 10) -> widgets.Widget:
    """Show a warp scheduler over time: which warp issues a load, waits for it, computes.

    Sliders change the number of warps, the latency of a load in cycles and the arithmetic per load,
    in cycles.
    """
    options = {"warps": warps, "latency": latency, "work": work}
    limits = {"warps": (1, 64), "latency": (10, 800), "work": (0, 100)}
    _within("latency_explorer", options, limits)
    many = f"{warps} warp{'s' * (warps != 1)}"
    words = f"{many}, loads of {latency} cycles, {work} cycles of arithmetic per load"
    return _explorer("latency", options, f"Which warps wait and which compute: {words}.")


def memory_explorer(stride: int = 1, offset: int = 0, size: int = 4) -> widgets.Widget:
    """Show which sectors and banks a warp accesses with x[offset + stride * lane].

    Sliders change stride and offset, in elements, and the element size in bytes.
    """
    options = {"stride": stride, "offset": offset, "size": size}
    _within("memory_explorer", options, {"stride": (0, 40), "offset": (0, 32), "size": (1, 16)})
    if size not in SIZES:
        raise ValueError(f"memory_explorer: expected size to be one of {SIZES}, got {size}.")
    words = f"elements of {size} bytes, stride {stride}, offset {offset}"
    return _explorer("memory", options, f"Accesses of a warp of 32 lanes: {words}.")


def pipeline_explorer(
    stages: int = 4,
    batches: int = 8,
    *,
    backward: float = 2.0,
    transfer: float = 0.0,
    schedule: str = "1F1B",
) -> widgets.Widget:
    """Show which stage of a pipeline computes and which waits, over time.

    Sliders change the number of stages and micro-batches (`batches`), the time of a backward pass
    and of a message, in forward passes; the schedule is "GPipe" or "1F1B".
    """
    options = {"stages": stages, "batches": batches, "backward": backward, "transfer": transfer}
    limits = {"stages": (1, 16), "batches": (1, 64), "backward": (1, 3), "transfer": (0, 2)}
    _within("pipeline_explorer", options, limits)
    if schedule not in ("GPipe", "1F1B"):
        raise ValueError(
            f'pipeline_explorer: expected schedule to be "GPipe" or "1F1B", got {schedule!r}.'
        )
    words = f"{stages} stages, {batches} micro-batches, {schedule}"
    state = options | {"schedule": schedule.lower()}
    return _explorer("pipeline", state, f"Which stages compute and which wait: {words}.")


def _explorer(name: str, options: Mapping[str, Any], words: str) -> widgets.Widget:
    words = f"Interactive explorer (needs JavaScript). {words}"
    page = f"<p>{html.escape(words)}</p>"
    styles = ("explorer.css", f"{name}.css")
    return widgets.widget(name, dict(options), styles=styles, fallback=page, words=words)


def _within(
    function: str, options: Mapping[str, float], limits: Mapping[str, Sequence[int]]
) -> None:
    for name, (least, most) in limits.items():
        if not least <= options[name] <= most:
            raise ValueError(
                f"{function}: expected {name} from {least} to {most}, got {options[name]}. Those "
                "are the ends of its slider."
            )
