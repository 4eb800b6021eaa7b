"""The words and numbers of a benchmark report. Measures nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gpukit.bench.timing import Result
from gpukit.cpu import pool

HEADERS = ("kernel", "size", "ours", "NumPy", "GB/s", "Gflop/s", "against NumPy")

_NOTE = (
    "GB/s counts the bytes that the kernel's loads and stores ask for; caches serve many of them, "
    "so it can exceed what memory delivers. One thread against one thread: set GPUKIT_THREADS=1 "
    "and OPENBLAS_NUM_THREADS=1."
)


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(0.00000123), duration(0.0456), duration(12.3)
    ('1.23 us', '45.6 ms', '12.3 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{_three(seconds / size)} {unit}"
    return f"{_three(seconds / 1e-9)} ns"


def _three(value: float) -> str:
    """Return three significant digits, never in exponent form.

    >>> _three(1234.5), _three(12.345), _three(0.01234)
    ('1234', '12.3', '0.0123')
    """
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def verdict(speedup: float) -> str:
    """Say in words how two times compare.

    >>> verdict(2.0), verdict(0.5), verdict(1.01)
    ('2.0 times faster', '2.0 times slower', 'the same')
    """
    if 0.95 <= speedup <= 1.05:
        return "the same"
    if speedup > 1:
        return f"{_ratio(speedup)} times faster"
    return f"{_ratio(1 / speedup)} times slower"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def row(result: Result) -> list[str]:
    """Return the cells of one line of the table."""
    if result.timing is None:
        return [result.name, result.size, "-", "-", "-", "-", "WRONG"]
    ours = result.timing.ours
    flops = _three(result.cost.flops / ours / 1e9) if result.cost.flops else "-"
    return [
        result.name,
        result.size,
        duration(ours),
        duration(result.timing.numpy),
        _three(result.cost.bytes / ours / 1e9),
        flops,
        verdict(result.timing.speedup),
    ]


def threads(name: str) -> str:
    """Return how many threads each side may use, in words."""
    count = pool.workers()
    ours = "the GPU" if name == "cuda" else f"{count} thread{'s' if count != 1 else ''}"
    return f"kernels use {ours}, NumPy 1 (its matrix products as many as BLAS takes)"


def heading(target: Any) -> str:
    """Return the line above the table."""
    return f"Target {target.name}: {threads(target.name)}. NumPy {np.__version__}. Warm medians."


def notes(results: Sequence[Result]) -> list[str]:
    """Return what has to be said below the table."""
    lines = [f"{result.name}: {result.error}" for result in results if not result.right]
    if any(result.timing for result in results):
        lines.append(_NOTE)
    return ["", *lines] if lines else []


def as_json(results: Sequence[Result], target: Any, machine: str) -> dict[str, Any]:
    """Return everything measured, in seconds and bytes."""
    return {
        "target": target.name,
        "reason": target.reason,
        "machine": machine,
        "threads": threads(target.name),
        "numpy": np.__version__,
        "results": [
            {
                **asdict(result),
                "speedup": result.timing.speedup if result.timing else None,
                "rounds": result.timing.rounds if result.timing else 0,
            }
            for result in results
        ],
    }
