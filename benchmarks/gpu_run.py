"""The GPU run: every kernel against the libraries, with no network; one JSON to send back.

    python benchmarks/gpu_run.py --out gpu.json                    on a machine with an NVIDIA GPU
    python benchmarks/gpu_run.py reduce scan --out sums.json       some groups or kernels of it
    python benchmarks/gpu_run.py --check --out checked.json        answers on small arrays, no times
    python benchmarks/gpu_run.py --out x.json --rehearse           anywhere: small sizes

Needs numba-cuda; measures CuPy and PyTorch too where they are installed. docs/gpu.md says what else
to run on such a machine, in which order.

First every kernel is compiled and checked on small arrays, many processes at once. Then a few
processes at once check their kernels on large arrays, whose outputs begin as NaN, and one of them
at a time has the GPU to itself and times a kernel in turns with the libraries. What is wrong is
reported and not timed. Last, with nothing else going on, NumPy does the same work on the processor.

An error on a GPU can end everything that its process does afterwards. So a group has processes of
its own, each variant on tensor cores too; where a process fails or is silent for long, the kernel
that it was at is taken down and the others go on in a new one. The file is written again after each
piece of news, and beside it, as .log, what the processes said to the terminal. Ends with 1 if an
answer is wrong or a process died, 3 without a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
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

from benchmarks import gpu_tables, gpu_times  # noqa: E402
from gpukit import target  # noqa: E402
from gpukit.bench import cases, timing  # noqa: E402

MINUTES = 9.5
NUMPY_SECONDS = 45.0  # for NumPy, all kernels together
PATIENCE = 45.0  # seconds that a process may be silent: it starts, compiles, makes data, or hangs
GRACE = 8.0  # seconds before the end in which no kernel is begun
SHARED = 6  # kernels that share a process at most
AT_ONCE = 5  # processes that make data and check answers while one times
# What a reader asks for first; tensor cores and the rest, in the order of the book, follow.
FIRST = (
    *("vector", "matmul", "transpose", "reduce", "matvec", "dot", "scan", "softmax", "histogram"),
    *("conv", "layer_norm", "optimizers", "attention"),
)
NO_GPU = 3


def groups(names: Sequence[str]) -> list[list[str]]:
    """Return the kernels that share a process, what readers ask for first.

    >>> groups(["gelu", "matmul_naive", "matmul_tensor_tf32", "matmul_tensor_bf16", "fill"])
    [['fill'], ['matmul_naive'], ['matmul_tensor_tf32'], ['matmul_tensor_bf16'], ['gelu']]
    """
    ranks = {name: k for k, name in enumerate(FIRST)}
    groups: dict[tuple[int, str], list[str]] = {}
    for name in names:
        group = cases.CASES[name].group
        key = (
            (len(FIRST), name) if timing.units(name) else (ranks.get(group, len(FIRST) + 1), group)
        )
        groups.setdefault(key, []).append(name)
    ordered = sorted(groups, key=lambda key: key[0])  # otherwise they stay in their order
    return [
        groups[key][k : k + SHARED] for key in ordered for k in range(0, len(groups[key]), SHARED)
    ]


class Part:
    """A process that checks some kernels and waits, until it is asked for their times."""

    def __init__(self, names: Sequence[str], until: float, *options: str) -> None:
        self.names, self.until = names, until
        self.begun, self.stopped = names[0], ""
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 `close` does
        self.child = subprocess.Popen(
            self.command(options),
            env=_with_root(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
        )

    def command(self, options: Sequence[str]) -> list[str]:
        """Return the command of a process that says what it finds about some kernels."""
        return [sys.executable, __file__, *self.names, "--part", *options]

    def ask(self) -> None:
        """Ask for the times."""
        self.write(f"{self.until - GRACE - time.monotonic()}")

    def write(self, line: str) -> None:
        """Give the process a line that it waits for, if it still does."""
        assert self.child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.write(f"{line}\n")
            self.child.stdin.flush()

    def events(self) -> Iterator[tuple[str, Any]]:
        """Yield what the process says, until it is ready or has ended."""
        while line := self._line():
            try:
                event = json.loads(line)
            except ValueError:  # a library that prints
                continue
            if "begun" in event:
                self.begun = event["begun"]
                continue
            yield from event.items()
            if "ready" in event:
                return

    def _line(self) -> str:
        """Return the next line; a process that is silent for long is killed."""
        assert self.child.stdout is not None
        seconds = max(min(PATIENCE, self.until - time.monotonic()), 0.0)
        silent = threading.Timer(seconds, self._stop, [f"stopped after {seconds:.0f} s of silence"])
        silent.start()
        try:
            return self.child.stdout.readline()
        finally:
            silent.cancel()

    @property
    def late(self) -> bool:
        """Whether it was stopped because the time was over: nothing is wrong with its kernels."""
        return bool(self.stopped) and time.monotonic() > self.until

    def _stop(self, why: str) -> None:
        self.stopped = why
        self.child.kill()

    def close(self) -> tuple[str, str]:
        """End the process; return why it died, if it did, and what it said to the terminal."""
        try:
            self.child.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self._stop("did not end")
            self.child.communicate()
        with self.errors:
            self.errors.seek(0)
            said = self.errors.read()
        if not self.child.returncode:
            return "", said
        last = [line for line in said.splitlines() if line.strip()][-1:]
        return ": ".join([self.stopped or f"ended with code {self.child.returncode}", *last]), said


class Run:
    """A run and its record, which is written after every piece of news."""

    def __init__(self, out: Path, *, rehearse: bool, minutes: float) -> None:
        self.out, self.options = out, ["--rehearse"] if rehearse else []
        self.end = time.monotonic() + 60 * minutes
        self.until = self.end - min(NUMPY_SECONDS, 20 * minutes)  # the GPU's part, at least 2/3
        self.lock, self.gpu = threading.Lock(), threading.Lock()
        self.log = out.with_suffix(".log")
        self.log.write_text("")
        self.record: dict[str, Any] = {
            "environment": {},
            "rehearsal": rehearse,
            "ceilings": [],
            "state": [],
            "right": {},
            "results": [],
            "numpy": {},
            "wrong": {},
            "left_out": [],
            "died": {},
        }

    def everything(self, parts: Sequence[Sequence[str]], *, jobs: int, check: bool) -> None:
        """Check all kernels, many at once; then time them, unless they are only to be checked."""
        with ThreadPoolExecutor(jobs) as pool:
            ready = list(pool.map(self.checked, parts))
        with ThreadPoolExecutor(min(jobs, AT_ONCE)) as pool:
            list(pool.map(self.close if check else self.timed, filter(None, ready)))
        order = [name for names in parts for name in names]
        self.record["results"].sort(key=lambda found: order.index(found["kernel"]))
        if not check:
            self.numpy(order)
        self.write()

    def numpy(self, names: Sequence[str]) -> None:
        """Time NumPy with the work of kernels that are right."""
        known = [name for name in names if name in self.record["right"] and not timing.units(name)]
        if known:
            part = Part(known, self.end, *self.options, "--numpy")
            if self.listen(part):
                part.ask()
                self.listen(part)
            self.close(part)

    def checked(self, names: Sequence[str]) -> Part | None:
        """Check some kernels and return the process in which those that are right wait."""
        while names and time.monotonic() < self.until:
            part = Part(names, self.until, *self.options)
            if self.listen(part):
                return part
            names = self.close(part)
        self.record["left_out"] += names
        return None

    def timed(self, part: Part | None) -> None:
        """Time the kernels of a process, and in a new one those that are left when it died."""
        while part is not None:
            if time.monotonic() < self.until - GRACE:
                part.ask()
                self.listen(part)
            else:
                self.record["left_out"] += part.names
            part = self.checked(self.close(part))

    def listen(self, part: Part) -> bool:
        """Take down what a process says; tell whether it waits to be asked for times.

        A process that asks for its turn waits here until no other has the GPU.
        """
        with contextlib.ExitStack() as turn:
            for about, news in part.events():
                if about == "ready":
                    return True
                if about == "turn":
                    turn.enter_context(self.gpu)
                    part.write("go")
                elif about == "over":
                    turn.close()
                else:
                    self.take(about, news)
        return False

    def take(self, about: str, news: Any) -> None:
        """Put a piece of news into the record."""
        with self.lock:
            if isinstance(self.record[about], list):
                self.record[about].append(news)
            else:
                self.record[about].update(news)
            self.write()

    def close(self, part: Part) -> list[str]:
        """Let a process end; return the kernels of which there is more to be heard, if it died."""
        why, said = part.close()
        if said:
            with self.lock, self.log.open("a", encoding="utf-8") as log:
                log.write(f"---- {' '.join(part.names)}\n{said}\n")
        if not why:
            return []
        if not part.late:
            self.take("died", {part.begun: why})
        known = {*self.record["wrong"], *self.record["died"], *self.record["left_out"]}
        known.update(result["kernel"] for result in self.record["results"])
        return [name for name in part.names if name not in known]

    def write(self) -> None:
        """Write the record as it is now."""
        self.out.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")


def _with_root() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels or groups; all without")
    parser.add_argument("--out", type=Path, help="the JSON to write")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--rehearse", action="store_true", help="small sizes, GPU or not")
    parser.add_argument("--check", action="store_true", help="check answers only, small sizes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--show", type=Path, help="a record to print as Markdown; runs nothing")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # one of them
    parser.add_argument("--numpy", action="store_true", help=argparse.SUPPRESS)  # its other task
    options = parser.parse_args(arguments)
    if options.show:
        print(gpu_tables.markdown(json.loads(options.show.read_text(encoding="utf-8"))))
        return 0
    if not options.part and options.out is None:
        parser.error("expected --out FILE, the JSON to write")
    small = options.rehearse or options.check
    if target.active().name != "cuda" and not small:
        print(f"gpu_run: expected a GPU, got none: {target.active().reason} Try --rehearse.")
        return NO_GPU
    chosen = cases.choose(options.names)
    if options.part:
        gpu_times.work(chosen, rehearse=options.rehearse, by_numpy=options.numpy)
        return 0
    run = Run(options.out, rehearse=small, minutes=options.minutes)
    run.everything(groups(chosen), jobs=options.jobs, check=options.check)
    print(gpu_tables.table(run.record))
    return 1 if run.record["wrong"] or run.record["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
