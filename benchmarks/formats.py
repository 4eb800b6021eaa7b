"""One large layer in every format: bytes, and time for one input and for a batch.

`benchmarks.precision` prints its table. Every answer is compared with NumPy's before it is timed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpukit
from benchmarks import harness

LAYER = 2048  # inputs and outputs of the layer
ROWS = 1, 64  # of its inputs
DENSITIES = 0.5, 0.2, 0.1, 0.05, 0.01

Row = dict[str, Any]


def milliseconds(sides: dict[str, harness.Work], rounds: int = 40) -> dict[str, float]:
    """Return the median processor time of each side, in turns."""
    for run in sides.values():
        run()  # compiles
    found = harness.interleave(sides, rounds, time.process_time_ns)
    return {side: 1e-6 * statistics.median(times) for side, times in found.items()}


def products(rows: int) -> tuple[dict[str, harness.Work], dict[str, int]]:
    """Return the product of the weights and so many inputs, by format, and its bytes."""
    rng = np.random.default_rng(20261128)
    weight, x = (rng.standard_normal((n, LAYER), np.float32) for n in (LAYER, rows))
    sides: dict[str, harness.Work] = {"NumPy, float32": lambda: x @ weight.T}
    sizes: dict[str, int] = {"NumPy, float32": weight.nbytes}

    def add(name: str, run: Callable[[], Any], used: Any, right: Any, off: float) -> None:
        found = np.asarray(run()).reshape(rows, LAYER)
        assert np.abs(found - right).max() <= off * np.abs(right).max(), name
        sides[name], sizes[name] = run, sum(int(part.nbytes) for part in used)

    exact = x @ weight.T
    if rows == 1:
        add("float32", lambda: gpukit.matvec(weight, x[0]), [weight], exact, 1e-5)
    else:
        add("float32", lambda: gpukit.matmul(x, weight, transpose_b=True), [weight], exact, 1e-5)
    for dtype, off in (("float16", 2e-3), ("bfloat16", 2e-2)):
        low, low_x = gpukit.convert(weight, dtype), gpukit.convert(x, dtype)
        run = _mixed(low_x, low)
        add(dtype, run, [low], exact, off)
    scale, x_scale = gpukit.channel_scales(weight), gpukit.channel_scales(x.reshape(1, -1))
    q, q_x = gpukit.quantize(weight, scale), gpukit.quantize(x, x_scale)

    def int8() -> Any:
        if rows == 1:
            return gpukit.int8_matvec(q, q_x[0])
        return gpukit.int8_matmul(q_x, q)

    sums = q_x.astype(np.float32) @ q.astype(np.float32).T
    add("int8", int8, [q, scale], sums, 1e-6)
    mask = gpukit.mask_2_4(weight)
    half = gpukit.compress_2_4(weight)
    add("2:4", lambda: gpukit.matmul_2_4(x, *half), half, x @ (weight * mask).T, 1e-5)
    for density in DENSITIES:
        left = weight * gpukit.magnitude_mask(weight, 1 - density)
        csr = gpukit.to_csr(left)
        for variant in ("thread_a_row", "warp_a_row"):
            run = _csr(csr, x, variant)
            add(f"CSR, {variant}, {100 * density:g} %", run, csr, x @ left.T, 1e-5)
    return sides, sizes


def _mixed(x: Any, weight: Any) -> harness.Work:
    return lambda: gpukit.mixed_matmul(x, weight, transpose_b=True)


def _csr(csr: Any, x: Any, variant: str) -> harness.Work:
    return lambda: gpukit.csr_matvec(*csr, x, variant=variant)


def layer() -> list[Row]:
    """Return a row per format: bytes of the layer, and the time of each number of inputs."""
    times, sizes = {}, {}
    for rows in ROWS:
        sides, sizes = products(rows)
        times[rows] = milliseconds(sides, 12)
    return [
        {"format": name, "bytes": sizes[name], **{str(rows): times[rows][name] for rows in ROWS}}
        for name in sizes
    ]


def layer_table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table; ratios are to gpukit's float32."""
    headers = ["format", "bytes"]
    headers += [head for n in ROWS for head in (f"{n} x {LAYER} ms", "/ float32")]
    base = next(row for row in rows if row["format"] == "float32")
    lines = []
    for row in rows:
        cells = [row["format"], f"{row['bytes']:,}"]
        for n in map(str, ROWS):
            cells += [f"{row[n]:.3f}", f"{row[n] / base[n]:.2f}"]
        lines.append(cells)
    return harness.markdown(headers, lines)
