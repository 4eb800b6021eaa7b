"""Steps of training against PyTorch and NumPy, in turns, one thread each; the share of each kernel.

    python -m benchmarks.training [NAME ...] [--seconds 10] [--write]
    GPUKIT_TARGET=cuda python -m benchmarks.training [NAME ...] [--seconds 3] --json steps.json

A step is forward, loss, backward and the update of SGD with momentum, from the same weights and on
the same batch; losses are compared before anything is timed. Figures are medians, of time passed
and of processor time, which other programs disturb less. `--write` puts them into
docs/benchmarks.md and benchmarks/results/training.json, and leaves those of networks that were not
measured. PyTorch: `make torch`.

On a GPU both sides run there, PyTorch eagerly and in float32 without TF32. A sample is the time of
the host for some steps until the GPU has done them. Each network has a process of its own; all
compile at once and measure one after the other. `--json` is written after each, and says what a
process died of.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

# One thread each. BLAS reads its variable when NumPy is imported.
if __name__ == "__main__":
    for library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["GPUKIT_THREADS"] = "1"

import numpy as np
import torch

from benchmarks import numpy_steps
from benchmarks.networks import NETWORKS, PUBLISHED, Network, copy, each, twin
from benchmarks.speed import load, machine, put
from gpukit import cuda, launch, nn, target
from gpukit.bench import gpu

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results" / "training.json"
RATES: dict[str, Any] = {"lr": 0.001, "momentum": 0.9}
TOLERANCE = 1e-4  # of the loss, after the steps that warm up
WARM_UP = 3
STEPS = 10  # of a sample on a GPU
LEAST_ROUNDS = 5
MOST_KERNELS = 4  # of the table
ALL = NETWORKS | PUBLISHED
BY_NUMPY = {
    "mlp": partial(numpy_steps.dense, activation="relu", **RATES),
    "fcn5": partial(numpy_steps.dense, activation="sigmoid", **RATES),
    "fcnr": partial(numpy_steps.dense, activation="sigmoid", **RATES),
    "lstm": partial(numpy_steps.lstm, **RATES),
}

Step = Callable[[], Any]  # returns the loss, where it lies


def main() -> None:
    """Measure what the arguments say and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(ALL), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=10, help="for each network")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", type=Path, help="the file to write on a GPU")
    parser.add_argument("--timeout", type=float, default=300, help="seconds on a GPU, in all")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # one process
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if target.active().name == "cuda":
        if chosen.part:
            print(json.dumps(steps_on_gpu(chosen.names[0], chosen.seconds)))
        elif chosen.json is None:
            parser.error("expected --json FILE on a GPU, the file to write")
        else:
            in_processes(chosen.names, chosen.seconds, chosen.timeout, chosen.json)
        return
    rows: dict[str, Any] = {}
    for name in chosen.names:
        sides, made = steps(ALL[name], BY_NUMPY.get(name))
        check(name, sides)
        rows[name] = {
            "batch": ALL[name].batch,
            **made,
            "sides": in_turns(sides, chosen.seconds),
            "load": load(),
            "kernels": kernels(sides["gpukit"]),
        }
        print(report({name: rows[name]}), flush=True)
    if chosen.write:
        write(rows, f"{machine()}, PyTorch {torch.__version__.partition('+')[0]}")


# --- On a GPU --------------------------------------------------------------------------------


