"""Makes a kernel, launches and drops it, again and again: the process must stay as it is.

    python benchmarks/kernels_made_and_dropped.py --count 30000 --json FILE

A function that defines a kernel gets a new one at every call, though its code comes from the disk
cache. Memory that a dropped kernel leaves behind adds up, and the system allows a process about
65,000 memory maps. Prints both as it goes; ends with 1 where memory grew by more than a tenth
after the first tenth of the kernels. Reads /proc, so it needs Linux.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from gpukit import cuda

ROWS = 10
MOST = 1.1  # times the memory at the first row


def make(amount: float) -> Any:
    """Return a new kernel."""

    @cuda.jit
    def add_kernel(a: Any) -> None:
        i = cuda.grid(1)
        if i < a.size:
            a[i] += amount

    return add_kernel


def memory() -> tuple[int, int]:
    """Return the resident memory of this process in KiB, and how many memory maps it has."""
    status = Path("/proc/self/status").read_text().splitlines()
    resident = next(line for line in status if line.startswith("VmRSS"))
    return int(resident.split()[1]), Path("/proc/self/maps").read_bytes().count(b"\n")


def rows(count: int) -> list[dict[str, float]]:
    """Make and drop so many kernels; print and return what was seen on the way."""
    a, seen, start = np.zeros(100), [], time.perf_counter()
    print("| kernels | resident memory (MiB) | memory maps | seconds |\n|---|---|---|---|")
    for k in range(1, count + 1):
        make(1.0)[1, 128](a)
        if k % max(1, count // ROWS) == 0:
            resident, maps = memory()
            seconds = time.perf_counter() - start
            seen.append({"kernels": k, "kib": resident, "maps": maps, "seconds": seconds})
            print(f"| {k} | {resident / 1024:.1f} | {maps} | {seconds:.0f} |", flush=True)
    if not (a == count).all():
        sys.exit(f"the answer is wrong: expected {count}, got {a[a != count][0]}")
    return seen


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; return 1 if memory grew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=30_000)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(argv)
    seen = rows(chosen.count)
    if chosen.json:
        chosen.json.write_text(json.dumps(seen, indent=1) + "\n")
    return int(seen[-1]["kib"] > MOST * seen[0]["kib"])


if __name__ == "__main__":
    sys.exit(main())
