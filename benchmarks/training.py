"""Training steps against PyTorch and NumPy, in turns, one thread each; the share of each kernel.

    python -m benchmarks.training [NAME ...] [--seconds 10] [--write]
    GPUKIT_TARGET=cuda python -m benchmarks.training [NAME ...] [--seconds 3] --json steps.json

A step is the forward pass, the loss, the backward pass and the update of SGD with momentum, from
the same weights and on the same batch; losses are compared before anything is timed. Figures are
medians of wall time and of processor time, which other programs disturb less. `--write` puts them
into benchmarks/results/training.json, and the processor times into docs/benchmarks.md, and keeps
those of other networks. PyTorch: `make torch`.

On a GPU both sides run there, PyTorch in eager mode and in float32 without TF32. A sample is the
host's time for some steps until the GPU has finished them. Each network has its own process; all
compile at the same time and measure one after the other. The JSON is written after each network
and records why a process failed.
"""

from __future__ import annotations

import argparse
import json
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

from benchmarks import harness

if __name__ == "__main__":
    harness.one_thread()  # BLAS reads its variable when NumPy is imported

import numpy as np
import torch

from benchmarks import numpy_steps
from benchmarks.networks import NETWORKS, PUBLISHED, Network, copy, each, twin
from gpukit import cuda, launch, nn, target
from gpukit.bench import gpu

DOCUMENT = harness.ROOT / "docs" / "benchmarks.md"
RESULTS = harness.ROOT / "benchmarks" / "results" / "training.json"
RATES: dict[str, Any] = {"lr": 0.001, "momentum": 0.9}
TOLERANCE = 1e-4  # of the loss, after the warm-up steps
WARM_UP = 3
STEPS = 10  # per sample on a GPU
MOST_KERNELS = 4  # in the table
MOST_ROUNDS = 100_000
ALL = NETWORKS | PUBLISHED
BY_NUMPY = {
    "mlp": partial(numpy_steps.dense, activation="relu", **RATES),
    "fcn5": partial(numpy_steps.dense, activation="sigmoid", **RATES),
    "fcnr": partial(numpy_steps.dense, activation="sigmoid", **RATES),
    "lstm": partial(numpy_steps.lstm, **RATES),
}

Step = Callable[[], Any]  # returns the loss, on the side's device


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
            "load": harness.load(),
            "kernels": kernels(sides["gpukit"]),
        }
        print(report({name: rows[name]}), flush=True)
    if chosen.write:
        write(rows, f"{harness.machine()}, PyTorch {torch.__version__.partition('+')[0]}")


# --- On a GPU --------------------------------------------------------------------------------


