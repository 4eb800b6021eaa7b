"""gpukit's counters against a GPU's: the access patterns of the tests under Nsight Compute.

    python benchmarks/counters_on_gpu.py [--minutes 10] [--json FILE] [--csv FILE]

Needs an NVIDIA GPU, a Numba CUDA package (`python -m pip install -c constraints.txt -e
'.[cuda13]'` in the clone), NVIDIA Nsight Compute (`ncu`, part of the CUDA toolkit) and the
permission to read counters. If one of them is missing, it says so and ends with 3. It runs itself
twice for each part of the patterns:

    GPUKIT_TARGET=cpu python benchmarks/counters_on_gpu.py --count --part 0/24
    GPUKIT_TARGET=cuda ncu --csv ... python benchmarks/counters_on_gpu.py --run --part 0/24

Most of the time goes into compiling, so several parts run at the same time; `ncu` serializes the
launches. `--json` is written after each part. `--csv` reads the output of `ncu` for all patterns in
one part, for example from another machine. Sectors per request, and shared-memory wavefronts per
request, must agree for at least 90% of the patterns; otherwise it ends with 1.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks import harness  # noqa: E402

GOAL = 0.9  # fraction of the patterns that must agree
TOLERANCE = 0.01  # of a ratio
OPS = ("load", "store", "atomic")

# gpukit's ratios: the counters of numerator and denominator.
RATIOS = {
    **{f"global {op}": (f"global_{op}_sectors", f"global_{op}_requests") for op in OPS},
    **{f"shared {op}": (f"shared_{op}_wavefronts", f"shared_{op}_requests") for op in OPS},
}
# Other instructions for an atomic, with their own metrics: a reduction, if the old value is unused,
# and in shared memory arithmetic and compare-and-swap.
ALSO = {
    "_global_op_atom.sum": ("_global_op_red.sum",),
    "_op_shared_atom.sum": ("_op_shared_atom_dot_alu.sum", "_op_shared_atom_dot_cas.sum"),
}
DEVICE = "device: "  # what `--run` prints before the name of the GPU
PARTS = 24
WHOLE = "0/1"  # all patterns, as one part


def metrics() -> dict[str, tuple[str, ...]]:
    """Return the Nsight metrics that add up to each of gpukit's counters."""
    from gpukit.checked.counters import COUNTERS

    found = {}
    for name in dict.fromkeys(counter for pair in RATIOS.values() for counter in pair):
        metric = COUNTERS[name].metric
        also = [
            metric.replace(end, o)
            for end, others in ALSO.items()
            for o in others
            if metric.endswith(end)
        ]
        found[name] = (metric, *also)
    return found


# ---- the two runs ---------------------------------------------------------------------------


def patterns(part: str) -> dict[str, Any]:
    """Return the patterns of a part: `1/24` is the second one and every 24th after it."""
    from tests.checked.access.patterns import PATTERNS

    first, step = map(int, part.split("/"))
    return dict(list(PATTERNS.items())[first::step])


def count(part: str) -> dict[str, dict[str, int]]:
    """Return gpukit's counters for every pattern of a part."""
    import gpukit

    totals = {
        name: gpukit.profile(p.kernel)[p.launch](*p.make()).total
        for name, p in patterns(part).items()
    }
    return {
        name: {counter: total[counter] for pair in RATIOS.values() for counter in pair}
        for name, total in totals.items()
    }


def run(part: str) -> None:
    """Launch every pattern of a part once, in order, on the GPU, under `ncu`."""
    from gpukit import cuda

    name = cuda.get_current_device().name
    print(DEVICE + (name.decode() if isinstance(name, bytes) else name))
    for pattern in patterns(part).values():
        pattern.kernel[pattern.launch](*pattern.make())
    cuda.synchronize()


