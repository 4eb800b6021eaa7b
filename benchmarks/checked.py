"""What checked mode costs: every kernel of the book, checked, against the same kernel plain.

    python benchmarks/checked.py            a table
    python benchmarks/checked.py --write    the same into docs/checking.md, and JSON beside it

Both run in turns in one process, after a warm-up in which the answer is checked. A checked
launch uses one core and the plain target all of them; the ratio is of wall time as a person sees
it. `bytes` is shadow memory for each element of the arguments.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from gpukit.bench import cases
from gpukit.checked import check, profile, shadow_memory
from gpukit.cpu.launch import launcher

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "checking.md"
RESULT = ROOT / "benchmarks" / "results" / "checked.json"
BEGIN, END = "<!-- checked begin -->", "<!-- checked end -->"
MEDIAN, WORST, BYTES = 30, 60, 20
SHORT = 0.1  # seconds


def seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(name: str, *, quick: bool, turns: int) -> dict[str, Any]:
    """Time one kernel plain, checked and profiled; correctness first."""
    comparison = cases.make(name, quick=quick)
    findings: list[str] = []
    elements = [0]

    def checking(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        report = check.run(kernel, shape, arguments)
        findings.extend(f.kind for f in report.findings)
        hosts = [getattr(a, "host", a) for a in arguments]
        elements[0] = max(elements[0], sum(h.size for h in hosts if isinstance(h, np.ndarray)))

    def profiling(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        profile.run(kernel, shape, arguments)

    def watched(by: Any) -> float:
        before = launcher.observe_launches(by)
        try:
            return seconds(comparison.ours)
        finally:
            launcher.observe_launches(before)

    comparison.ours()
    shadow_memory.MEMORY.free.clear()
    watched(checking)
    checked_once = watched(checking)
    answer = np.asarray(comparison.result(), np.float64)
    error = float(np.max(np.abs(answer - comparison.expected()), initial=0.0))
    kept = sum(b.nbytes for b in shadow_memory.MEMORY.free)
    plain, checked = [], []
    for _ in range(turns):
        plain.append(min(seconds(comparison.ours) for _ in range(3)))
        # Small launches are over before the machine is at ease: of both the best of three.
        times = 3 if checked_once < SHORT else 1
        checked.append(min(watched(checking) for _ in range(times)))
    counted = watched(profiling) if quick else 0.0
    return {
        "kernel": name,
        "size": comparison.size,
        "plain": statistics.median(plain),
        "checked": statistics.median(checked),
        "profiled": counted,
        "ratio": statistics.median(c / p for c, p in zip(checked, plain, strict=True)),
        "bytes": kept / max(elements[0], 1),
        "error": error,
        "findings": sorted(set(findings)),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the measurements as Markdown."""
    ratios = [r["ratio"] for r in rows]
    lines = [
        f"Measured on: {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, load average {os.getloadavg()[0]:.1f}.",
        "",
        f"Median ratio {statistics.median(ratios):.0f} (asked: {MEDIAN}), worst {max(ratios):.0f} "
        f"(asked: {WORST}); most shadow memory {max(r['bytes'] for r in rows):.1f} bytes "
        f"an element (asked: {BYTES}).",
        "",
        "| kernel | size | plain ms | checked ms | ratio | bytes an element | findings |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for r in rows:
        found = ", ".join(r["findings"]) or "none"
        lines.append(
            f"| {r['kernel']} | {r['size']} | {1e3 * r['plain']:.2f} | {1e3 * r['checked']:.1f} | "
            f"{r['ratio']:.0f} | {r['bytes']:.1f} | {found} |"
        )
    return "\n".join(lines)


def write(text: str, rows: list[dict[str, Any]]) -> None:
    """Put the table between its marks in the document, and the figures into a file."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page = f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"
    DOCUMENT.write_text(page, encoding="utf-8")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="kernels; all if none")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="into docs/checking.md")
    given = parser.parse_args()
    rows = []
    for name in given.names or list(cases.CASES):
        rows.append(measure(name, quick=given.quick, turns=given.turns))
        print(f"{name}: {rows[-1]['ratio']:.0f}", flush=True)
    text = table(rows)
    print(text)
    if given.write:
        write(text, rows)


if __name__ == "__main__":
    main()
