"""Collect recorded times into the file that lessons read, which is part of the package.

    python -m benchmarks.records

Nothing is timed. Run it after a run has been committed: `results/gpu_*.json` of `gpu_run.py`, the
first table of docs/speed.md (`speed.py`), or `results/checked.json` and docs/checking.md
(`checked.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import harness
from gpukit.bench import recorded, timing

RESULTS = harness.ROOT / "benchmarks" / "results"


def collected() -> dict[str, Any]:
    """Return the records of GPUs, without rehearsals, and those of a CPU."""
    cpu = of_a_cpu(RESULTS, harness.SPEED, harness.ROOT / "docs" / "checking.md")
    return {"gpu": of_gpus(RESULTS), "cpu": cpu}


def of_gpus(results: Path) -> list[dict[str, Any]]:
    """Return a record per GPU and kernel, by GPU events."""
    found = []
    for file in sorted(results.glob("gpu_*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        device = run["environment"].get("device", file.stem.removeprefix("gpu_"))
        found += [
            {
                "device": device,
                "kernel": one["kernel"],
                "size": one["size"],
                "seconds": one["seconds"][timing.OURS]["median"],
                "of": one["of"],
            }
            for one in ([] if run["rehearsal"] else run["results"])
        ]
    return found


def of_a_cpu(results: Path, speeds: Path, checks: Path) -> list[dict[str, Any]]:
    """Return a record per kernel: on one thread beside NumPy, or else of the kernel alone."""
    about, table, *_ = harness.section("speed", speeds).split("\n\n")
    beside = [
        {
            "device": f"{machine(about)}, one thread",
            "kernel": row["kernel"],
            "size": row["size"],
            "seconds": float(row["on ms"]) / 1e3,
            "numpy": float(row["NumPy ms"]) / 1e3,
        }
        for row in harness.rows_of(table)
    ]
    known = {row["kernel"] for row in beside}
    device = machine(harness.section("checked", checks))
    alone = [
        {"device": device, "kernel": r["kernel"], "size": r["size"], "seconds": r["plain"]}
        for r in json.loads((results / "checked.json").read_text(encoding="utf-8"))
        if r["kernel"] not in known
    ]
    return [*beside, *alone]


def machine(about: str) -> str:
    """Return the processor that a run names, and its cores.

    >>> machine("Measured on: AMD EPYC, 2 cores, Python 3.11.7. Load average 1.0.")
    'AMD EPYC, 2 cores'
    """
    return ", ".join(about.partition(": ")[2].split(", ")[:2])


if __name__ == "__main__":
    harness.save(recorded.RECORDS, collected())
