"""The whole GPU run, in less than ten minutes and with no network: one JSON to send back.

    python benchmarks/gpu_run.py --out gpu.json              on a machine with an NVIDIA GPU
    python benchmarks/gpu_run.py --out x.json --rehearse     anywhere: small sizes, the host's clock

Needs numba-cuda; measures CuPy and PyTorch too where they are installed. First every kernel's
answer is checked, on outputs that begin as NaN; what is wrong is reported and not timed. Then every
kernel is timed in turns with the libraries, the most telling first, for as long as the time allows.
The file is written again after each kernel, so that nothing is lost if the run ends early. Ends
with 1 if an answer is wrong, 3 without a GPU.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from gpukit import cuda, target
from gpukit.bench import cases, ceilings, gpu, timing
from gpukit.bench.timing import Contest

MINUTES = 9.5
SECONDS = 4.0  # for one kernel and its rivals
# What a reader asks for first; the rest follows in the order of the book.
FIRST = (
    "matmul", "vector_add", "saxpy", "relu", "copy", "transpose", "sum", "matvec", "dot", "scan",
)  # fmt: skip
PACKAGES = ("numba", "numba-cuda", "numpy", "cupy-cuda13x", "cupy-cuda12x", "torch")
NO_GPU = 3


def environment() -> dict[str, Any]:
    """Return what the figures depend on besides the code."""
    found: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if target.active().name == "cuda":
        found["device"] = gpu.device_name()
        found["capability"] = list(cuda.get_current_device().compute_capability)
    return found


def order(names: Sequence[str]) -> list[str]:
    """Return the cases, the most telling first.

    >>> order(["fill", "matmul_naive", "saxpy", "matmul_tiled"])
    ['matmul_naive', 'matmul_tiled', 'saxpy', 'fill']
    """
    ranks = {name: k for k, name in enumerate(FIRST)}

    def rank(name: str) -> int:
        return min((k for word, k in ranks.items() if name.startswith(word)), default=len(ranks))

    return sorted(names, key=rank)


class Run:
    """A run and its record, which is written after every step."""

    def __init__(self, out: Path, *, rehearse: bool, minutes: float) -> None:
        self.out, self.rehearse = out, rehearse
        self.until = time.monotonic() + 60 * minutes
        self.elapsed = _by_the_host if rehearse else gpu.Events()
        self.record: dict[str, Any] = {
            "environment": environment(), "rehearsal": rehearse, "ceilings": [], "results": [],
            "wrong": {}, "left_out": [],
        }  # fmt: skip

    def measure_ceilings(self) -> None:
        """Measure what the machine can do; at the end again, to see whether it drifts."""
        self.record["ceilings"].append(asdict(ceilings.measure()))
        self.write()

    def contests(self, names: Sequence[str]) -> Iterator[Contest]:
        """Make the contests of cases in turn while there is time."""
        for name in names:
            if time.monotonic() > self.until:
                self.record["left_out"].append(name)
            else:
                yield cases.make(name, quick=self.rehearse)

    def check_and_time(self, contest: Contest) -> None:
        """Check one kernel's answer; time it and its rivals only if it is right."""
        first, mistake = timing.first_answer(contest)
        if mistake:
            self.record["wrong"][contest.name] = mistake
        else:
            self.record["results"].append({**self.timed(contest), "first": first})
        self.write()

    def timed(self, contest: Contest) -> dict[str, Any]:
        """Return the times of one kernel and its rivals, and the ratios between them."""
        left = max(0.0, self.until - time.monotonic())
        works = {timing.OURS: contest.ours} if self.rehearse else gpu.sides(contest)
        found = gpu.in_turns(works, self.elapsed, seconds=min(SECONDS, left))
        ours = found[timing.OURS].median
        limits = ceilings.Ceilings(**self.record["ceilings"][0])
        return {
            "kernel": contest.name, "size": contest.size,
            "seconds": {name: asdict(spread) for name, spread in found.items()},
            "of": {n: s.median / ours for n, s in found.items() if n != timing.OURS},
            "bytes_per_second": contest.least / ours, "flops_per_second": contest.cost.flops / ours,
            "over_floor": ours / limits.floor(contest.least, contest.cost.flops),
        }  # fmt: skip

    def write(self) -> None:
        """Write the record as it is now."""
        self.out.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")


def _by_the_host(work: timing.Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(record: dict[str, Any]) -> str:
    """Return the results as text."""
    lines = [f"{'kernel':26} {'us':>10} {'GB/s':>8} {'Gflop/s':>9} {'floor':>6}  of"]
    for r in record["results"]:
        others = ", ".join(f"{100 * ratio:.0f} % of {name}" for name, ratio in r["of"].items())
        lines.append(
            f"{r['kernel']:26} {1e6 * r['seconds'][timing.OURS]['median']:10.1f} "
            f"{r['bytes_per_second'] / 1e9:8.0f} {r['flops_per_second'] / 1e9:9.0f} "
            f"{r['over_floor']:6.2f}  {others}"
        )
    lines += [f"WRONG {name}: {why}" for name, why in record["wrong"].items()]
    if record["left_out"]:
        lines.append(f"No time for: {', '.join(record['left_out'])}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels or families; all without")
    parser.add_argument("--out", type=Path, required=True, help="the JSON to write")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--rehearse", action="store_true", help="no GPU: small and on this machine")
    options = parser.parse_args(arguments)
    if target.active().name != "cuda" and not options.rehearse:
        print(f"gpu_run: expected a GPU, got none: {target.active().reason} Try --rehearse.")
        return NO_GPU
    run = Run(options.out, rehearse=options.rehearse, minutes=options.minutes)
    run.measure_ceilings()
    for contest in run.contests(order(cases.choose(options.names))):
        run.check_and_time(contest)
    run.measure_ceilings()
    print(table(run.record))
    return 1 if run.record["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
