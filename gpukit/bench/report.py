"""The text and figures of a benchmark report. Measures nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gpukit.bench import timing
from gpukit.bench.ceilings import Ceilings
from gpukit.bench.timing import Result
from gpukit.cpu.launch import pool

HEADERS = (
    "kernel",
    "size",
    "gpukit",
    "NumPy",
    "GB/s",
    "Gflop/s",
    "over floor",
    "speed",
    "against NumPy",
)

_NOTE = (
    "GB/s counts the bytes that the kernel's loads and stores ask for; caches serve many of them, "
    "so it can exceed what memory delivers. One thread against one thread: set GPUKIT_THREADS=1 "
    "and OPENBLAS_NUM_THREADS=1."
)


_VARIES = (
    "Times that vary by more than 25 % are shown as the range of most samples, and so is their "
    "ratio: another program was at work, or the clock changed. Close what you can, give more time "
    "with --seconds, and run it again."
)


def duration(seconds: float) -> str:
    """Return a time in a suitable unit.

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
    """Return in words how two times compare.

    >>> verdict(2.0), verdict(0.5), verdict(1.01)
    ('2.0x faster', '2.0x slower', 'the same')
    """
    if 0.95 <= speedup <= 1.05:
        return "the same"
    if speedup > 1:
        return f"{ratio(speedup)}x faster"
    return f"{ratio(1 / speedup)}x slower"


def ratio(value: float) -> str:
    """Return a ratio with its significant digits."""
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def over_floor(result: Result, ceilings: Ceilings | None) -> float | None:
    """Return a kernel's time over its floor."""
    if result.timing is None or ceilings is None or not result.least:
        return None
    floor = ceilings.floor(result.least, result.cost.flops, timing.units(result.name))
    return result.seconds / floor


def of_library(result: Result) -> str:
    """Return a kernel's speed as a percentage of the fastest library's on a GPU.

    If either varied too much, return that instead.
    """
    others = {name: spread for name, spread in result.gpu.items() if name != timing.OURS}
    if not others:
        return "-"
    best = min(others, key=lambda name: others[name].median)
    varied = max(result.gpu[timing.OURS].varied, others[best].varied)
    share = f"{100 * others[best].median / result.seconds:.0f} % of {best}"
    return unsteady(varied) or share


def against(found: timing.Timing) -> str:
    """Return in words how a kernel compares with NumPy: a range where the times vary too much."""
    if unsteady(found.varied) and found.low:
        return f"busy: {span(found.low, found.high)}"
    return unsteady(found.varied) or verdict(found.speedup)


def span(low: float, high: float) -> str:
    """Return in words how two times compare, between two ratios.

    >>> span(1.5, 3), span(0.25, 0.5), span(0.5, 1.2)
    ('1.50x to 3.0x faster', '2.0x to 4.0x slower', '2.0x slower to 1.20x faster')
    """
    if low >= 1:
        return f"{ratio(low)}x to {ratio(high)}x faster"
    if high <= 1:
        return f"{ratio(1 / high)}x to {ratio(1 / low)}x slower"
    return f"{ratio(1 / low)}x slower to {ratio(high)}x faster"


def durations(found: timing.Timing) -> tuple[str, str]:
    """Return the times of the kernel and of NumPy: ranges where they vary too much."""
    if unsteady(found.varied) and found.sides:
        mine, other = found.sides
        return period(mine), period(other)
    return duration(found.ours), duration(found.numpy)


def period(spread: timing.Spread) -> str:
    """Return the range of most samples, with one unit where both ends have it.

    >>> period(timing.Spread(2e-3, 1e-3, 3e-3, 9)), period(timing.Spread(1e-3, 9e-4, 3e-3, 9))
    ('1 to 3 ms', '900 us to 3 ms')
    """
    low, high = duration(spread.low), duration(spread.high)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return f"{low} to {high}"


