"""How long a learner waits: imports, the command's help, first launches, warm launches.

    python benchmarks/latency.py [--processes 7] [--json out.json] [--write]

Every figure is the median over several fresh processes; the smallest is given beside it. A first
launch is timed twice: as it comes, with the import of numba inside it if it needs numba, and with
numba imported before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks import speed  # noqa: E402

# What the children run; each prints seconds passed and seconds of processor time.
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
HANDWRITTEN = """
start = clock()
from benchmarks import handwritten
handwritten.matmul_tiled(a, b, out)
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


@dataclass
class Wait:
    """One waiting time: (passed, processor) seconds of every process, and the most allowed."""

    name: str
    seconds: list[tuple[float, float]]
    most: float | None

    @property
    def median(self) -> float:
        """The median over the processes of the seconds passed."""
        return statistics.median(passed for passed, _ in self.seconds)

    @property
    def processor(self) -> float:
        """The median over the processes of processor time."""
        return statistics.median(used for _, used in self.seconds)


def child(code: str, *, cache: str | None = None) -> tuple[float, float]:
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
        raise SystemExit(f"a child failed:\n{made.stderr}")
    passed, used = made.stdout.split()[-2:]
    return float(passed), float(used)


def environment(cache: str | None) -> dict[str, str]:
    """Return this process's variables, with gpukit to be found and a cache folder of its own."""
    path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
    cached = {"GPUKIT_CACHE_DIR": cache} if cache else {}
    # What a person has: modules are compiled to bytecode once, not by every process anew.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": path, **cached}


def process(*words: str) -> tuple[float, float]:
    """Return the seconds of `python WORDS` from start to end."""
    line = f"subprocess.run([sys.executable, *{words!r}], check=True, stdout=subprocess.DEVNULL)"
    return child(f"import subprocess, sys\n{IMPORT.format(line=line)}")


def first_launch(side: int, *, cached: bool, numba_first: bool) -> tuple[float, float]:
    """Return the seconds of the first launch, from an empty cache folder or a filled one."""
    numba = "import numba\nimport numba.core.registry\n" if numba_first else ""
    code = CLOCK + numba + (PREPARE + LAUNCH).format(side=side)
    with tempfile.TemporaryDirectory() as folder:
        if cached:
            child(code, cache=folder)
        return child(code, cache=folder)


def waits(processes: int, side: int, launches: int) -> list[Wait]:
    """Measure all waiting times, process after process, each kind in turn."""
    kinds: list[tuple[str, float | None, Callable[[], tuple[float, float]]]] = [
        ("`import gpukit`", 0.5, lambda: child(IMPORT.format(line="import gpukit"))),
        (
            "`from gpukit import cuda`",
            None,
            lambda: child(IMPORT.format(line="from gpukit import cuda")),
        ),
        (
            "`import numba`, for information",
            None,
            lambda: child(IMPORT.format(line="import numba")),
        ),
        ("Python alone, for information", None, lambda: process("-c", "")),
        ("`gpukit --help`, whole process", 0.15, lambda: process("-m", "gpukit.cli", "--help")),
        (
            "first launch of tiled matmul, cold",
            1.5,
            lambda: first_launch(side, cached=False, numba_first=False),
        ),
        (
            "the same, numba imported before",
            None,
            lambda: first_launch(side, cached=False, numba_first=True),
        ),
        (
            "the same loops written by hand in `njit`, for information",
            None,
            lambda: child(CLOCK + (PREPARE + HANDWRITTEN).format(side=side)),
        ),
        (
            "first launch of tiled matmul, from the disk cache",
            0.3,
            lambda: first_launch(side, cached=True, numba_first=False),
        ),
        (
            "the same, numba imported before",
            None,
            lambda: first_launch(side, cached=True, numba_first=True),
        ),
        (
            "warm launch of one block of 32 threads",
            60e-6,
            lambda: child(CLOCK + WARM.format(launches=launches)),
        ),
    ]
    found = [Wait(name, [], most) for name, most, _ in kinds]
    for _ in range(processes):
        for wait, (_, _, measure) in zip(found, kinds, strict=True):
            wait.seconds.append(measure())
    return found


def table(found: list[Wait]) -> str:
    """Return the waiting times as a Markdown table."""
    lines = [
        "| what | median | least | processor time | at most | met |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for wait in found:
        most = "-" if wait.most is None else duration(wait.most)
        met = "-" if wait.most is None else ("yes" if wait.median <= wait.most else "NO")
        times = " | ".join(duration(t) for t in (wait.median, min(wait.seconds)[0], wait.processor))
        lines.append(f"| {wait.name} | {times} | {most} | {met} |")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Return seconds with the unit that suits them."""
    for size, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} microseconds"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--side", type=int, default=64, help="rows and columns of the matrices")
    parser.add_argument("--launches", type=int, default=5000, help="warm launches in a process")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    options = parser.parse_args(arguments)
    before = speed.load()
    found = waits(options.processes, options.side, options.launches)
    text = (
        f"Medians over {options.processes} processes on: {speed.machine()}. Load average "
        f"{before} before, {speed.load()} after.\n\n{table(found)}"
    )
    print(text)
    if options.write:
        speed.put("latency", text)
    if options.json:
        rows: list[dict[str, Any]] = [asdict(w) | {"median": w.median} for w in found]
        options.json.write_text(json.dumps({"machine": speed.machine(), "waits": rows}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
