"""How long a learner waits: imports, the command's help, first launches, warm launches.

    python -m benchmarks.latency [--processes 7] [--json out.json] [--write]

Each figure is the median over fresh processes; the least is given beside it. A cold first launch
has an empty cache folder, a cached one the folder that another process filled. A first launch is
timed twice: with the import of Numba, if it needs one, and with Numba imported before the clock
starts. Processor time does not depend on what else the machine is doing.
"""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass

from benchmarks import harness
from gpukit.bench.report import duration

# What the child processes run; each prints seconds elapsed and seconds of processor time.
CLOCK = """
import os, time
def clock():
    used = os.times()
    return time.perf_counter(), sum(used[:4])
def tell(start, calls=1):
    print(*((b - a) / calls for a, b in zip(start, clock())))
"""
IMPORT = CLOCK + "start = clock()\n{line}\ntell(start)\n"
PREPARE = """
import numpy as np
from gpukit.kernels.matmul import tiled
rng = np.random.default_rng(1)
a, b = rng.random((2, {side}, {side}), np.float32)
out = np.full(({side}, {side}), np.nan, np.float32)
grid = -(-{side} // tiled.TILE)
"""
LAUNCH = """
start = clock()
tiled.matmul_tiled_kernel[(grid, grid), (tiled.TILE, tiled.TILE)](a, b, out)
tell(start)
assert np.allclose(out, a @ b, rtol=1e-4), "the product is wrong"
"""
BY_HAND = """
start = clock()
from benchmarks.plain_loops.by_hand_matrices import matmul_tiled
matmul_tiled((grid, grid), (tiled.TILE, tiled.TILE), a, b, out)
tell(start)
assert np.allclose(out, a @ b, rtol=1e-4), "the product is wrong"
"""
WARM = """
import numpy as np
from gpukit.kernels import vector
a, b, out = np.ones(32, np.float32), np.ones(32, np.float32), np.zeros(32, np.float32)
kernel = vector.vector_add_kernel
kernel[1, 32](a, b, out)
assert (out == 2).all(), "the sum is wrong"
start = clock()
for _ in range({launches}):
    kernel[1, 32](a, b, out)
tell(start, {launches})
"""
Seconds = tuple[float, float]  # elapsed, and of the processor


@dataclass
class Wait:
    """A waiting time: the seconds of each process, and the most allowed."""

    name: str
    most: float | None
    seconds: list[Seconds]

    @property
    def median(self) -> float:
        """The median of the seconds elapsed."""
        return statistics.median(elapsed for elapsed, _ in self.seconds)

    @property
    def processor(self) -> float:
        """The median of the processor time."""
        return statistics.median(used for _, used in self.seconds)


def child(code: str, *, cache: str | None = None) -> Seconds:
    """Run code in a fresh process and return the two numbers that it prints."""
    made = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(cache),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if made.returncode:
        raise SystemExit(f"a child process failed:\n{made.stderr}")
    elapsed, used = made.stdout.split()[-2:]
    return float(elapsed), float(used)


def environment(cache: str | None) -> dict[str, str]:
    """Return the environment of a child: gpukit on its path, and its own cache folder."""
    path = os.pathsep.join(p for p in (str(harness.ROOT), os.environ.get("PYTHONPATH")) if p)
    cached = {"GPUKIT_CACHE_DIR": cache} if cache else {}
    # As for a learner, modules are compiled to bytecode once, not in every process.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": path, **cached}


def line(text: str) -> Seconds:
    """Return the seconds of a line of Python."""
    return child(IMPORT.format(line=text))


def process(*words: str) -> Seconds:
    """Return the seconds of `python WORDS` from start to end."""
    run = f"subprocess.run([sys.executable, *{words!r}], check=True, stdout=subprocess.DEVNULL)"
    return child(f"import subprocess, sys\n{IMPORT.format(line=run)}")


def first_launch(side: int, *, cached: bool, numba_first: bool) -> Seconds:
    """Return the seconds of the first launch, from an empty or a filled cache folder."""
    numba = "import numba\nimport numba.core.registry\n" if numba_first else ""
    code = CLOCK + numba + (PREPARE + LAUNCH).format(side=side)
    with tempfile.TemporaryDirectory() as folder:
        if cached:
            child(code, cache=folder)
        return child(code, cache=folder)


def waits(processes: int, side: int, launches: int) -> list[Wait]:
    """Measure all waiting times, process after process, all kinds in turn."""
    first = functools.partial(first_launch, side)
    by_hand = CLOCK + (PREPARE + BY_HAND).format(side=side)
    warm = CLOCK + WARM.format(launches=launches)
    kinds: list[tuple[str, float | None, Callable[[], Seconds]]] = [
        ("`import gpukit`", 0.5, lambda: line("import gpukit")),
        ("`from gpukit import cuda`", None, lambda: line("from gpukit import cuda")),
        ("`import numba`, for comparison", None, lambda: line("import numba")),
        ("Python alone, for comparison", None, lambda: process("-c", "")),
        ("`gpukit --help`, whole process", 0.15, lambda: process("-m", "gpukit.cli", "--help")),
        ("first launch of tiled matmul, cold", 1.5, lambda: first(cached=False, numba_first=False)),
        ("the same, Numba already imported", None, lambda: first(cached=False, numba_first=True)),
        ("the same as handwritten `njit` loops, for comparison", None, lambda: child(by_hand)),
        (
            "first launch of tiled matmul, from the disk cache",
            0.3,
            lambda: first(cached=True, numba_first=False),
        ),
        ("the same, Numba already imported", None, lambda: first(cached=True, numba_first=True)),
        ("warm launch of one block of 32 threads", 60e-6, lambda: child(warm)),
    ]
    found = [Wait(name, most, []) for name, most, _ in kinds]
    for _ in range(processes):
        for wait, (_, _, measure) in zip(found, kinds, strict=True):
            wait.seconds.append(measure())
    return found


def table(found: list[Wait]) -> str:
    """Return the waiting times as a Markdown table."""
    rows = []
    for wait in found:
        times = [duration(t) for t in (wait.median, min(wait.seconds)[0], wait.processor)]
        limit = ["-", "-"]
        if wait.most is not None:
            limit = [duration(wait.most), harness.yes(wait.median <= wait.most)]
        rows.append([wait.name, *times, *limit])
    headers = ["operation", "median", "minimum", "processor time", "limit", "met"]
    return harness.markdown(headers, rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = harness.parser(__doc__)
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--side", type=int, default=64, help="rows and columns of the matrices")
    parser.add_argument("--launches", type=int, default=5000, help="warm launches per process")
    options = parser.parse_args(arguments)
    before = harness.load()
    found = waits(options.processes, options.side, options.launches)
    about = (
        f"Medians over {options.processes} processes on: {harness.machine()}. Load average "
        f"{before} before, {harness.load()} after."
    )
    record = {"about": about, "waits": [asdict(w) | {"median": w.median} for w in found]}
    harness.finish(options, "latency", f"{about}\n\n{table(found)}", record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
