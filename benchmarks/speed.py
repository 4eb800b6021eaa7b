"""Kernels against NumPy on one thread, with and without bounds checks; and their scaling on cores.

    python -m benchmarks.speed [KERNEL ...] [--torch] [--json out.json] [--write]
    python -m benchmarks.speed --estimates --write

Names and arrays are those of `gpukit bench`; `conv2d` means all variants of the convolution. Both
builds of a kernel and NumPy run in turns in this process: `off` is `cuda.jit(boundscheck=False)`,
`on` is the default. `--torch` adds PyTorch on the CPU (`make torch`). Each answer is checked before
it is timed. Figures are medians, ratios are ratios of medians. The last column is the time of
`--gpu`, recorded or estimated; `--estimates` renews it alone, for the recorded rows, and times
nothing. The last table compares one core with all of them.
"""

from __future__ import annotations

import copy
import functools
import importlib
import os
import statistics
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import harness

if __name__ == "__main__":
    harness.one_thread()

import numpy as np

from gpukit import cuda, estimates
from gpukit.bench import calls, cases, estimated, launches, rivals, timing

KERNELS = (
    "vector_add",
    "saxpy_grid_stride",
    "relu",
    "sigmoid",
    "tanh",
    "gelu",
    "sum_sequential",
    "sum_atomic",
    "sum_grid_stride",
    "transpose_padded",
    "histogram_privatized",
)
SCALED = ("matmul_tiled", "vector_add")
MOST = {"off": 1.25, "on": 1.5}  # times NumPy's time


@dataclass
class Row:
    """A kernel at one size, and the median and least seconds of each side."""

    name: str
    size: str
    median: dict[str, float]
    least: dict[str, float]

    def ratio(self, side: str) -> float:
        """Return the time of a side over NumPy's."""
        return self.median[side] / self.median["NumPy"]


def compiled(comparison: timing.Comparison, **options: Any) -> calls.Launch:
    """Return the launches of a case with kernels compiled anew, with more options of `cuda.jit`."""
    new: dict[int, Any] = {}
    parts = [copy.copy(part) for part in calls.parts_of(comparison.ours)]
    for part in parts:
        kernel = part.kernel
        if id(kernel) not in new:
            made = cuda.jit(**{**kernel.targetoptions, **options})
            new[id(kernel)] = made(kernel.py_func)
        part.kernel = new[id(kernel)]
    return calls.Launches(*parts)


def check(comparison: timing.Comparison, work: harness.Work) -> None:
    """Poison the result, run once, which compiles, and end the program if the answer is wrong."""
    out = comparison.result()
    out[...] = np.nan if out.dtype.kind == "f" else -1
    work()
    if error := timing.mistake(comparison):
        raise SystemExit(f"{comparison.name}: {error}")


def measure(
    comparison: timing.Comparison,
    rounds: int,
    clock: harness.Clock = harness.CLOCKS["wall"],
    torch: Any = None,
) -> Row:
    """Check both builds of a kernel, then time them, NumPy and, if given, PyTorch in turns."""
    sides: dict[str, harness.Work] = {
        "off": compiled(comparison, boundscheck=False),
        "on": compiled(comparison),
    }
    for work in sides.values():
        check(comparison, work)
    sides["NumPy"] = comparison.on(np)
    if torch and not comparison.units and rivals.named(comparison):
        sides["PyTorch"] = rivals.by_torch(comparison, torch, "cpu")
    return row(comparison.name, comparison.size, harness.interleave(sides, rounds, clock))


def scaling(comparison: timing.Comparison, cores: int, rounds: int) -> Row:
    """Time a kernel on one core and on all of them, in turns."""
    before = os.environ.get("GPUKIT_THREADS")
    sides = {str(n): harness.on_threads(comparison.ours, n) for n in (1, cores)}
    check(comparison, sides[str(cores)])
    found = row(comparison.name, comparison.size, harness.interleave(sides, rounds))
    os.environ.pop("GPUKIT_THREADS", None)
    os.environ.update({"GPUKIT_THREADS": before} if before else {})
    return found


def row(name: str, size: str, samples: dict[str, list[float]]) -> Row:
    """Return the median and the least of the samples of each side."""
    median, least = (
        {side: pick(times) for side, times in samples.items()} for pick in (statistics.median, min)
    )
    return Row(name, size, median, least)