def missing() -> str:
    """Return what this machine lacks, in a sentence; an empty string if nothing."""
    from gpukit import target

    gpu = target.usable_gpu()
    if not gpu.usable:
        return f"There is no GPU that Numba can use: {gpu.reason}"
    if shutil.which("ncu") is None:
        return "Nsight Compute is missing: ncu is not on the PATH. It is part of the CUDA toolkit."
    return ""


def child(
    mode: str, target: str, *before: str, part: str = WHOLE, seconds: float | None = None
) -> str:
    """Run this file in a process of its own and return what it printed."""
    command = [*before, sys.executable, __file__, mode, "--part", part]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "GPUKIT_TARGET": target, "PYTHONPATH": path}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise Unable(f"The time was over before {mode} of part {part} ended.") from None
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        raise Unable(
            "This user may not read the GPU's counters (ERR_NVGPUCTRPERM). Run as root, or load "
            "the driver with NVreg_RestrictProfilingToAdminUsers=0."
        )
    if done.returncode:
        raise Unable(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Unable(Exception):
    """The comparison cannot be made here; the message says why."""


def known_metrics() -> list[str]:
    """Return the metrics to request: an unknown name would stop `ncu`."""
    names = list(dict.fromkeys(metric for parts in metrics().values() for metric in parts))
    asked = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, check=False)
    listed = {line.split()[0] for line in asked.stdout.splitlines() if line.strip()}
    return names if asked.returncode else [n for n in names if n.split(".")[0] in listed]


def under_ncu(names: list[str], part: str = WHOLE, seconds: float | None = None) -> str:
    """Run the patterns of a part on the GPU under `ncu` and return what it printed."""
    # By default ncu locks the clock of the GPU, which others may be using.
    steady = ("--clock-control", "none")
    options = ("--csv", *steady, "--print-units", "base", "--metrics", ",".join(names))
    return child("--run", "cuda", "ncu", *options, part=part, seconds=seconds)


def measured(jobs: int, minutes: float) -> Iterator[tuple[str, list[Row], str]]:
    """Yield for each part the output of `ncu`, the comparison, and why there is none."""
    until, names = time.monotonic() + 60 * minutes, known_metrics()

    def one(part: str) -> tuple[str, list[Row], str]:
        try:
            counted = child("--count", "cpu", part=part, seconds=max(until - time.monotonic(), 0))
            text = under_ncu(names, part, max(until - time.monotonic(), 0))
            return text, compare(json.loads(counted), parse(text)), ""
        except Unable as error:
            return "", [], str(error)

    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(one, f"{first}/{PARTS}") for first in range(PARTS)]
        yield from (future.result() for future in as_completed(running))


# ---- what ncu prints ------------------------------------------------------------------------


@dataclass
class Measured:
    """One launch in the output of `ncu`: its kernel, and the metrics by name."""

    kernel: str
    metrics: dict[str, float]


def parse(text: str) -> list[Measured]:
    """Return the launches in the output of `ncu --csv`, in order.

    The table has a row for each metric of each launch. Lines of the tool and of the program precede
    it.
    """
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise Unable('The output of ncu has no table: no line begins with "ID".')
    found: dict[str, Measured] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        if not (row["ID"] or "").isdigit():
            continue
        launch = found.setdefault(row["ID"], Measured(row["Kernel Name"], {}))
        value = number(row["Metric Value"])
        if value is not None:
            launch.metrics[row["Metric Name"]] = value
    return list(found.values())