def in_processes(names: Sequence[str], seconds: float, timeout: float, out: Path) -> None:
    """Measure networks, each in a process of its own; write what has come out after each."""
    until = time.monotonic() + timeout
    command = [sys.executable, "-m", "benchmarks.training", "--part", f"--seconds={seconds}"]
    children = {
        name: subprocess.Popen(
            [*command, name],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in names
    }
    rows: dict[str, Any] = {}
    for name, child in children.items():
        try:  # it compiles, and measures once it has read a line
            told, errors = child.communicate("go\n", max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            child.kill()
            told, errors = "", child.communicate()[1] + "\nOut of time."
        rows[name] = json.loads(told.splitlines()[-1]) if told else {"error": errors[-2000:]}
        out.write_text(json.dumps(rows, indent=1) + "\n")
        print(f"{name:12} {summary(rows[name])}", flush=True)


def steps_on_gpu(name: str, seconds: float) -> dict[str, Any]:
    """Return the times of a step, once both sides have made some and a line has been read."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    sides, made = steps(ALL[name], None)
    losses = check(name, sides)
    sys.stdin.readline()
    found = gpu.in_turns(sides, by_the_host_and_gpu, seconds=seconds)
    return {
        "device": gpu.device_name(),
        "torch": torch.__version__,
        "batch": ALL[name].batch,
        **made,
        "losses": losses,
        "seconds": {side: asdict(spread) for side, spread in found.items()},
        "ratio": found["gpukit"].median / found["PyTorch"].median,
        "state": gpu.state(),
    }


def by_the_host_and_gpu(step: Step) -> float:
    """Return the seconds that a step takes, of several that the GPU has done."""
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    cuda.synchronize()
    return (time.perf_counter() - start) / STEPS


def summary(row: dict[str, Any]) -> str:
    """Return in a line what was found on a GPU."""
    if "error" in row:
        return f"fails: {row['error'].strip().splitlines()[-1:]}"
    times = [f"{side} {1e3 * spread['median']:.3f} ms" for side, spread in row["seconds"].items()]
    return f"{', '.join(times)}: {row['ratio']:.2f} times PyTorch's"


# --- Steps -----------------------------------------------------------------------------------


def steps(
    network: Network, by_numpy: Callable[..., numpy_steps.Step] | None
) -> tuple[dict[str, Step], dict[str, int]]:
    """Return a step of each side, and how many weights and launches ours has."""
    model, rng = network.make(), np.random.default_rng(20261125)
    parameters, other = nn.Parameters(model, seed=0), twin(model)
    copy(parameters, other)
    device = "cuda" if target.active().name == "cuda" and torch.cuda.is_available() else "cpu"
    x = network.inputs(rng)
    with torch.no_grad():
        *shape, classes = other(each(torch.from_numpy, x)).shape
    label = rng.integers(0, classes, shape)
    sides = {
        "gpukit": _ours(model, parameters, x, label),
        "PyTorch": _pytorch(other.to(device), x, label, device),
    }
    if by_numpy:
        step = by_numpy(parameters.state())
        sides["NumPy"] = partial(step, x, label.ravel())
    return sides, {"weights": len(parameters)}


def _ours(model: Any, parameters: nn.Parameters, x: Any, label: Any) -> Step:
    optimizer, workspace = nn.Momentum(parameters, **RATES), nn.Workspace()
    x, label = each(cuda.to_device, x), cuda.to_device(label)

    def step() -> Any:
        with workspace:
            logits, saved = model.forward(x)
            loss, grad = nn.cross_entropy(logits, label)
            model.backward(saved, grad)
            optimizer.step()
            return loss

    return step


def _pytorch(module: torch.nn.Module, x: Any, label: Any, device: str) -> Step:
    optimizer = torch.optim.SGD(module.parameters(), **RATES)
    x = each(lambda array: torch.from_numpy(array).to(device), x)
    label = torch.from_numpy(label.ravel()).to(device)

    def step() -> Any:
        optimizer.zero_grad()
        loss: Any = torch.nn.functional.cross_entropy(module(x).flatten(0, -2), label)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def check(name: str, sides: dict[str, Step]) -> dict[str, float]:
    """Make the steps that warm up; return the losses, or end the program unless they agree."""
    for _ in range(WARM_UP):
        losses = {side: _number(step()) for side, step in sides.items()}
    for side, loss in losses.items():
        if not abs(loss - losses["PyTorch"]) <= TOLERANCE * abs(losses["PyTorch"]):
            raise SystemExit(f"{name}: expected a loss of {losses['PyTorch']}, {side} has {loss}.")
    return losses


def _number(loss: Any) -> float:
    return float(loss if isinstance(loss, float | torch.Tensor) else launch.to_host(loss))


# --- Time ------------------------------------------------------------------------------------


def by_the_host(step: Step) -> float:
    """Return the seconds that a step takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def in_turns(sides: dict[str, Step], seconds: float) -> dict[str, Any]:
    """Return the milliseconds of a step of each side: medians, and the least processor time."""
    passed: dict[str, list[float]] = {side: [] for side in sides}
    processor: dict[str, list[float]] = {side: [] for side in sides}
    until, rounds = time.perf_counter() + seconds, 0
    while rounds < LEAST_ROUNDS or time.perf_counter() < until:
        names = list(sides)
        for side in names[rounds % len(names) :] + names[: rounds % len(names)]:
            start = time.process_time()
            passed[side].append(1e3 * by_the_host(sides[side]))
            processor[side].append(1e3 * (time.process_time() - start))
        rounds += 1
    return {
        side: {
            "ms": statistics.median(passed[side]),
            "processor_ms": statistics.median(processor[side]),
            "least_processor_ms": min(processor[side]),
        }
        for side in sides
    }


def kernels(step: Step, count: int = 5) -> dict[str, float]:
    """Return the share of each kernel in a step's processor time, its launches included."""
    from gpukit.cpu.launch import launcher

    taken: Counter[str] = Counter()

    def observe(kernel: Any, shape: Any, arguments: Any) -> None:
        start = time.process_time()
        kernel.launcher.run_plain(shape, arguments)
        taken[kernel.py_func.__name__.removesuffix("_kernel")] += time.process_time() - start  # type: ignore[assignment]

    before = launcher.observe_launches(observe)
    start = time.process_time()
    for _ in range(count):
        step()
    whole = time.process_time() - start
    launcher.observe_launches(before)
    return {name: spent / whole for name, spent in taken.most_common()}


# --- Telling ---------------------------------------------------------------------------------


def report(rows: dict[str, Any]) -> str:
    """Return the rows as Markdown: times, then kernels."""
    times = [
        "| network | batch | weights | gpukit ms | PyTorch ms | NumPy ms | processor: gpukit | "
        "PyTorch | NumPy | gpukit / PyTorch |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    shares = [
        "| network | share of a step's processor time | other kernels | between launches |",
        "|---|---|---:|---:|",
    ]
    for name, row in rows.items():
        sides, batch = row["sides"], " x ".join(map(str, row["batch"]))
        numbers = " | ".join(
            f"{sides[side][what]:.2f}" if side in sides else "-"
            for what in ("ms", "processor_ms")
            for side in ("gpukit", "PyTorch", "NumPy")
        )
        times.append(f"| {name} | {batch} | {row['weights']:,} | {numbers} | {ratio(sides):.2f} |")
        most = list(row["kernels"].items())[:MOST_KERNELS]
        told = ", ".join(
            f"`{kernel.removesuffix('_kernel')}` {share:.0%}" for kernel, share in most
        )
        launched = sum(row["kernels"].values())
        others = launched - sum(share for _, share in most)
        shares.append(f"| {name} | {told or '-'} | {others:.0%} | {1 - launched:.0%} |")
    return "\n".join([*times, "", *shares])


def ratio(sides: dict[str, Any]) -> float:
    """Return our processor time over PyTorch's, of the least: other programs only add to it."""
    ours, theirs = (sides[side]["least_processor_ms"] for side in ("gpukit", "PyTorch"))
    return float(ours / theirs)


def write(rows: dict[str, Any], where: str) -> None:
    """Put rows among those of earlier runs, into the results and the document."""
    known = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else {}
    together = {name: (known | rows)[name] for name in ALL if name in known | rows}
    RESULTS.write_text(json.dumps({"machine": where, "rows": together}, indent=1) + "\n")
    loads = [float(row["load"]) for row in together.values()]
    text = f"Measured on: {where}. Load average {min(loads)} to {max(loads)}.\n\n{report(together)}"
    put("training", text, DOCUMENT)


if __name__ == "__main__":
    main()
