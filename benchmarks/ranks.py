"""Several ranks: failures, step times, all-reduce, slow motion against the model.

    python -m benchmarks.ranks [--write] [--only failures|cpu|exchange|slow] [--rounds 20]

Each part starts processes with MPI. `failures` lets rank 1 of 4 fail in each way, so many times, to
see how long all ranks take to end after that. `cpu` compares the processor time of a rank in
data parallel training of LeNet on 1 and 2 ranks; `exchange` times all-reduces; `slow` compares
slow motion with the cost model. `--write` puts the tables into docs/parallel.md.
"""

from __future__ import annotations

import io
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import harness

DOCUMENT = harness.ROOT / "docs" / "parallel.md"
RESULTS = harness.ROOT / "benchmarks" / "results" / "ranks.json"
FAILING = harness.ROOT / "tests" / "parallel" / "programs" / "failing.py"
KINDS = ("exception", "kill", "leave", "stall", "stop", "disk")
DEADLINE = 5.0
SIZES = (1_000, 1_000_000, 50_000_000)  # bytes
BATCH, STEPS = 512, 6
# Slow enough that two cores keep up with eight ranks.
LATENCY, BANDWIDTH, FORWARD = 2e-3, 100e6, 0.02


def started(ranks: int, *arguments: str, deadline: float = 60.0) -> tuple[int, str, float]:
    """Run this module on so many ranks; return exit code, output and seconds."""
    from gpukit.parallel import launcher

    program = list(arguments) if arguments[0].endswith(".py") else [__file__, *arguments]
    text, began = io.StringIO(), time.monotonic()
    outcome = launcher.run(ranks, program, deadline=deadline, output=text, errors=text)
    return outcome.code, text.getvalue() + outcome.sentence, time.monotonic() - began


def results(ranks: int, part: str) -> dict[str, Any]:
    """Return what rank 0 printed as JSON."""
    code, text, _ = started(ranks, "--rank", part)
    if code:
        raise SystemExit(text)
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


# ---- Failures --------------------------------------------------------------------------------


def failures(rounds: int) -> list[dict[str, Any]]:
    """Let a rank fail in every way; return the longest time to the end, and odd outcomes."""
    _, _, start = started(4, str(FAILING), "none")
    rows = []
    for kind in KINDS:
        seconds, odd = [], []
        for _ in range(rounds):
            code, text, took = started(4, str(FAILING), kind, deadline=DEADLINE)
            seconds.append(took - start)
            sentence = text.strip()
            if not code or "\n" in sentence or not re.search(r"rank \d of 4", sentence):
                odd.append(sentence)
        rows.append({"kind": kind, "rounds": rounds, "longest": max(0.0, *seconds), "odd": odd})
        print(rows[-1], flush=True)
    return rows


# ---- On the ranks ----------------------------------------------------------------------------


def on_rank(part: str) -> None:
    """Run one part on this rank; rank 0 prints the results."""
    from gpukit import parallel

    world = parallel.World()
    found = {"cpu": cpu, "exchange": exchange, "slow": slow}[part](world)
    if world.rank == 0:
        print(json.dumps(found), flush=True)


def lenet() -> Any:
    """Return LeNet-5 for 8 x 8 images in two channels' worth of features."""
    from gpukit import nn

    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def cpu(world: Any) -> dict[str, float]:
    """Return the processor seconds of a step on this rank: the median."""
    from gpukit import nn, parallel

    (images, labels), _ = nn.digits()
    model = lenet()
    parameters = nn.Parameters(model, seed=0)
    replica = parallel.DataParallel(model, parameters, world)
    optimizer = nn.AdamW(parameters, lr=1e-3)
    loader = nn.Loader(
        images, labels, batch=BATCH, drop_last=True, rank=world.rank, ranks=world.size
    )
    workspace, seconds, losses = nn.Workspace(), [], []
    for epoch in range(STEPS):
        for x, label in loader.epoch(epoch):
            began = time.process_time()
            with workspace:
                out, saved = replica.forward(x)
                loss, grad = nn.cross_entropy(out, label)
                replica.backward(saved, grad)
                optimizer.step()
            seconds.append(time.process_time() - began)
            losses.append(float(loss.copy_to_host()))
    return {"seconds": statistics.median(seconds[2:]), "last_loss": losses[-1]}


