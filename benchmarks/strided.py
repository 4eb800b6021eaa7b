"""Host functions with grid-stride kernels against NumPy, from small to large arrays, on all cores.

    python -m benchmarks.strided [--only max] [--json out.json] [--write]

Both sides run in turns in this process after the answers were compared. On a busy machine the least
time says most, because it is that of a launch that was not interrupted; medians stand beside it.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from benchmarks import harness, speed
from gpukit import launch
from gpukit.kernels import dot, extremes, histogram, losses, optimizers, reduce, vector

SIZES = {100_000: 400, 1_000_000: 100, 10_000_000: 25}  # elements, and rounds
MOST = {"100,000": 5.0, "1,000,000": 2.0, "10,000,000": 2.0}  # times NumPy's time
BINS = 256


def pairs(n: int) -> dict[str, tuple[harness.Work, harness.Work]]:
    """Return, by name, a host function and NumPy's equivalent on the same arrays."""
    rng = np.random.default_rng(20261126)
    x, y = rng.random((2, n), np.float32)
    values = rng.integers(0, BINS, n).astype(np.uint8)
    out, scratch, grad = np.empty(n, np.float32), np.empty(n, np.float32), x.copy()

    def saxpy() -> object:
        np.multiply(x, np.float32(2.5), out=scratch)
        return np.add(scratch, y, out=scratch)

    def clip() -> object:
        norm = np.sqrt(np.dot(grad, grad))
        np.multiply(grad, np.float32(1), out=scratch)
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


def measure(name: str, n: int, ours: harness.Work, numpy: harness.Work, rounds: int) -> speed.Row:
    """Compare the answers, then time both sides in turns."""
    np.testing.assert_allclose(ours(), numpy(), rtol=1e-3)
    return speed.row(name, f"{n:,}", harness.interleave({"ours": ours, "NumPy": numpy}, rounds))


def table(rows: list[speed.Row]) -> str:
    """Return the rows as a Markdown table."""
    headers = ["function", "n", "gpukit, minimum", "NumPy, minimum", "ratio"]
    headers += ["gpukit, median", "NumPy, median", "limit", "met"]
    lines = []
    for row in rows:
        ratio, most = row.least["ours"] / row.least["NumPy"], MOST[row.size]
        least, medians = (
            [f"{1e6 * seconds:,.1f}" for seconds in found.values()]
            for found in (row.least, row.median)
        )
        limit = [f"{most:g}", harness.yes(ratio <= most)]
        lines.append([row.name, row.size, *least, f"{ratio:.2f}", *medians, *limit])
    return harness.markdown(headers, lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = harness.parser(__doc__)
    parser.add_argument("--only", action="append", default=[], help="a function")
    options = parser.parse_args(arguments)
    before, rows = harness.load(), []
    for n, rounds in SIZES.items():
        for name, sides in pairs(n).items():
            if name in options.only or not options.only:
                rows.append(measure(name, n, *sides, rounds))
                print(table(rows[-1:]).splitlines()[-1], flush=True)
    about = (
        f"Microseconds, on: {harness.machine()}. {launch.resident_blocks(256)} blocks of 256 "
        f"threads are resident at once. Load average {before} before, {harness.load()} after."
    )
    record = {"about": about, "rows": list(map(asdict, rows))}
    harness.finish(options, "strided", f"{about}\n\n{table(rows)}", record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
