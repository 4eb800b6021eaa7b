"""What checked mode costs: the time of every kernel of the book, checked, over its plain time.

    python -m benchmarks.checked [KERNEL ...] [--quick] [--turns 3]    a table
    python -m benchmarks.checked --write    the same into docs/checking.md, and JSON beside it

Both run in turns in one process, after a warm-up in which the answer is checked. A checked launch
uses one core and a plain one all of them; the ratio is that of wall time, which is what a learner
waits for. `bytes` is the shadow memory per element of the arguments.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

from benchmarks import harness
from gpukit.bench import cases
from gpukit.checked import check, profile, shadow_memory
from gpukit.cpu.launch import launcher

DOCUMENT = harness.ROOT / "docs" / "checking.md"
RESULT = harness.ROOT / "benchmarks" / "results" / "checked.json"
MEDIAN, WORST, BYTES = 30, 60, 20
SHORT = 0.1  # seconds


def seconds(work: harness.Work, by: Any = None) -> float:
    """Return the seconds of some work, whose launches `by` runs if it is given."""
    before = launcher.observe_launches(by)
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        launcher.observe_launches(before)


def measure(name: str, *, quick: bool, turns: int) -> dict[str, Any]:
    """Check the answer of a kernel, then time it plain, checked and profiled."""
    comparison = cases.make(name, quick=quick)
    findings: list[str] = []
    elements = [0]

    def checking(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        report = check.run(kernel, shape, arguments)
        findings.extend(f.kind for f in report.findings)
        hosts = [getattr(a, "host", a) for a in arguments]
        elements[0] = max(elements[0], sum(h.size for h in hosts if isinstance(h, np.ndarray)))

    work = comparison.ours
    work()
    shadow_memory.MEMORY.free.clear()
    seconds(work, checking)
    # A single sample of a short launch varies too much: take the best of three, as for plain ones.
    samples = 3 if seconds(work, checking) < SHORT else 1
    answer = np.asarray(comparison.result(), np.float64)
    error = float(np.max(np.abs(answer - comparison.expected()), initial=0.0))
    kept = sum(b.nbytes for b in shadow_memory.MEMORY.free)
    plain, checked = [], []
    for _ in range(turns):
        plain.append(min(seconds(work) for _ in range(3)))
        checked.append(min(seconds(work, checking) for _ in range(samples)))
    return {
        "kernel": name,
        "size": comparison.size,
        "plain": statistics.median(plain),
        "checked": statistics.median(checked),
        "profiled": seconds(work, profile.run) if quick else 0.0,
        "ratio": statistics.median(c / p for c, p in zip(checked, plain, strict=True)),
        "bytes": kept / max(elements[0], 1),
        "error": error,
        "findings": sorted(set(findings)),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the measurements as Markdown."""
    ratios, largest = [r["ratio"] for r in rows], max(r["bytes"] for r in rows)
    median, worst = statistics.median(ratios), max(ratios)
    cells = [
        [
            *(r["kernel"], r["size"]),
            *(f"{1e3 * r['plain']:.2f}", f"{1e3 * r['checked']:.1f}"),
            *(f"{r['ratio']:.0f}", f"{r['bytes']:.1f}"),
            ", ".join(r["findings"]) or "none",
        ]
        for r in rows
    ]
    headers = ["kernel", "size", "plain ms", "checked ms", "ratio", "bytes per element", "findings"]
    return (
        f"Measured on: {harness.machine()}. Load average {harness.load()}.\n\n"
        f"Median ratio {median:.0f} ({goal(median, MEDIAN)}), worst {worst:.0f} "
        f"({goal(worst, WORST)}); most shadow memory {largest:.1f} bytes per element "
        f"({goal(largest, BYTES)}).\n\n{harness.markdown(headers, cells)}"
    )


def goal(value: float, most: float) -> str:
    """Return a goal and whether the value reaches it."""
    return f"goal: {most}, {'met' if value <= most else 'missed'}"


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="kernels (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/checking.md and JSON")
    given = parser.parse_args()
    rows = []
    for name in given.names or list(cases.CASES):
        rows.append(measure(name, quick=given.quick, turns=given.turns))
        print(f"{name}: {rows[-1]['ratio']:.0f}", flush=True)
    text = table(rows)
    print(text)
    if given.write:
        harness.put("checked", text, DOCUMENT)
        harness.save(RESULT, rows)


if __name__ == "__main__":
    main()