def number(text: str | None) -> float | None:
    """Return a number of the table; None if the tool could not measure it (`n/a`)."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


# ---- the comparison -------------------------------------------------------------------------


@dataclass
class Row:
    """One ratio of one pattern, gpukit's and the GPU's; `differs` is a known reason."""

    pattern: str
    ratio: str
    ours: float
    gpu: float | None
    agrees: bool
    differs: str


def compare(counted: dict[str, dict[str, int]], launches: list[Measured]) -> list[Row]:
    """Return all ratios of all patterns; the launches have the order of the patterns."""
    from tests.checked.access.patterns import PATTERNS

    if len(launches) != len(counted):
        raise Unable(
            f"ncu saw {len(launches)} launches, but there are {len(counted)} patterns. "
            "Was the output made with the same version of this file?"
        )
    return [
        row
        for (name, counters), launch in zip(counted.items(), launches, strict=True)
        for row in rows(name, counters, launch, PATTERNS[name].differs)
    ]


def rows(name: str, counters: dict[str, int], launch: Measured, differs: str) -> Iterable[Row]:
    """Yield the ratios that one pattern has."""
    parts = metrics()
    for ratio, (top, bottom) in RATIOS.items():
        if not counters[bottom]:
            continue
        ours = counters[top] / counters[bottom]
        above, below = (sum(launch.metrics.get(m, 0) for m in parts[c]) for c in (top, bottom))
        gpu = above / below if below else None
        agrees = gpu is not None and abs(gpu - ours) <= TOLERANCE * ours
        yield Row(name, ratio, ours, gpu, agrees, differs)


def judged(found: list[Row]) -> dict[str, Any]:
    """Count the patterns that agree in all their ratios."""
    names = dict.fromkeys(row.pattern for row in found)
    off = {row.pattern for row in found if not row.agrees}
    part = 1 - len(off) / len(names) if names else 0.0
    return {
        "patterns": len(names),
        "agree": len(names) - len(off),
        "part": part,
        "met": part >= GOAL,
        "unexplained": sorted({row.pattern for row in found if not row.agrees and not row.differs}),
    }


def show(found: list[Row], summary: dict[str, Any]) -> None:
    """Print the differences as Markdown, and the summary."""
    cells = [
        [
            *(row.pattern, row.ratio, f"{row.ours:.3g}"),
            "none" if row.gpu is None else f"{row.gpu:.3g}",
            row.differs or "?",
        ]
        for row in found
        if not row.agrees
    ]
    if cells:
        print(harness.markdown(["pattern", "ratio", "gpukit", "GPU", "why"], cells))
    verdict = "met" if summary["met"] else "missed"
    print(
        f"\n{summary['agree']} of {summary['patterns']} patterns agree ({summary['part']:.1%}); "
        f"the goal of {GOAL:.0%} is {verdict}."
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison, or one side of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="only launch the patterns, for ncu")
    parser.add_argument("--count", action="store_true", help="only print gpukit's counters")
    parser.add_argument("--csv", type=Path, help="recorded output of ncu")
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parts at once")
    parser.add_argument("--part", default=WHOLE, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        run(options.part)
        return 0
    if options.count:
        print(json.dumps(count(options.part)))
        return 0
    try:
        return whole(options)
    except Unable as error:
        print(error, file=sys.stderr)
        return 3


def whole(options: argparse.Namespace) -> int:
    """Compare both sides; return the exit code."""
    lacking = "" if options.csv else missing()
    if lacking:
        raise Unable(
            f"{lacking}\nNothing was compared. Nsight Compute's output from another machine can "
            "be read with --csv FILE; the head of this file says how to make it."
        )
    if options.csv:
        text = options.csv.read_text()
        parts = iter([(text, compare(json.loads(child("--count", "cpu")), parse(text)), "")])
    else:
        parts = measured(options.jobs, options.minutes)
    found: list[Row] = []
    left_out: list[str] = []
    device = "not named"
    for text, rows_, why in parts:
        found += rows_
        left_out += [why] if why else []
        named = [line for line in text.splitlines() if line.startswith(DEVICE)]
        device = named[0].removeprefix(DEVICE) if named else device
        about = {"device": device, "python": platform.python_version(), "left_out": left_out}
        record = {**about, **judged(found), "rows": [asdict(row) for row in found]}
        if options.json:
            harness.save(options.json, record)
    if not found:
        raise Unable(left_out[0])
    summary = judged(found)
    show(found, summary)
    print("\n".join(left_out))
    return 0 if summary["met"] and not left_out else 1


if __name__ == "__main__":
    sys.exit(main())
