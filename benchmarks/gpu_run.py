"""The GPU run: every kernel against the libraries, with no network; one JSON to send back.

    python benchmarks/gpu_run.py --out gpu.json                    on a machine with an NVIDIA GPU
    python benchmarks/gpu_run.py reduce scan --out sums.json       some families or kernels of it
    python benchmarks/gpu_run.py --out x.json --rehearse           anywhere: small sizes

Needs numba-cuda; measures CuPy and PyTorch too where they are installed. docs/gpu.md says what else
to run on such a machine, in which order. A kernel's answer is checked first, on outputs that begin
as NaN; what is wrong is reported and not timed. Then it is timed in turns with the libraries.

An error on a GPU can end everything that its process does afterwards. So each family has a process
of its own, each rung on tensor cores too, those last; a process that fails or hangs costs its own
figures only. The file is written again after each kernel. Ends with 1 if an answer is wrong or a
process died, 3 without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # run by its path, from anywhere
    sys.path.insert(0, str(ROOT))

from gpukit import cuda, target  # noqa: E402
from gpukit.bench import cases, ceilings, gpu, timing  # noqa: E402
from gpukit.bench.timing import Contest  # noqa: E402

MINUTES = 9.5
SECONDS = 4.0  # for one kernel and its rivals
# A process may take so long, to start and for each kernel: data, reference, compiling, timing.
PATIENCE, PATIENCE_A_KERNEL = 60.0, 25.0
# What a reader asks for first; the rest follows in the order of the book.
FIRST = ("vector", "matmul", "transpose", "reduce", "matvec", "dot", "scan")
PACKAGES = ("numba", "numba-cuda", "numpy", "cupy-cuda13x", "cupy-cuda12x", "torch")
NO_GPU = 3

Event = dict[str, Any]  # what a process says: one key, which says what it is about


# ---- one process ----------------------------------------------------------------------------


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


def events(names: Sequence[str], *, rehearse: bool, seconds: float) -> Iterator[Event]:
    """Check and time kernels, as long as there is time; yield what comes out, piece by piece."""
    until = time.monotonic() + seconds
    yield {"environment": environment()}
    limits = ceilings.measure()
    yield {"ceilings": asdict(limits)}
    elapsed = gpu.Events() if target.active().name == "cuda" else _by_the_host
    for name in names:
        left = until - time.monotonic()
        if left <= 0:
            yield {"left_out": name}
            continue
        contest = cases.make(name, quick=rehearse)
        first, mistake = timing.first_answer(contest)
        if mistake:
            yield {"wrong": {name: mistake}}
        else:
            found = timed(contest, elapsed, limits, min(SECONDS, left))
            yield {"results": {**found, "first": first}}
    yield {"ceilings": asdict(ceilings.measure())}  # to see whether the machine drifted


def timed(
    contest: Contest, elapsed: Any, limits: ceilings.Ceilings, seconds: float
) -> dict[str, Any]:
    """Return the times of one kernel and its rivals, and the ratios between them.

    There is no ratio to a side whose times vary too much, nor to any side where ours do.
    """
    found, failed = gpu.measure(contest, elapsed, seconds)
    unsteady = {name: s.varied for name, s in found.items() if s.varied > timing.MOST_VARIED}
    ours = found[timing.OURS].median
    others = {} if timing.OURS in unsteady else found.keys() - unsteady - {timing.OURS}
    floor = limits.floor(contest.least, contest.cost.flops, contest.units)
    return {
        "kernel": contest.name, "size": contest.size, "failed": failed, "varies": unsteady,
        "seconds": {name: asdict(spread) for name, spread in found.items()},
        "of": {name: found[name].median / ours for name in sorted(others)},
        "bytes_per_second": contest.least / ours, "flops_per_second": contest.cost.flops / ours,
        "over_floor": ours / floor,
    }  # fmt: skip


def _by_the_host(work: timing.Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# ---- all of them ----------------------------------------------------------------------------


def groups(names: Sequence[str]) -> list[list[str]]:
    """Return the kernels that share a process, what readers ask for first, tensor cores last.

    >>> groups(["fill", "matmul_naive", "matmul_tensor_tf32", "matmul_tensor_bf16", "saxpy"])
    [['fill', 'saxpy'], ['matmul_naive'], ['matmul_tensor_tf32'], ['matmul_tensor_bf16']]
    """
    alone = [[name] for name in names if timing.units(name)]
    families: dict[str, list[str]] = {}
    for name in names:
        if not timing.units(name):
            families.setdefault(cases.CASES[name].family, []).append(name)
    ranks = {name: k for k, name in enumerate(FIRST)}
    ordered = sorted(families, key=lambda family: ranks.get(family, len(ranks)))
    return [*(families[family] for family in ordered), *alone]


class Run:
    """A run and its record, which is written after every piece of news."""

    def __init__(self, out: Path, *, rehearse: bool, minutes: float) -> None:
        self.out, self.rehearse = out, rehearse
        self.until = time.monotonic() + 60 * minutes
        self.record: dict[str, Any] = {
            "environment": {}, "rehearsal": rehearse, "ceilings": [], "results": [], "wrong": {},
            "left_out": [], "died": {},
        }  # fmt: skip

    def group(self, names: Sequence[str]) -> None:
        """Measure some kernels in a process of their own and take down what it says."""
        seconds = min(self.until - time.monotonic(), PATIENCE + PATIENCE_A_KERNEL * len(names))
        if seconds <= 0:
            self.record["left_out"] += names
            self.write()
            return
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
            subprocess.Popen(
                self.command(names, seconds), env=_with_root(), stdout=subprocess.PIPE,
                stderr=errors, text=True, encoding="utf-8",
            ) as child,
        ):  # fmt: skip
            ended = threading.Timer(seconds, child.kill)
            ended.start()
            heard = self.listen(child)
            code = child.wait()
            late = not ended.is_alive()
            ended.cancel()
            if code:
                errors.seek(0)
                why = f"stopped after {seconds:.0f} s" if late else f"ended with code {code}"
                said = [line for line in errors.read().splitlines() if line.strip()]
                self.died(names, heard, ": ".join([why, *said[-1:]]))

    def command(self, names: Sequence[str], seconds: float) -> list[str]:
        """Return the command of a process that measures some kernels and says what it finds."""
        rest = ["--rehearse"] if self.rehearse else []
        return [sys.executable, __file__, *names, "--say", "--minutes", str(seconds / 60), *rest]

    def listen(self, child: subprocess.Popen[str]) -> set[str]:
        """Take down what a process says; return the kernels that it spoke of."""
        heard = set()
        assert child.stdout is not None
        for line in child.stdout:
            try:
                event = json.loads(line)
            except ValueError:  # a library that prints
                continue
            for about, news in event.items():
                heard.update(self.take(about, news))
            self.write()
        return heard

    def take(self, about: str, news: Any) -> list[str]:
        """Put a piece of news into the record; return the kernels that it is about."""
        if isinstance(self.record[about], list):
            self.record[about].append(news)
        else:
            self.record[about].update(news)
        if about == "results":
            return [news["kernel"]]
        return [news] if about == "left_out" else list(news) if about == "wrong" else []

    def died(self, names: Sequence[str], heard: set[str], why: str) -> None:
        """Take down that a process died, at the first kernel of which nothing was heard."""
        missing = [name for name in names if name not in heard]
        self.record["died"][(missing or list(names))[0]] = why
        self.record["left_out"] += missing[1:]
        self.write()

    def write(self) -> None:
        """Write the record as it is now."""
        self.out.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")


def _with_root() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def table(record: dict[str, Any]) -> str:
    """Return the results as text."""
    lines = [f"{'kernel':26} {'us':>10} {'GB/s':>8} {'Gflop/s':>9} {'floor':>6}  of"]
    for r in record["results"]:
        told = [f"{100 * ratio:.0f} % of {name}" for name, ratio in r["of"].items()]
        told += [f"{name} varies by {100 * v:.0f} %" for name, v in r["varies"].items()]
        told += [f"{name} fails" for name in r["failed"]]
        lines.append(
            f"{r['kernel']:26} {1e6 * r['seconds'][timing.OURS]['median']:10.1f} "
            f"{r['bytes_per_second'] / 1e9:8.0f} {r['flops_per_second'] / 1e9:9.0f} "
            f"{r['over_floor']:6.2f}  {', '.join(told)}"
        )
    lines += [f"WRONG {name}: {why}" for name, why in record["wrong"].items()]
    lines += [f"DIED at {name}: {why}" for name, why in record["died"].items()]
    if record["left_out"]:
        lines.append(f"No figures of: {', '.join(record['left_out'])}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels or families; all without")
    parser.add_argument("--out", type=Path, help="the JSON to write")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--rehearse", action="store_true", help="small sizes, GPU or not")
    parser.add_argument("--say", action="store_true", help=argparse.SUPPRESS)  # one of its parts
    options = parser.parse_args(arguments)
    if not options.say and options.out is None:
        parser.error("expected --out FILE, the JSON to write")
    if target.active().name != "cuda" and not options.rehearse:
        print(f"gpu_run: expected a GPU, got none: {target.active().reason} Try --rehearse.")
        return NO_GPU
    chosen = cases.choose(options.names)
    if options.say:
        for event in events(chosen, rehearse=options.rehearse, seconds=60 * options.minutes):
            print(json.dumps(event), flush=True)
        return 0
    run = Run(options.out, rehearse=options.rehearse, minutes=options.minutes)
    for names in groups(chosen):
        run.group(names)
    print(table(run.record))
    return 1 if run.record["wrong"] or run.record["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