def in_processes(names: Sequence[str], seconds: float, timeout: float, out: Path) -> None:
    """Measure each network in a process of its own; write all results so far after each."""
    until = time.monotonic() + timeout
    command = [sys.executable, "-m", "benchmarks.training", "--part", f"--seconds={seconds}"]
    children = {
        name: subprocess.Popen(
            [*command, name],
            cwd=harness.ROOT,
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
            said, errors = child.communicate("go\n", max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            child.kill()
            said, errors = "", child.communicate()[1] + "\nOut of time."
        rows[name] = json.loads(said.splitlines()[-1]) if said else {"error": errors[-2000:]}
        harness.save(out, rows)
        print(f"{name:12} {summary(rows[name])}", flush=True)


def steps_on_gpu(name: str, seconds: float) -> dict[str, Any]:
    """Return the times of a step, measured after the warm-up and once a line has been read."""
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
    """Return the seconds per step, over several that the GPU has finished."""
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    cuda.synchronize()
    return (time.perf_counter() - start) / STEPS


def summary(row: dict[str, Any]) -> str:
    """Return the result of a network on a GPU in one line."""
    if "error" in row:
        return f"fails: {row['error'].strip().splitlines()[-1:]}"
    times = [f"{side} {1e3 * spread['median']:.3f} ms" for side, spread in row["seconds"].items()]
    return f"{', '.join(times)}: {row['ratio']:.2f} times PyTorch's"


# --- Steps -----------------------------------------------------------------------------------


def steps(
    network: Network, by_numpy: Callable[..., numpy_steps.Step] | None
) -> tuple[dict[str, Step], dict[str, int]]:
    """Return a step of each side, and the number of weights."""
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
    """Run the warm-up steps; return the losses, or end the program unless they agree."""
    for _ in range(WARM_UP):
        losses = {side: _number(step()) for side, step in sides.items()}
    for side, loss in losses.items():
        if not abs(loss - losses["PyTorch"]) <= TOLERANCE * abs(losses["PyTorch"]):
            raise SystemExit(f"{name}: expected a loss of {losses['PyTorch']}, {side} has {loss}.")
    return losses


def _number(loss: Any) -> float:
    return float(loss if isinstance(loss, float | torch.Tensor) else launch.to_host(loss))


# --- Time ------------------------------------------------------------------------------------


def both_clocks() -> Any:
    """Return the milliseconds of the wall clock and of the processor."""
    return 1e3 * np.array([time.perf_counter(), time.process_time()])


def in_turns(sides: dict[str, Step], seconds: float) -> dict[str, Any]:
    """Return the milliseconds of a step of each side: medians, and the least processor time."""
    found = harness.interleave(sides, MOST_ROUNDS, both_clocks, seconds=seconds)
    rows = {}
    for side, samples in found.items():
        wall, processor = (times.tolist() for times in np.transpose(samples))
        rows[side] = {
            "ms": statistics.median(wall),
            "processor_ms": statistics.median(processor),
            "least_processor_ms": min(processor),
        }
    return rows


def kernels(step: Step, count: int = 5) -> dict[str, float]:
    """Return the share of each kernel in a step's processor time, including its launches."""
    from gpukit.cpu.launch import launcher

    taken: Counter[str] = Counter()

    def observe(kernel: Any, shape: Any, arguments: Any) -> None:
        start = time.process_time()
        kernel.launcher.run_plain(shape, arguments)
        taken[kernel.py_func.__name__.removesuffix("_kernel")] += time.process_time() - start

    before = launcher.observe_launches(observe)
    start = time.process_time()
    for _ in range(count):
        step()
    whole = time.process_time() - start
    launcher.observe_launches(before)
    return {name: spent / whole for name, spent in taken.most_common()}


# --- Reporting -------------------------------------------------------------------------------


def report(rows: dict[str, Any]) -> str:
    """Return the rows as Markdown: processor times, then kernels."""
    times, shares = [], []
    for name, row in rows.items():
        sides, batch = row["sides"], " x ".join(map(str, row["batch"]))
        numbers = [
            f"{sides[side]['processor_ms']:.2f}" if side in sides else "-"
            for side in ("gpukit", "PyTorch", "NumPy")
        ]
        times.append([name, batch, f"{row['weights']:,}", *numbers, f"{ratio(sides):.2f}"])
        most = list(row["kernels"].items())[:MOST_KERNELS]
        largest = ", ".join(f"`{kernel}` {share:.0%}" for kernel, share in most)
        launched = sum(row["kernels"].values())
        others = launched - sum(share for _, share in most)
        shares.append([name, largest or "-", f"{others:.0%}", f"{1 - launched:.0%}"])
    headers = ["network", "batch", "weights", "gpukit ms", "PyTorch ms", "NumPy ms"]
    headers.append("gpukit / PyTorch")
    of_kernels = ["network", "share of a step's processor time", "other kernels"]
    of_kernels.append("between launches")
    tables = harness.markdown(headers, times), harness.markdown(of_kernels, shares)
    return "\n\n".join(tables)


def ratio(sides: dict[str, Any]) -> float:
    """Return gpukit's least processor time over PyTorch's: other programs only add to it."""
    ours, theirs = (sides[side]["least_processor_ms"] for side in ("gpukit", "PyTorch"))
    return float(ours / theirs)


def write(rows: dict[str, Any], where: str) -> None:
    """Merge rows with those of earlier runs and write the results and the document."""
    known = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else {}
    together = {name: (known | rows)[name] for name in ALL if name in known | rows}
    harness.save(RESULTS, {"machine": where, "rows": together})
    loads = [float(row["load"]) for row in together.values()]
    text = f"Measured on: {where}. Load average {min(loads)} to {max(loads)}.\n\n{report(together)}"
    harness.put("training", text, DOCUMENT)


if __name__ == "__main__":
    main()
