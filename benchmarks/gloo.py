"""Data parallel training and all-reduce beside PyTorch's, on two ranks (`make torch` installs it).

    .venv-torch/bin/python -m benchmarks.gloo [--write]

The same processes run both in turn: `parallel.DataParallel` by MPI, DistributedDataParallel by
gloo, from the same weights, on the same batches, with one thread each. `--write` puts the table
into docs/parallel.md.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import harness

harness.one_thread()

import numpy as np  # noqa: E402

DOCUMENT = harness.ROOT / "docs" / "parallel.md"
RESULTS = harness.ROOT / "benchmarks" / "results" / "gloo.json"
RANKS, BATCH, EPOCHS = 2, 96, 4  # 15 steps per epoch
SIZES = (1_000, 1_000_000, 50_000_000)  # bytes
LAYERS = (64, 128, 10)


def measured() -> dict[str, Any]:
    """Start the ranks; return what rank 0 found."""
    from gpukit.parallel import launcher

    text = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        program = [__file__, "--rank", store]
        outcome = launcher.run(RANKS, program, output=text, errors=text)
    if outcome.code:
        raise SystemExit(text.getvalue() + outcome.sentence)
    found: dict[str, Any] = json.loads(text.getvalue().splitlines()[-1])
    return found


def on_rank(store: str) -> None:
    """Train and reduce with both on this rank; rank 0 prints the results."""
    import torch
    from torch import distributed

    from gpukit import parallel

    world = parallel.World()
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=world.rank, world_size=world.size
    )
    found = {"training": _training(world), "all_reduce": _all_reduce(world)}
    distributed.destroy_process_group()
    if world.rank == 0:
        print(json.dumps(found), flush=True)


def _training(world: Any) -> dict[str, Any]:
    import torch
    from torch.nn.parallel import DistributedDataParallel

    from gpukit import nn, parallel

    (images, labels), _ = nn.digits()
    inputs, hidden, outputs = LAYERS
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(inputs, hidden, first=True), nn.ReLU(), nn.Linear(hidden, outputs)
    )
    parameters = nn.Parameters(model, seed=0)
    theirs = torch.nn.Sequential(
        torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, outputs)
    )
    with torch.no_grad():
        for mine, other in zip(parameters.state().values(), theirs.parameters(), strict=True):
            other.copy_(torch.from_numpy(mine))
    replica = parallel.DataParallel(model, parameters, world)
    ddp = DistributedDataParallel(theirs)
    momentum = nn.Momentum(parameters, lr=0.05)
    sgd = torch.optim.SGD(ddp.parameters(), lr=0.05, momentum=0.9)
    loader = nn.Loader(
        images, labels, batch=BATCH, drop_last=True, rank=world.rank, ranks=world.size
    )
    workspace = nn.Workspace()
    losses: dict[str, list[float]] = {"gpukit": [], "torch": []}
    seconds: dict[str, list[float]] = {"gpukit": [], "torch": []}
    for epoch in range(EPOCHS):
        for x, label in loader.epoch(epoch):
            host, target = x.copy_to_host(), label.copy_to_host()
            world.barrier()
            began = time.perf_counter()
            with workspace:
                out, saved = replica.forward(x)
                loss, grad = nn.cross_entropy(out, label)
                replica.backward(saved, grad)
                momentum.step()
            seconds["gpukit"].append(time.perf_counter() - began)
            losses["gpukit"].append(float(loss.copy_to_host()))
            batch = torch.from_numpy(host.reshape(len(host), -1))
            world.barrier()
            began = time.perf_counter()
            sgd.zero_grad()
            value = torch.nn.functional.cross_entropy(ddp(batch), torch.from_numpy(target).long())
            value.backward()
            sgd.step()
            seconds["torch"].append(time.perf_counter() - began)
            losses["torch"].append(value.item())
    apart = np.abs(np.subtract(losses["gpukit"], losses["torch"]))
    step = {name: statistics.median(times[5:]) for name, times in seconds.items()}
    return {"steps": len(apart), "apart": float(apart.max()), "step": step}


def _all_reduce(world: Any) -> dict[str, dict[str, float]]:
    import torch
    from torch import distributed

    found = {}
    for nbytes in SIZES:
        array = np.ones(nbytes // 4, np.float32)
        tensor = torch.ones(nbytes // 4)
        times: dict[str, list[float]] = {"gpukit": [], "torch": []}
        reduce = {
            "gpukit": partial(world.all_reduce, array),
            "torch": partial(distributed.all_reduce, tensor),
        }
        for _ in range(12 if nbytes > 10_000_000 else 60):
            for name, work in reduce.items():
                array[:], tensor[:] = 1, 1
                world.barrier()
                began = time.perf_counter()
                work()
                times[name].append(time.perf_counter() - began)
                reduced = array if name == "gpukit" else tensor
                assert reduced[0] == reduced[-1] == world.size
        found[str(nbytes)] = {name: statistics.median(rows[2:]) for name, rows in times.items()}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    parser = harness.parser(__doc__, "docs/parallel.md")
    parser.add_argument("--rank", metavar="STORE", help="what a rank runs")
    options = parser.parse_args(arguments)
    if options.rank:
        on_rank(options.rank)
        return 0
    record = {"machine": harness.machine(), "load": harness.load(), **measured()}
    harness.finish(options, "gloo", report(record), record, document=DOCUMENT, results=RESULTS)
    return 0


def report(record: dict[str, Any]) -> str:
    """Return the table as Markdown."""
    training = record["training"]
    rows = [("a training step", training["step"])]
    rows += [(f"all-reduce of {int(n):,} bytes", t) for n, t in record["all_reduce"].items()]
    cells = [[what, f"{1e6 * t['gpukit']:,.0f}", f"{1e6 * t['torch']:,.0f}"] for what, t in rows]
    return "\n\n".join(
        [
            f"Measured on: {record['machine']}. Load average {record['load']}.",
            f"The losses of {training['steps']} steps differ by at most {training['apart']:.1e}.",
            harness.markdown([f"{RANKS} ranks", "gpukit, us", "PyTorch, gloo, us"], cells),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