def unsteady(varied: float) -> str:
    """Return the spread of samples if it is too large to compare, else an empty string.

    >>> unsteady(0.31), unsteady(0.2)
    ('varies by 31 %', '')
    """
    return f"varies by {100 * varied:.0f} %" if varied > timing.MOST_VARIED else ""


def row(result: Result, ceilings: Ceilings | None = None) -> list[str]:
    """Return the cells of one line of the table."""
    # Without blanks, at which a table breaks its cells.
    size = result.size.replace(" x ", "x")
    if result.timing is None:
        return [result.name, size, *["-"] * 6, "WRONG"]
    over = over_floor(result, ceilings)
    ours = result.seconds
    mine, numpy = durations(result.timing)
    flops = _three(result.cost.flops / ours / 1e9) if result.cost.flops else "-"
    return [
        result.name,
        size,
        duration(ours) if result.gpu else mine,
        numpy,
        _three(result.cost.bytes / ours / 1e9),
        flops,
        "-" if over is None else ratio(over),
        of_library(result),
        against(result.timing),
    ]


def table(
    results: Sequence[Result], ceilings: Ceilings | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return headers and rows, without the column of libraries if none was measured."""
    rows = [row(result, ceilings) for result in results]
    last = len(HEADERS) if any(result.gpu for result in results) else HEADERS.index("speed")
    kept = [k for k in range(len(HEADERS)) if k < last or k > HEADERS.index("speed")]
    return [HEADERS[k] for k in kept], [[line[k] for k in kept] for line in rows]


def threads(name: str) -> str:
    """Return the number of threads of each side, in words."""
    count = pool.workers()
    ours = "the GPU" if name == "cuda" else f"{count} thread{'s' if count != 1 else ''}"
    return f"kernels use {ours}, NumPy 1 (matrix products: the threads of BLAS)"


def ceiling(ceilings: Ceilings) -> str:
    """Return the line that defines the floors."""
    return (
        f"Ceilings: {_three(ceilings.bytes / 1e9)} GB/s, {_three(ceilings.flops / 1e9)} Gflop/s "
        f"({ceilings.how}). A kernel's floor is the time that its least bytes, each input read and "
        "each output written once, or its operations take at these."
    )


def heading(target: Any) -> str:
    """Return the line above the table."""
    sides = f"{threads(target.name)}. NumPy {np.__version__}"
    return f"Target {target.name}: {sides}. Times and ratios are medians after a warm-up."


def notes(results: Sequence[Result]) -> list[str]:
    """Return the notes below the table."""
    lines = [f"{result.name}: {result.error}" for result in results if not result.right]
    lines += [f"{r.name}: {name} fails: {why}" for r in results for name, why in r.failed.items()]
    if any(varied(result) for result in results):
        lines.append(_VARIES)
    if any(result.timing for result in results):
        lines.append(_NOTE)
    return ["", *lines] if lines else []


def varied(result: Result) -> bool:
    """Tell whether times of a result vary too much to be compared."""
    sides = [spread.varied for spread in result.gpu.values()]
    return any(map(unsteady, [result.timing.varied, *sides])) if result.timing else False


def _speedup(found: timing.Timing | None) -> float | None:
    """Return a ratio of times; None if nothing was timed or the times vary too much."""
    return None if found is None or unsteady(found.varied) else found.speedup


def as_json(
    results: Sequence[Result], target: Any, machine: str, ceilings: Ceilings | None = None
) -> dict[str, Any]:
    """Return everything measured, in seconds and bytes."""
    return {
        "target": target.name,
        "reason": target.reason,
        "machine": machine,
        "threads": threads(target.name),
        "numpy": np.__version__,
        "ceilings": asdict(ceilings) if ceilings else None,
        "results": [
            {
                **asdict(result),
                "speedup": _speedup(result.timing),
                "rounds": result.timing.rounds if result.timing else 0,
                "over_floor": over_floor(result, ceilings),
            }
            for result in results
        ],
    }
