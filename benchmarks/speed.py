"""Kernels against NumPy and against loops written by hand, one thread against one thread.

    python benchmarks/speed.py [--n 10000000] [--only transpose] [--json out.json] [--write]

Every row is measured in this one process, in turns, warm; figures are medians, ratios are those
of medians. `off` is `cuda.jit(boundscheck=False)`, `on` is the default. Every answer is checked
before it is timed. `--write` puts the table into docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# One thread against one thread. BLAS reads its variable when NumPy is imported.
ONE_THREAD = ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "NUMBA")
if __name__ == "__main__":
    os.environ.update({f"{name}_NUM_THREADS": "1" for name in ONE_THREAD})
    os.environ["GPUKIT_THREADS"] = "1"
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402  (after the variables that it reads)

from benchmarks.speed_cases import GROUPS, Case, Work, product, vector_add  # noqa: E402
from gpukit import cuda  # noqa: E402

Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "processor": time.process_time}
TARGETS = {"off": 1.25, "on": 1.5}
HANDWRITTEN = 0.8  # the least share of the hand-written loops' speed
DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "speed.md"


# --- Measuring --------------------------------------------------------------------------------


@dataclass
class Row:
    """One case measured: median seconds of each side, by name, and the smallest of them."""

    name: str
    other: str
    median: dict[str, float]
    least: dict[str, float]
    rounds: int
    handwritten: bool
    information: bool
    met: dict[str, bool] = field(default_factory=dict)

    def ratio(self, side: str) -> float:
        """Return time over the other's time; against hand-written loops, speed over speed."""
        ours, theirs = self.median[side], self.median["theirs"]
        return theirs / ours if self.handwritten else ours / theirs

    def judge(self) -> Row:
        """Note whether the figures are met; there is none with checks on against the loops."""
        if self.information:
            return self
        if self.handwritten:
            self.met = {"off": self.ratio("off") >= HANDWRITTEN}
        else:
            self.met = {side: self.ratio(side) <= most for side, most in TARGETS.items()}
        return self


def check(case: Case, work: Work, side: str) -> None:
    """Poison what will be written, run once (which compiles), and compare."""
    inside = (slice(1, -1),) * case.out.ndim if "stencil" in case.name else ...
    case.out[inside] = -1 if case.out.dtype.kind == "i" else np.nan
    work()
    error = np.max(np.abs(case.out.astype(np.float64) - case.expected), initial=0.0)
    if not (error <= case.tolerance):
        raise SystemExit(f"{case.name}, {side}: the answer is wrong by {error}")


def measure(case: Case, rounds: int, clock: Clock = time.perf_counter) -> Row:
    """Time the three sides in turns; whoever begins changes from round to round."""
    # A kernel of this file is a plain function: it is decorated here, both ways.
    function = getattr(case.kernel, "py_func", case.kernel)
    off, on = cuda.jit(boundscheck=False)(function), cuda.jit(function)
    sides: dict[str, Work] = {
        "off": lambda: case.ours(off),
        "theirs": case.theirs,
        "on": lambda: case.ours(on),
    }
    for side in ("off", "on"):
        check(case, sides[side], side)
    samples = interleave(sides, rounds, clock)
    return Row(
        case.name,
        case.other,
        {s: statistics.median(t) for s, t in samples.items()},
        {s: min(t) for s, t in samples.items()},
        rounds,
        "by hand" in case.other,
        case.information,
    ).judge()


def interleave(
    sides: dict[str, Work], rounds: int, clock: Clock = time.perf_counter
) -> dict[str, list[float]]:
    """Return the seconds of every round of every side; two rounds warm up and are dropped."""
    samples: dict[str, list[float]] = {side: [] for side in sides}
    names = list(sides)
    for number in range(rounds + 2):
        turn = number % len(names)
        for side in names[turn:] + names[:turn]:
            start = clock()
            sides[side]()
            samples[side].append(clock() - start)
    return {side: times[2:] for side, times in samples.items()}