def table(rows: list[Row]) -> str:
    """Return the rows against NumPy as Markdown."""
    headers = ["kernel", "size", "off ms", "on ms", "NumPy ms", "off / NumPy", "on / NumPy"]
    headers += ["off met", "on met"]
    torch = any("PyTorch" in one.median for one in rows)
    lines = []
    for one in rows:
        times = [f"{1e3 * one.median[side]:.3f}" for side in ("off", "on", "NumPy")]
        ratios = [f"{one.ratio(side):.2f}" for side in MOST]
        met = [harness.yes(one.ratio(side) <= most) for side, most in MOST.items()]
        theirs = one.median.get("PyTorch")
        cells = [f"{1e3 * theirs:.3f}", f"{one.median['on'] / theirs:.2f}"] if theirs else "--"
        lines.append([one.name, one.size, *times, *ratios, *met, *(cells * torch)])
    return harness.markdown([*headers, *(["PyTorch ms", "on / PyTorch"] * torch)], lines)


def with_gpu(table: str, gpu: str) -> str:
    """Return the table of rows against NumPy with the times of a GPU as its last column."""
    rows = harness.rows_of(table)
    times = [launches.gpu_time(functools.partial(again, row), gpu) for row in rows]
    heads = [head for head in rows[0] if head.partition(",")[0] not in ("estimated", "recorded")]
    cells = [
        [*map(row.get, heads), t.cell if t else "-"] for row, t in zip(rows, times, strict=True)
    ]
    return harness.markdown([*heads, estimated.heading(times)], cells)


def again(row: dict[str, str]) -> timing.Comparison:
    """Return the comparison of a row of the table, at the size that it names."""
    sizes = (int(n.replace(",", "")) for n in row["size"].split(" x "))
    return cases.CASES[row["kernel"]].of(*sizes)


def scaling_table(rows: list[Row]) -> str:
    """Return the times on one core and on all of them as Markdown."""
    headers = ["kernel", "size", "cores", "one core ms", "all cores ms", "speed-up"]
    lines = []
    for found in rows:
        one, cores = min(found.median, key=int), max(found.median, key=int)
        times = [f"{1e3 * found.median[side]:.3f}" for side in (one, cores)]
        ups = [f"{sides[one] / sides[cores]:.2f}" for sides in (found.median, found.least)]
        lines.append([found.name, found.size, cores, *times, *ups])
    return harness.markdown([*headers, "speed-up, minimum times"], lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = harness.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="KERNEL", help="default: some of all kinds")
    parser.add_argument("--quick", action="store_true", help="small arrays")
    parser.add_argument("--torch", action="store_true", help="add PyTorch")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--clock", choices=harness.CLOCKS, default="wall", help="processor if busy")
    parser.add_argument("--gpu", default=estimates.USUAL, help="of the last column")
    parser.add_argument("--estimates", action="store_true", help="renew the last column alone")
    options = parser.parse_args(arguments)
    gpu = estimates.gpus.find(options.gpu, "speed").name
    if options.estimates:
        about, recorded, *rest = harness.section("speed").split("\n\n")
        text = "\n\n".join([about, with_gpu(recorded, gpu), *rest])
        harness.finish(options, "speed", text, {"about": about})
        return 0
    before, rows, spread = harness.load(), [], []
    torch = importlib.import_module("torch") if options.torch else None
    if torch:
        torch.set_num_threads(1)
    for name in cases.choose(options.names or KERNELS):
        comparison = cases.make(name, quick=options.quick)
        clock = harness.CLOCKS[options.clock]
        rows.append(measure(comparison, options.rounds, clock, torch))
        print(table(rows[-1:]).splitlines()[-1], flush=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for name in () if options.names else SCALED:
        comparison = cases.make(name, quick=options.quick)
        spread.append(scaling(comparison, cores or 1, options.rounds))
    about = (
        f"Measured on: {harness.machine()}. Load average {before} before, {harness.load()} after. "
        f"Clock: {options.clock}."
    )
    tables = [with_gpu(table(rows), gpu), *([scaling_table(spread)] if spread else [])]
    record = {"about": about, "rows": list(map(asdict, rows)), "scaling": list(map(asdict, spread))}
    harness.finish(options, "speed", "\n\n".join([about, *tables]), record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
