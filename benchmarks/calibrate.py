"""The calibration of `gpukit.estimate` on a GPU: what to run when one is lent, in six minutes.

    python benchmarks/calibrate.py --out calibration.json              on a machine with a GPU
    python benchmarks/calibrate.py --out x.json --rehearse             anywhere: small sizes
    python benchmarks/calibrate.py --show calibration.json             the tables of a record
    python benchmarks/calibrate.py --refit calibration.json            propose other constants

First microbenchmarks measure what one unit takes, such as a load or a barrier, beside the figure
that the model has for it. Meanwhile, on the other cores, 25 kernels of the book at two sizes are
estimated (`gpukit.estimate`). The SHA-256 of these predictions is written down; only then are the
kernels timed, with a cold L2, those with a wrong answer not at all. What was not predicted is not
timed. At the end a table says how measured times compare with floor, likely and worst.

`--refit` fits the three constants of the model on half of the kernels and reports the error on the
other half, which the hash of a name chooses. It changes nothing: a person commits constants, into
gpukit/estimates/published.json.

Each part is a process of its own with a time limit, and the record is written after each piece of
news: an error that breaks a process loses no more than its part, nor does the end of the time.
`calibrate_tables.Record` documents the JSON. `--gpu` names the GPU where the driver's name is not
one that `gpukit.estimate` knows. Ends with 1 if an answer is wrong or a part failed, 3 without a
GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # run by its path, from anywhere
    sys.path.insert(0, str(ROOT))

from benchmarks import calibrate_parts as parts  # noqa: E402
from benchmarks import calibrate_tables as tables  # noqa: E402
from benchmarks.microbenchmarks import GROUPS  # noqa: E402
from gpukit import target  # noqa: E402
from gpukit.estimates import gpus  # noqa: E402

MINUTES = 6.0
PREDICTED = 0.6  # of the time, after which what is not yet predicted is left out
GRACE = 5.0  # seconds at the end for the table
# Seconds that a part may take: it starts, compiles, makes data, waits for its turn, or hangs.
PATIENCE = {"environment": 40.0, "microbenchmarks": 45.0, "predictions": 150.0, "times": 120.0}
AT_ONCE = 5 if os.name == "posix" else 1  # processes that make data while one times
REHEARSED = "H100"  # without a GPU
NO_GPU = 3


class Run:
    """A calibration and its record, which is written after every piece of news."""

    def __init__(self, out: Path, *, rehearse: bool, minutes: float) -> None:
        self.out, self.rehearse = out, rehearse
        start = time.monotonic()
        self.predicted = start + PREDICTED * 60 * minutes
        self.end = start + 60 * minutes - min(GRACE, 6 * minutes)
        self.lock = threading.Lock()
        self.record = tables.new("", rehearsal=rehearse)

    def everything(self, gpu: str, kernels: Sequence[str], jobs: int) -> None:
        """Measure and predict, write the hash of the predictions, and time the kernels."""
        self.record["gpu"] = gpu
        self.write()
        with tempfile.TemporaryDirectory() as folder:
            self.turn = Path(folder) / "turn"
            with ThreadPoolExecutor(max(1, jobs)) as pool:
                predicted = [pool.submit(self.part, "predictions", name) for name in kernels]
                for group in GROUPS:
                    self.part("microbenchmarks", group)
                for one in predicted:
                    one.result()
            self.hash()
            known = [name for name in kernels if self.is_predicted(name)]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda name: self.part("times", name), known))
        self.finish(kernels)

    def is_predicted(self, name: str) -> bool:
        """Tell whether a kernel has predictions at all sizes; it is not timed otherwise."""
        wanted = {parts.label(name, size) for size in parts.sizes(name, rehearse=self.rehearse)}
        return wanted <= self.record["predictions"].keys()

    def hash(self) -> None:
        """Write down the hash of the predictions; nothing is timed before that."""
        with self.lock:
            self.record["sha256"] = tables.digest(self.record)
            self.record["hashed_at"] = time.time()
            self.write()
            self.record["timed_at"] = time.time()
        print(f"Predictions, sha256 {self.record['sha256']}", flush=True)

    def finish(self, kernels: Sequence[str]) -> None:
        """Note the kernels without a time, and launches other than predicted; sort by kernel."""
        for key in ("predictions", "times"):
            found = self.record[key].items()
            ordered = sorted(found, key=lambda item: kernels.index(item[1]["kernel"]))
            self.record[key] = dict(ordered)
        for label, predicted in self.record["predictions"].items():
            timed = self.record["times"].get(label)
            if timed and timed["launches"] != predicted["launches"]:
                why = f"{predicted['launches']} was predicted, {timed['launches']} launched"
                self.record["wrong"][label] = why
        timed_kernels = {one["kernel"] for one in self.record["times"].values()}
        self.record["left_out"] = [name for name in kernels if name not in timed_kernels]
        self.write()

    def part(self, what: str, name: str = "") -> None:
        """Run a part in a process of its own, until it is over or its time is."""
        until = self.predicted if what == "predictions" else self.end
        seconds = min(PATIENCE[what], until - time.monotonic())
        if seconds <= 0:
            return
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
            subprocess.Popen(
                self.command(what, name),
                env=_environment(what),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            ) as child,
        ):
            stopped = threading.Event()

            def stop() -> None:
                stopped.set()
                child.kill()

            late = threading.Timer(seconds, stop)
            late.start()
            for key, news in _events(child):
                self.take(key, news)
            code = child.wait()
            late.cancel()
            errors.seek(0)
            last = [line for line in errors.read().splitlines() if line.strip()][-1:]
        if code and time.monotonic() < until:
            why = f"stopped after {seconds:.0f} s" if stopped.is_set() else f"code {code}"
            self.take("failed", {f"{what} {name}".strip(): ": ".join([why, *last])})

    def command(self, what: str, name: str) -> list[str]:
        """Return the command of a part."""
        options = ["--rehearse"] if self.rehearse else []
        if self.record["gpu"]:
            options += ["--gpu", self.record["gpu"], "--turn", str(self.turn)]
        return [sys.executable, __file__, "--part", what, name, *options]

    def take(self, key: str, news: Any) -> None:
        """Put a piece of news into the record."""
        with self.lock:
            self.record[key].update(news)
            self.write()

    def write(self) -> None:
        """Write the record as it is now."""
        self.out.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")


def _events(child: subprocess.Popen[str]) -> Iterator[tuple[str, Any]]:
    """Yield what a part says, without what libraries print."""
    assert child.stdout is not None
    for line in child.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.keys() <= tables.Record.__annotations__.keys():
            yield from event.items()


def _environment(what: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    on_cpu = {"GPUKIT_TARGET": "cpu"} if what == "predictions" else {}
    quiet = {"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
    return {**os.environ, **quiet, "PYTHONPATH": path, **on_cpu}


def one_part(options: argparse.Namespace) -> None:
    """Run a part in this process and write what it says."""
    what, name = options.part
    if what == "environment":
        events = parts.environment()
    else:
        machine, rehearse = gpus.find(options.gpu), options.rehearse
        if what == "predictions":
            events = parts.predictions(name, machine, rehearse=rehearse)
        elif what == "microbenchmarks":
            events = parts.microbenchmarks(name, machine, options.turn, rehearse=rehearse)
        else:
            events = parts.times(name, options.turn, rehearse=rehearse)
    for event in events:
        print(json.dumps(event, allow_nan=False), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the calibration and print its tables, or those of a record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="some of the 25 kernels; all without")
    parser.add_argument("--out", type=Path, help="the JSON to write")
    parser.add_argument("--gpu", default="", help="the GPU's name for gpukit.estimate")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument(
        "--jobs", type=int, default=(os.cpu_count() or 1) - 2, help="predictions at once"
    )
    parser.add_argument("--rehearse", action="store_true", help="small sizes, GPU or not")
    parser.add_argument("--show", type=Path, help="a record to print as Markdown; runs nothing")
    parser.add_argument("--refit", type=Path, help="a record to refit the constants with")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)  # one of them, in this process
    parser.add_argument("--turn", type=Path, help=argparse.SUPPRESS)  # its lock
    options = parser.parse_args(arguments)
    if options.part:
        one_part(options)
        return 0
    if options.show or options.refit:
        record = json.loads((options.show or options.refit).read_text(encoding="utf-8"))
        refit = options.refit and tables.refit_table(tables.refit(record))
        print(refit or tables.markdown(record))
        return 0
    unknown = [name for name in options.kernels if name not in parts.KERNELS]
    if options.out is None or unknown:
        parser.error(
            f"expected kernels of {', '.join(parts.KERNELS)}, got {', '.join(unknown)}"
            if unknown
            else "expected --out FILE, the JSON to write"
        )
    return calibrate(options)


def calibrate(options: argparse.Namespace) -> int:
    """Run all parts; return the exit code."""
    on_gpu = target.active().name == "cuda"
    if not on_gpu and not options.rehearse:
        print(f"calibrate: expected a GPU, got none: {target.active().reason} Try --rehearse.")
        return NO_GPU
    run = Run(options.out, rehearse=options.rehearse, minutes=options.minutes)
    run.part("environment")
    found = run.record["environment"]
    gpu = options.gpu or ("" if on_gpu else REHEARSED)
    if not gpu and "device" in found:
        machine = gpus.machine_of(found["device"], found["sms"])
        gpu = machine.name if machine else ""
    if not gpu:
        known = ", ".join(gpus.MACHINES)
        name = found.get("device") or f"this GPU ({run.record['failed']})"
        print(f"calibrate: {name} is none of {known}. Choose one with --gpu.")
        return NO_GPU
    gpus.find(gpu)
    run.everything(gpu, options.kernels or list(parts.KERNELS), options.jobs)
    print(f"\n{tables.markdown(run.record)}")
    return 1 if run.record["wrong"] or run.record["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