def scaling(n: int, side: int, rounds: int) -> list[dict[str, Any]]:
    """Time launches of many blocks on all cores and on one, in turns."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    before = os.environ.get("GPUKIT_THREADS")
    found = []
    for case in (next(product(side)), next(vector_add(n))):
        sides = {"one": _on_cores(case, 1), "all": _on_cores(case, cores or 1)}
        check(case, sides["all"], "all cores")
        times = interleave(sides, rounds)
        row: dict[str, Any] = {"name": case.name, "cores": cores}
        for kind, pick in (("median", statistics.median), ("least", min)):
            row[kind] = {name: pick(t) for name, t in times.items()}
        found.append(row)
    os.environ.pop("GPUKIT_THREADS", None)
    os.environ.update({"GPUKIT_THREADS": before} if before else {})
    return found


def _on_cores(case: Case, cores: int) -> Work:
    def work() -> None:
        os.environ["GPUKIT_THREADS"] = str(cores)  # read at every launch
        case.ours(case.kernel)

    return work


# --- Telling ----------------------------------------------------------------------------------


def machine() -> str:
    """Return what the figures were measured on, in one line, without names or paths."""
    import numba

    return (
        f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, numba {numba.__version__}, {platform.system()}"
    )


def load() -> str:
    """Return how many processes want a core, a minute's mean."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _processor() -> str:
    with_names = Path("/proc/cpuinfo")
    if with_names.exists():
        for line in with_names.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| kernel | against | off ms | on ms | theirs ms | off | on | to reach | met |",
        "|---|---|---:|---:|---:|---:|---:|---|---|",
    ]
    for row in rows:
        goal = ">= 0.8 (speed)" if row.handwritten else "<= 1.25 off, 1.5 on"
        met = ", ".join(f"{s} {'yes' if ok else 'NO'}" for s, ok in row.met.items())
        times = " | ".join(f"{1e3 * row.median[s]:.3f}" for s in ("off", "on", "theirs"))
        ratios = " | ".join(f"{row.ratio(s):.2f}" for s in ("off", "on"))
        goal = "for information" if row.information else goal
        lines.append(f"| {row.name} | {row.other} | {times} | {ratios} | {goal} | {met or '-'} |")
    return "\n".join(lines)


def scaling_table(found: list[dict[str, Any]]) -> str:
    """Return the scaling as a Markdown table."""
    lines = [
        "| kernel | cores | one core ms | all cores ms | speed-up | of the least times |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in found:
        one, both = row["median"]["one"], row["median"]["all"]
        least = row["least"]["one"] / row["least"]["all"]
        lines.append(
            f"| {row['name']} | {row['cores']} | {1e3 * one:.3f} | {1e3 * both:.3f} "
            f"| {one / both:.2f} | {least:.2f} |"
        )
    return "\n".join(lines)


def report(rows: list[Row], spread: list[dict[str, Any]], n: int, loads: str) -> str:
    """Return all that was measured as Markdown."""
    return (
        f"Measured at n = {n:,} on: {machine()}. Load average {loads}.\n\n"
        f"{table(rows)}\n\n{scaling_table(spread)}"
    )


def put(section: str, text: str, document: Path | None = None) -> None:
    """Replace one section of docs/speed.md, or another document, between its markers."""
    document = document or DOCUMENT
    begin, end = f"<!-- {section} begin -->", f"<!-- {section} end -->"
    old = document.read_text(encoding="utf-8")
    before, after = old.partition(begin)[0], old.partition(end)[2]
    document.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--side", type=int, default=1024, help="rows and columns for matmul")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", action="append", default=[], choices=[*GROUPS, "matmul"])
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor when busy")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    options = parser.parse_args(arguments)
    wanted = options.only or [*GROUPS, "matmul", "scaling"]
    before = load()
    rows: list[Row] = []
    for name in wanted:
        makers = GROUPS.get(name) or (product if name == "matmul" else None)
        for case in makers(options.side if name == "matmul" else options.n) if makers else ():
            rows.append(measure(case, options.rounds, CLOCKS[options.clock]))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    spread = scaling(options.n, options.side, options.rounds) if "scaling" in wanted else []
    loads = f"{before} before, {load()} after"
    text = report(rows, spread, options.n, f"{loads}. Clock: {options.clock}")
    print(f"\n{text}")
    if options.write:
        put("speed", text)
    if options.json:
        made = {"machine": machine(), "n": options.n, "load": loads, "scaling": spread}
        made["rows"] = [asdict(r) | {"ratio": {s: r.ratio(s) for s in TARGETS}} for r in rows]
        options.json.write_text(json.dumps(made, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
