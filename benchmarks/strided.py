"""Host functions whose kernels stride through the grid, against NumPy, from small to large arrays.

    python benchmarks/strided.py [--only max] [--json out.json] [--write]

Every row is measured in this one process, in turns, warm, on all cores; each answer is checked
first. On a machine that does other work, too, the least time says most: a launch that was not
interrupted. Medians are given beside it. `--write` puts the table into docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.speed import interleave, load, machine, put
from gpukit import launch
from gpukit.kernels import dot, extremes, histogram, losses, optimizers, reduce, vector

Work = Callable[[], Any]
SIZES = {100_000: 400, 1_000_000: 100, 10_000_000: 25}  # elements, and rounds
MOST = {100_000: 5.0, 1_000_000: 2.0, 10_000_000: 2.0}  # times NumPy's time
BINS = 256


@dataclass
class Row:
    """One function measured at one size: microseconds, the least and the median of both sides."""

    name: str
    n: int
    ours: float
    numpy: float
    ours_median: float
    numpy_median: float

    @property
    def ratio(self) -> float:
        """Our least time over NumPy's."""
        return self.ours / self.numpy


def pairs(n: int) -> dict[str, tuple[Work, Work]]:
    """Return, by name, what a host function does and what NumPy does for the same."""
    rng = np.random.default_rng(20261126)
    x, y = rng.random((2, n), np.float32)
    values = rng.integers(0, BINS, n).astype(np.uint8)
    out, mine, grad = np.empty(n, np.float32), np.empty(n, np.float32), x.copy()

    def saxpy() -> Any:
        np.multiply(x, np.float32(2.5), out=mine)
        return np.add(mine, y, out=mine)

    def clip() -> Any:
        norm = np.sqrt(np.dot(grad, grad))
        np.multiply(grad, np.float32(1), out=mine)
        return norm

    return {
        "max": (lambda: extremes.max(x), lambda: np.max(x)),
        "min": (lambda: extremes.min(x), lambda: np.min(x)),
        "argmax": (lambda: extremes.argmax(x), lambda: np.argmax(x)),
        "sum, grid-stride": (lambda: reduce.sum(x), lambda: np.sum(x)),
        "sum, shuffle": (lambda: reduce.sum(x, variant="shuffle"), lambda: np.sum(x)),
        "sum, vectorized": (lambda: reduce.sum(x, variant="vectorized"), lambda: np.sum(x)),
        "dot": (lambda: dot.dot(x, y), lambda: np.dot(x, y)),
        "saxpy": (lambda: vector.saxpy(2.5, x, y, out=out), saxpy),
        "histogram": (
            lambda: histogram.bincount(values, BINS),
            lambda: np.bincount(values, minlength=BINS),
        ),
        "mse_loss": (lambda: losses.mse_loss(x, y), lambda: np.mean(np.square(x - y))),
        "clip_grad_norm": (lambda: optimizers.clip_grad_norm(grad, 1e9), clip),
    }


def measure(name: str, n: int, sides: tuple[Work, Work], rounds: int) -> Row:
    """Check the answer, then time both sides in turns."""
    ours, numpy = sides
    np.testing.assert_allclose(ours(), numpy(), rtol=1e-3)
    times = interleave({"ours": ours, "numpy": numpy}, rounds)
    least, median = (
        {side: 1e6 * pick(t) for side, t in times.items()} for pick in (min, statistics.median)
    )
    return Row(name, n, least["ours"], least["numpy"], median["ours"], median["numpy"])


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| function | n | ours, least | NumPy, least | ratio | ours, median | NumPy, median "
        "| at most | met |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        most = MOST[row.n]
        lines.append(
            f"| {row.name} | {row.n:,} | {row.ours:,.1f} | {row.numpy:,.1f} | {row.ratio:.2f} "
            f"| {row.ours_median:,.1f} | {row.numpy_median:,.1f} | {most:g} "
            f"| {'yes' if row.ratio <= most else 'NO'} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    options = parser.parse_args(arguments)
    before, rows = load(), []
    for n, rounds in SIZES.items():
        for name, sides in pairs(n).items():
            if name in options.only or not options.only:
                rows.append(measure(name, n, sides, rounds))
                print(table(rows[-1:]).splitlines()[-1], flush=True)
    blocks = launch.resident_blocks(256)
    loads = f"{before} before, {load()} after"
    text = (
        f"Microseconds, on: {machine()}. {blocks} blocks of 256 threads are resident at once. "
        f"Load average {loads}.\n\n{table(rows)}"
    )
    if options.write:
        put("strided", text)
    if options.json:
        made = {"machine": machine(), "blocks": blocks, "load": loads}
        made["rows"] = [asdict(row) | {"ratio": row.ratio} for row in rows]
        options.json.write_text(json.dumps(made, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
