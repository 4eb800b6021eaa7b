"""The same kernels in numba-cuda's simulator and in gpukit: how many times faster, warm.

    python benchmarks/against_simulator.py [--python PYTHON] [--json out.json] [--write]

PYTHON is one that has numba-cuda (`make conformance` makes such an environment); without it the
Python that runs this. The simulator takes about two minutes for all three kernels.

Both sides are fresh processes that run this very file with `--side`, which prints seconds: the
simulator one warm run (it compiles nothing, and one run takes a minute), gpukit the median of
many. Both check their answer.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TILE = 16
BLOCK = 256
LEAST = 100_000  # times faster than the simulator

Work = Callable[[], object]


# The `cuda` of the side that this process runs. The simulator puts its own in the place of this
# global while a kernel runs.
cuda: Any = None


# --- Kernels ----------------------------------------------------------------------------------


def vector_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


def matmul_tiled_kernel(a, b, out):
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    for t in range(0, a.shape[1], TILE):
        a_tile[ty, tx] = a[row, t + tx]
        b_tile[ty, tx] = b[t + ty, col]
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all have read both tiles before the next ones are loaded
    out[row, col] = acc


def sum_tree_kernel(x, partials):
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    tile[tid] = x[i] if i < x.shape[0] else np.float32(0)
    cuda.syncthreads()  # the tile is full before any thread reads it
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # this level is written before the next one reads
        half //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]


# --- Data and checks --------------------------------------------------------------------------


def works(scale: int) -> dict[str, tuple[Work, Work]]:
    """Return for each kernel its launch and a check; sizes are divided by `scale`."""
    plain = (vector_add_kernel, matmul_tiled_kernel, sum_tree_kernel)
    vector_add, product, tree = (cuda.jit(kernel) for kernel in plain)
    rng = np.random.default_rng(20261120)
    n, side, terms = 65_536 // scale, 128 // scale, 16_384 // scale
    x, y, z = rng.random((3, n), np.float32)
    a, b, c = rng.random((3, side, side), np.float32)
    values, partials = rng.random(terms, np.float32), np.zeros(terms // BLOCK, np.float32)
    tiles = side // TILE
    return {
        f"vector add, {n:,}": (
            lambda: vector_add[n // BLOCK, BLOCK](x, y, z),
            lambda: np.testing.assert_array_equal(z, x + y),
        ),
        f"tiled matmul, {side} x {side}": (
            lambda: product[(tiles, tiles), (TILE, TILE)](a, b, c),
            lambda: np.testing.assert_allclose(c, a @ b, rtol=1e-4),
        ),
        f"block reduction, {terms:,} elements, {BLOCK} threads": (
            lambda: tree[terms // BLOCK, BLOCK](values, partials),
            lambda: np.testing.assert_allclose(partials.sum(), values.sum(), rtol=1e-4),
        ),
    }


# --- One side, in a process of its own --------------------------------------------------------


def one_side(side: str, scale: int) -> dict[str, float]:
    """Return seconds of a warm launch for each kernel."""
    global cuda
    package = "numba" if side == "simulator" else "gpukit"
    cuda = importlib.import_module(f"{package}.cuda")
    found = {}
    for name, (launch, check) in works(scale).items():
        if side == "simulator":
            found[name] = _seconds(launch)
        else:
            launch()
            found[name] = statistics.median(_seconds(launch) for _ in range(2000))
        check()
    return found


def _seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def child(python: str, side: str, scale: int) -> dict[str, float]:
    """Run one side in a fresh process."""
    path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
    chosen = {"GPUKIT_TARGET": "cpu", "PYTHONPATH": path}
    if side == "simulator":
        chosen = {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": ""}
    made = subprocess.run(
        [python, str(Path(__file__).resolve()), "--side", side, "--scale", str(scale)],
        env={**os.environ, **chosen},
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    if made.returncode:
        raise SystemExit(f"the {side} failed:\n{made.stderr}")
    found: dict[str, float] = json.loads(made.stdout.splitlines()[-1])
    return found


# --- Both -------------------------------------------------------------------------------------


def table(ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Return both sides as a Markdown table."""
    lines = [
        "| kernel | simulator s | gpukit microseconds | times faster | at least | met |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, slow in theirs.items():
        times = slow / ours[name]
        lines.append(
            f"| {name} | {slow:.2f} | {1e6 * ours[name]:.1f} | {times:,.0f} | {LEAST:,} "
            f"| {'yes' if times >= LEAST else 'NO'} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run one side, or both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="a Python with numba-cuda")
    parser.add_argument("--side", choices=("simulator", "gpukit"), help="run one side only")
    parser.add_argument("--scale", type=int, default=1, help="divide all sizes by this")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    options = parser.parse_args(arguments)
    if options.side:
        print(json.dumps(one_side(options.side, options.scale)))
        return 0
    sys.path.insert(0, str(ROOT))
    from benchmarks import speed

    before = speed.load()
    ours = child(sys.executable, "gpukit", options.scale)
    theirs = child(options.python, "simulator", options.scale)
    text = (
        f"Warm, on: {speed.machine()}. Load average {before} before, {speed.load()} after.\n\n"
        f"{table(ours, theirs)}"
    )
    print(text)
    if options.write:
        speed.put("simulator", text)
    if options.json:
        made = {"machine": speed.machine(), "gpukit": ours, "simulator": theirs}
        options.json.write_text(json.dumps(made, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
