"""How far estimates were from known times, as `benchmarks/estimates.py --write` recorded it."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpukit.estimates.gpus import Machine

RECORD = Path(__file__).with_name("published.json")


@dataclass(frozen=True)
class Tested:
    """One table of times of one GPU, and the factors by which estimates were off.

    `median` and `largest` are factors of 1 or more; `within` is the fraction within 1.5.
    """

    table: str
    gpu: str
    times: int
    median: float
    largest: float
    within: float


@functools.cache
def record() -> dict[str, Any]:
    """Return the constants that were fitted, and a row for each table and GPU."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def tested(machine: Machine) -> tuple[Tested, ...]:
    """Return the tables that cover a GPU: its own, or those of the same chip."""
    covered = (machine.name, machine.like)
    return tuple(Tested(**row) for row in record()["tables"] if row["gpu"] in covered)
