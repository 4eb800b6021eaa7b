"""Time of the pipeline and ring simulators, and predictions beside published scaling figures.

    python -m benchmarks.cluster [--write]

Times are processor seconds of one run after a small one that compiles. `--write` puts both tables
into docs/scaling.md and benchmarks/results/cluster.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import harness
from gpukit.parallel import cost_model, published
from gpukit.parallel.links import Link
from gpukit.parallel.schedules import SCHEDULES
from gpukit.parallel.simulator import simulate, simulate_data_parallel, simulate_ring

DOCUMENT = harness.ROOT / "docs" / "scaling.md"
RESULTS = harness.ROOT / "benchmarks" / "results" / "cluster.json"
SIZES = ((8, 32), (128, 1024), (1024, 8192))
RANKS = (8, 256, 4096)
LINK, BUCKETS = Link(latency=5e-6, bandwidth=12.5e9), 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print both tables."""
    parser = harness.parser(__doc__, "docs/scaling.md")
    options = parser.parse_args(arguments)
    record = {
        "machine": harness.machine(),
        "load": harness.load(),
        "pipelines": pipelines(SIZES),
        "data_parallel": data_parallel(RANKS),
        "published": [
            r._asdict() | {"paper": r.paper.name, "error": r.error} for r in published.comparisons()
        ],
    }
    text = report(record)
    print(text)
    if options.json:
        harness.save(options.json, record)
    if options.write:
        harness.save(RESULTS, record)
        harness.put("simulator", text, DOCUMENT)
        harness.put("published", published_figures(), DOCUMENT)
    return 0


def pipelines(sizes: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Simulate pipelines of equal stages, with and without messages; check idle fractions."""
    found = []
    for name, schedule in SCHEDULES.items():
        simulate(schedule(2, 2), 1.0, 2.0)  # compiles
        for stages, batches in sizes:
            made = schedule(stages, batches)
            for transfer in (0.0, 0.1):
                timeline, seconds = timed(partial(simulate, made, 1.0, 2.0, transfer=transfer))
                formula = cost_model.bubble(stages, batches)
                if not transfer and not abs(timeline.idle_fraction - formula) <= 1e-3:
                    raise SystemExit(f"{name}: idle {timeline.idle_fraction}, expected {formula}.")
                found.append(
                    {
                        "schedule": name,
                        "stages": stages,
                        "micro_batches": batches,
                        "transfer": transfer,
                        "idle_fraction": timeline.idle_fraction,
                        "bubble": formula,
                        "seconds": seconds,
                    }
                )
    return found


def data_parallel(ranks: Sequence[int]) -> list[dict[str, Any]]:
    """Simulate rings of equal ranks, checked against the formula, and steps of several buckets."""
    found = []
    for p in ranks:
        ended, ring = timed(partial(simulate_ring, np.zeros(p), 100e6, LINK))
        formula = cost_model.ring_all_reduce(LINK, p, 100e6)
        if not abs(ended.max() - formula) <= 1e-6 * formula:
            raise SystemExit(f"ring of {p}: {ended.max()} s, expected {formula} s.")
        buckets = [100e6 / BUCKETS] * BUCKETS
        passes = np.full(p, 0.06), np.full(p, 0.12)
        _, step = timed(partial(simulate_data_parallel, *passes, buckets, LINK))
        found.append({"ranks": p, "all_reduce": formula, "ring": ring, "step": step})
    return found


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the processor time that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def report(record: dict[str, Any]) -> str:
    """Return the times of the simulators as Markdown."""
    rows = [
        [
            row["schedule"],
            f"{row['stages']:,} x {row['micro_batches']:,}",
            f"{row['transfer']:g}",
            f"{row['idle_fraction']:.4f}",
            f"{row['bubble']:.4f}",
            f"{row['seconds']:.2f}",
        ]
        for row in record["pipelines"]
    ]
    headers = [
        "schedule",
        "stages x micro-batches",
        "message",
        "idle fraction",
        "bubble",
        "seconds",
    ]
    rings = [
        [f"{r['ranks']:,}", f"{1e3 * r['all_reduce']:.1f}", f"{r['ring']:.2f}", f"{r['step']:.2f}"]
        for r in record["data_parallel"]
    ]
    ring_headers = ["ranks", "all-reduce of 100 MB, ms", "ring, seconds"]
    ring_headers.append(f"step of {BUCKETS} buckets, seconds")
    where = f"Measured on: {record['machine']}. Load average {record['load']}."
    tables = harness.markdown(headers, rows), harness.markdown(ring_headers, rings)
    return "\n\n".join([where, *tables])


def published_figures() -> str:
    """Return the comparison with published figures as Markdown."""
    rows = published.comparisons()
    listed = [
        f"**{paper.name}.** {paper.source}.\n\n"
        f"- *Given:* {paper.given}\n- *Assumed:* {paper.assumed}"
        for paper in dict.fromkeys(row.paper for row in rows)
    ]
    return "\n\n".join([harness.markdown(published.HEADERS, published.cells(rows)), *listed])


if __name__ == "__main__":
    raise SystemExit(main())
