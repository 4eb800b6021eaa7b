"""Numba's simulator against gpukit's CPU target.

The simulator runs a kernel's own Python, with a system thread per thread of a block. It runs one
small launch in a process of its own, and the answers are compared. It cannot run kernels with GPU
instructions (`primitives.vectorized`, `primitives.tensor`).
"""

from __future__ import annotations

import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpukit import gpu_code, target
from gpukit.bench import report
from gpukit.bench.launches import copied, first_launch
from gpukit.bench.register import BenchError
from gpukit.gpu_code import request

CHILD = Path(gpu_code.__file__).with_name("simulator_child.py")
SECONDS = 60.0  # limit per launch
_TIMES = 9
_TOLERANCE = 1e-3  # of the largest value: sums have another order
HEADERS = ("kernel", "threads", "gpukit", "simulator", "times faster")


class Simulated(NamedTuple):
    """One launch on both sides; `reason` says why there is no time of the simulator.

    Seconds of gpukit are the median of some launches; the simulator, which compiles nothing, runs
    one.
    """

    kernel: str
    threads: int
    ours: float
    theirs: float | None
    reason: str = ""


def check_target() -> None:
    """Raise BenchError on a GPU, where the comparison means nothing."""
    if target.active().name == "cuda":
        raise BenchError(
            "bench: expected a CPU target for --simulator, got 'cuda'. Set GPUKIT_TARGET=cpu."
        )


def run(name: str, seconds: float = SECONDS) -> Simulated:
    """Launch a case's kernel with small sizes on both sides; BenchError on a GPU."""
    check_target()
    launched = first_launch(name)
    kernel, shape = launched.kernel, launched.shape
    answer = copied(launched.arguments)
    kernel[shape.grid, shape.block, 0, shape.shared](*answer)
    threads = int(np.prod(shape.grid) * np.prod(shape.block))
    described = request.describe(kernel, launched.arguments, [])
    given = {
        "request": described,
        "launch": (shape.grid, shape.block, 0, shape.shared),
        "arguments": launched.arguments,
    }
    theirs, reason = None, "instructions of a GPU"
    if not _has_other_forms(described):
        theirs, reason = _ask(given, answer, seconds)
    return Simulated(name, threads, _ours(launched), theirs, reason)


def _has_other_forms(described: bytes) -> bool:
    """Tell whether a kernel calls a primitive with another implementation on a GPU."""
    functions = pickle.loads(described)["functions"]
    return any(kind == "file" for f in functions for kind, _ in f["globals"].values())


def _ours(launched: Any) -> float:
    shape, times = launched.shape, []
    for _ in range(_TIMES):
        arguments = copied(launched.arguments)
        begin = time.perf_counter()
        launched.kernel[shape.grid, shape.block, 0, shape.shared](*arguments)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def _ask(
    given: dict[str, Any], answer: tuple[Any, ...], seconds: float
) -> tuple[float | None, str]:
    """Return the seconds that the simulator took, or why there are none."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "GPUKIT_STANDIN": "0"}
    try:
        done = subprocess.run(
            [sys.executable, str(CHILD)],
            input=pickle.dumps(given),
            env=environment,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"more than {seconds:.0f} s"
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return None, f"cannot: {said[-1] if said else f'it ended with code {done.returncode}'}"
    took, theirs = pickle.loads(done.stdout)
    same = all(_agree(a, b) for a, b in zip(answer, theirs, strict=True))
    return (took, "") if same else (None, "another answer than ours")


def _agree(ours: Any, theirs: Any) -> bool:
    if not isinstance(ours, np.ndarray):
        return True
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    tolerance = _TOLERANCE * float(np.nanmax(np.abs(ours), initial=1.0))
    return bool(np.allclose(ours, theirs, rtol=0, atol=tolerance, equal_nan=True))


def table(found: Sequence[Simulated]) -> tuple[list[str], list[list[str]]]:
    """Return headers and rows: both times, and the speed-up."""
    rows = []
    for one in found:
        took = report.duration(one.theirs) if one.theirs else one.reason
        times = f"{one.theirs / one.ours:,.0f}" if one.theirs else "-"
        rows.append([one.kernel, f"{one.threads:,}", report.duration(one.ours), took, times])
    return list(HEADERS), rows
