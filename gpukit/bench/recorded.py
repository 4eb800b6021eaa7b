"""Recorded GPU times: the files that `benchmarks/gpu_run.py` wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpukit.bench import report, timing

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
HEADERS = ("GPU", "kernel", "size", "time", "of a library")
NONE = "No GPU time of these kernels has been recorded yet."


def rows(names: Sequence[str], folder: Path = FOLDER) -> list[list[str]]:
    """Return the recorded figures of the kernels whose names begin with one of `names`.

    A row is a GPU, a kernel, its size, its time by GPU events, and its speed as a percentage of the
    fastest library's. Rehearsals are left out.
    """
    found = []
    for file in sorted(folder.glob("gpu_*.json")):
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if record["rehearsal"]:
            continue
        device = record["environment"].get("device", file.stem.removeprefix("gpu_"))
        found += [
            _row(device, result)
            for result in record["results"]
            if result["kernel"].startswith(tuple(names))
        ]
    return found


def _row(device: str, result: dict[str, Any]) -> list[str]:
    seconds = result["seconds"][timing.OURS]["median"]
    best = min(result["of"].items(), key=lambda pair: pair[1], default=None)
    share = f"{100 * best[1]:.0f} % of {best[0]}" if best else "-"
    return [device, result["kernel"], result["size"], report.duration(seconds), share]
