"""Explorers: HTML with sliders, in which a reader changes a launch and sees what follows.

They need no kernel once they are shown, and no network. Their numbers are computed in JavaScript;
`tests/draw/test_explorers.py` compares them with what kernels write down and gpukit counts.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from gpukit.draw import widgets

SIZES = (1, 2, 4, 8, 16)


def latency_explorer(warps: int = 1, latency: int = 400, work: int = 10) -> widgets.Widget:
    """Show a warp scheduler over time: which warp asks, waits for its data, computes.

    Sliders change the number of warps, the cycles that a load takes and the arithmetic, in
    cycles, for each load.
    """
    options = {"warps": warps, "latency": latency, "work": work}
    limits = {"warps": (1, 64), "latency": (10, 800), "work": (0, 100)}
    _within("latency_explorer", options, limits)
    words = f"{warps} warps, loads of {latency} cycles, {work} cycles of arithmetic for each load"
    return _explorer("latency", options, f"Who waits, who computes: {words}.")


def memory_explorer(stride: int = 1, offset: int = 0, size: int = 4) -> widgets.Widget:
    """Show what a warp touches with x[offset + stride * lane]: sectors and banks.

    Sliders change stride and offset, in elements, and the bytes of an element.
    """
    options = {"stride": stride, "offset": offset, "size": size}
    _within("memory_explorer", options, {"stride": (0, 40), "offset": (0, 32), "size": (1, 16)})
    if size not in SIZES:
        raise ValueError(f"memory_explorer: expected size to be one of {SIZES}, got {size}.")
    words = f"elements of {size} bytes, stride {stride}, offset {offset}"
    return _explorer("memory", options, f"What a warp of 32 lanes touches: {words}.")


def _explorer(name: str, options: Mapping[str, Any], words: str) -> widgets.Widget:
    words = f"Explorer, to be moved in a notebook with JavaScript. {words}"
    page = f"<p>{html.escape(words)}</p>"
    styles = ("explorer.css", f"{name}.css")
    return widgets.widget(name, dict(options), styles=styles, fallback=page, words=words)


def _within(function: str, options: Mapping[str, int], limits: Mapping[str, Sequence[int]]) -> None:
    for name, (least, most) in limits.items():
        if not least <= options[name] <= most:
            raise ValueError(
                f"{function}: expected {name} from {least} to {most}, got {options[name]}. Those "
                "are the ends of its slider."
            )
