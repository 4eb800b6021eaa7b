"""Steps of training on the CPU target against PyTorch's, with the same number of threads, in turns.

    python -m benchmarks.training [NAME ...] [--threads 1] [--rounds 30] [--json FILE]

A step is forward, loss, backward and the update of SGD with momentum, from the same weights and on
the same batch; losses are compared before anything is timed. Printed are medians of processor time,
which other programs disturb less than the clock on the wall. PyTorch: `make torch`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gpukit
from benchmarks.networks import NETWORKS, Network, copy, twin
from benchmarks.speed import interleave
from gpukit import cuda, launch, nn

RATES = {"lr": 0.001, "momentum": 0.9}
ROOM = 1e-4  # of the loss, after the steps that warm up
WARM_UP = 5


def main() -> None:
    """Measure what the arguments say and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(NETWORKS), metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # gpukit has a thread for each core that it may use
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.threads])
    torch.set_num_threads(chosen.threads)
    print("| network | batch | gpukit ms | PyTorch ms | gpukit / PyTorch | arrays |")
    print("|---|---|---:|---:|---:|---:|")
    rows = {}
    for name in chosen.names:
        network = NETWORKS[name]
        ours, theirs, workspace = steps(network)
        for _ in range(WARM_UP):
            losses = ours(), theirs()
        if not abs(losses[0] - losses[1]) <= ROOM * abs(losses[1]):
            raise SystemExit(f"{name}: expected a loss of {losses[1]}, got {losses[0]}.")
        taken = interleave({"ours": ours, "theirs": theirs}, chosen.rounds, time.process_time)
        mine, other = (1000 * statistics.median(seconds) for seconds in taken.values())
        rows[name] = {"gpukit_ms": mine, "pytorch_ms": other, "threads": chosen.threads}
        batch = " x ".join(map(str, network.batch))
        ratio = f"{mine / other:.2f}"
        print(f"| {name} | {batch} | {mine:.2f} | {other:.2f} | {ratio} | {workspace.made} |")
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n")


def steps(network: Network) -> tuple[Callable[[], float], Callable[[], float], nn.Workspace]:
    """Return a step of ours and one of PyTorch's, which return their losses; our memory."""
    model, rng = network.make(), np.random.default_rng(20261125)
    parameters, workspace, other = nn.Parameters(model, seed=0), nn.Workspace(), twin(model)
    copy(parameters, other)
    if network.tokens:
        x = rng.integers(0, network.tokens, network.batch)
    else:
        x = rng.standard_normal(network.batch, np.float32)
    their_x = torch.from_numpy(x)
    with torch.no_grad():
        count, classes = other(their_x).flatten(0, -2).shape
    label = rng.integers(0, classes, count)
    their_label = torch.from_numpy(label)
    our_x, our_label = cuda.to_device(x), cuda.to_device(label)
    optimizer, theirs = (
        nn.Momentum(parameters, **RATES),
        torch.optim.SGD(other.parameters(), **RATES),
    )

    def ours_step() -> float:
        with workspace:
            logits, saved = model.forward(our_x)
            loss, grad = gpukit.cross_entropy_with_grad(logits.reshape(count, classes), our_label)
            model.backward(saved, grad.reshape(logits.shape))
            optimizer.step()
            return float(launch.to_host(loss))

    def their_step() -> float:
        theirs.zero_grad()
        loss: Any = torch.nn.functional.cross_entropy(other(their_x).flatten(0, -2), their_label)
        loss.backward()
        theirs.step()
        return float(loss.detach())

    return ours_step, their_step, workspace


if __name__ == "__main__":
    main()
