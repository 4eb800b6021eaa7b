"""Steps of training against PyTorch and NumPy, in turns, one thread each; the share of each kernel.

    python -m benchmarks.training [NAME ...] [--seconds 10] [--write]

A step is forward, loss, backward and the update of SGD with momentum, from the same weights and on
the same batch; losses are compared before anything is timed. Figures are medians, of time passed
and of processor time, which other programs disturb less; on a GPU, of CUDA events. `--write` puts
them into docs/benchmarks.md and benchmarks/results/training.json, and leaves those of networks that
were not measured. PyTorch: `make torch`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable
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
ROOM = 1e-4  # of the loss, after the steps that warm up
WARM_UP = 3
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
Elapsed = Callable[[Step], float]


def main() -> None:
    """Measure what the arguments say and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(ALL), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=10, help="for each network")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    on_gpu = target.active().name == "cuda"
    elapsed: Elapsed = gpu.Events() if on_gpu else by_the_host
    rows: dict[str, Any] = {}
    for name in chosen.names:
        sides, made = steps(ALL[name], BY_NUMPY.get(name) if not on_gpu else None)
        check(name, sides)
        rows[name] = {
            "batch": ALL[name].batch, **made,
            "sides": in_turns(sides, elapsed, chosen.seconds), "load": load(),
            "kernels": {} if on_gpu else kernels(sides["gpukit"]),
        }  # fmt: skip
        print(report({name: rows[name]}), flush=True)
    if chosen.write:
        where = f"{gpu.device_name()}, " if on_gpu else ""
        write(rows, f"{where}{machine()}, PyTorch {torch.__version__.partition('+')[0]}")


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


def check(name: str, sides: dict[str, Step]) -> None:
    """Make the steps that warm up; end the program unless all sides have one loss."""
    for _ in range(WARM_UP):
        losses = {side: _number(step()) for side, step in sides.items()}
    for side, loss in losses.items():
        if not abs(loss - losses["PyTorch"]) <= ROOM * abs(losses["PyTorch"]):
            raise SystemExit(f"{name}: expected a loss of {losses['PyTorch']}, {side} has {loss}.")


def _number(loss: Any) -> float:
    return float(loss if isinstance(loss, float | torch.Tensor) else launch.to_host(loss))


# --- Time ------------------------------------------------------------------------------------


def by_the_host(step: Step) -> float:
    """Return the seconds that a step takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def in_turns(sides: dict[str, Step], elapsed: Elapsed, seconds: float) -> dict[str, Any]:
    """Return the milliseconds of a step of each side: medians, and the least processor time."""
    passed: dict[str, list[float]] = {side: [] for side in sides}
    processor: dict[str, list[float]] = {side: [] for side in sides}
    until, rounds = time.perf_counter() + seconds, 0
    while rounds < LEAST_ROUNDS or time.perf_counter() < until:
        names = list(sides)
        for side in names[rounds % len(names) :] + names[: rounds % len(names)]:
            start = time.process_time()
            passed[side].append(1e3 * elapsed(sides[side]))
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