def exchange(world: Any) -> dict[str, float]:
    """Return the median seconds of all-reduces of each size."""
    found = {}
    for nbytes in SIZES:
        array = np.ones(nbytes // 4, np.float32)
        seconds = []
        for _ in range(5 + min(int(2e7 / nbytes), 200)):
            world.barrier()
            began = time.perf_counter()
            world.all_reduce(array)
            seconds.append(time.perf_counter() - began)
            array[:] = 1
        found[str(nbytes)] = statistics.median(seconds[2:])
    return found


def slow(world: Any) -> dict[str, Any]:
    """Return all-reduce, idle fraction and speed-up, in slow motion and of the model."""
    from gpukit import parallel
    from gpukit.parallel import cost_model, slow_motion
    from gpukit.parallel.links import Link
    from gpukit.parallel.schedules import one_f_one_b

    link, p = Link(LATENCY, BANDWIDTH), world.size
    rows: list[dict[str, Any]] = []

    def row(what: str, measured: float, model: float) -> None:
        rows.append({"ranks": p, "what": what, "measured": measured, "model": model})

    for algorithm in ("ring", "tree"):
        for nbytes in (256, 2_000_000):
            cluster = parallel.SlowMotion(world, link=link, algorithm=algorithm)
            array = np.ones(nbytes // 4, np.float32)
            world.barrier()
            began = cluster.now()
            cluster.group.all_reduce(array)
            took = cluster.now() - began
            model = cost_model.ALL_REDUCE[algorithm](link, p, nbytes)
            row(f"{algorithm} all-reduce of {nbytes:,} bytes, ms", 1e3 * took, 1e3 * model)
    if p > 1:
        for micro_batches in (1, 4, 8, 16):
            cluster = parallel.SlowMotion(world, link=Link())
            timeline = _pipeline(cluster, one_f_one_b(p, micro_batches))
            share = slow_motion.idle_fraction(timeline)
            row(
                f"idle fraction, {micro_batches} micro-batch{'es' * (micro_batches > 1)}",
                share,
                cost_model.bubble(p, micro_batches),
            )
    compute, nbytes = 0.4, 4_000_000
    cluster = parallel.SlowMotion(world, link=link)
    array = np.ones(nbytes // 4, np.float32)
    world.barrier()
    began = cluster.now()
    for _ in range(3):
        with cluster.compute(compute / p):
            pass
        cluster.group.all_reduce(array)
    took = (cluster.now() - began) / 3
    model = compute / p + cost_model.ring_all_reduce(link, p, nbytes)
    row("speed-up of a data parallel step", compute / took, compute / model)
    return {"rows": rows}


def _pipeline(cluster: Any, schedule: Any) -> Any:
    """Run passes that only take time; return the time line."""
    stage, last, sending = cluster.group.rank, cluster.group.size - 1, []
    array = np.zeros(1, np.float32)
    for kind, m in schedule[stage]:
        back = kind == "backward"
        source, dest = (stage + 1, stage - 1) if back else (stage - 1, stage + 1)
        if 0 <= source <= last:
            cluster.group.recv(array, source, tag=2 * m + back)
        with cluster.compute(FORWARD * (1 + back)):
            pass
        if 0 <= dest <= last:
            sending.append(cluster.group.isend(array.copy(), dest, tag=2 * m + back))
    for work in sending:
        work.wait()
    return cluster.timeline()


# ---- Report ----------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts and print their tables."""
    parser = harness.parser(__doc__, "docs/parallel.md")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--rank", choices=("cpu", "exchange", "slow"), help="what a rank runs")
    options = parser.parse_args(arguments)
    if options.rank:
        on_rank(options.rank)
        return 0
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    record |= {"machine": harness.machine(), "load": harness.load()}
    for name in options.only or PARTS:
        record[name] = PARTS[name](options.rounds)
    harness.finish(options, "ranks", report(record), record, document=DOCUMENT, results=RESULTS)
    return 0


PARTS: dict[str, Callable[[int], Any]] = {
    "failures": failures,
    "cpu": lambda _: {str(ranks): results(ranks, "cpu") for ranks in (1, 2, 1, 2)},
    "exchange": lambda _: {str(ranks): results(ranks, "exchange") for ranks in (2, 4)},
    "slow": lambda _: [row for ranks in (2, 4, 8) for row in results(ranks, "slow")["rows"]],
}


def report(record: dict[str, Any]) -> str:
    """Return the tables as Markdown."""
    parts = [f"Measured on: {record['machine']}. Load average {record['load']}."]
    if "failures" in record:
        cells = [
            [f["kind"], f["rounds"], f"{f['longest']:.1f}", len(f["odd"])]
            for f in record["failures"]
        ]
        headers = ["failure", "runs", "longest time to exit, s", "runs without a one-line report"]
        parts.append(harness.markdown(headers, cells))
    if "cpu" in record:
        one, two = (record["cpu"][ranks]["seconds"] for ranks in ("1", "2"))
        parts.append(
            f"Processor time per step of a small LeNet on 8 x 8 images, batch {BATCH}: "
            f"{1e3 * one:.0f} ms on one rank, {1e3 * two:.0f} ms on each of two, "
            f"{two / one:.2f} times as much."
        )
    if "exchange" in record:
        cells = [
            [ranks, f"{int(nbytes):,}", f"{1e6 * seconds:,.0f}"]
            for ranks, times in record["exchange"].items()
            for nbytes, seconds in times.items()
        ]
        parts.append(harness.markdown(["ranks", "bytes", "all-reduce, us"], cells))
    if "slow" in record:
        cells = [
            [r["ranks"], r["what"], f"{r['measured']:.3g}", f"{r['model']:.3g}"]
            for r in record["slow"]
        ]
        parts.append(harness.markdown(["ranks", "in slow motion", "measured", "model"], cells))
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
