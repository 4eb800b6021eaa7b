"""One process of a GPU run: check kernels, and time them in turns with the libraries.

`gpu_run.py` starts it with `--part`. It writes events to its output, each a line of JSON.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from gpukit import cuda, target
from gpukit.bench import cases, ceilings, gpu, rivals, timing
from gpukit.bench.timing import Comparison

SECONDS = 1.0  # for one kernel and its rivals
NUMPY_CALLS, NUMPY_SLOW = 3, 2.0  # calls of which the best counts; seconds after which one will do
PACKAGES = ("numba", "numba-cuda", "numpy", "cupy-cuda13x", "cupy-cuda12x", "torch")

Event = dict[str, Any]  # what a process says: one key, which says what it is about


def environment() -> dict[str, Any]:
    """Return what the figures depend on besides the code."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if target.active().name == "cuda":
        found["device"] = gpu.device_name()
        found["capability"] = list(cuda.get_current_device().compute_capability)
    return found


def checks(names: Sequence[str]) -> Iterator[Event]:
    """Compile kernels and check their answers on small arrays."""
    for name in names:
        yield {"begun": name}
        first, mistake = timing.first_answer(cases.make(name, quick=True))
        yield {"wrong": {name: mistake}} if mistake else {"right": {name: first}}
        if mistake:
            cuda.synchronize()  # raises after an error that ends all that a process does


def times(names: Sequence[str], *, rehearse: bool, seconds: float) -> Iterator[Event]:
    """Check and time kernels, as long as there is time; yield what comes out, piece by piece.

    Between `turn` and `over` this process has the GPU to itself. What reads `turn` waits for that.
    """
    until, on_gpu = time.monotonic() + seconds, target.active().name == "cuda"
    yield {"environment": environment()}
    yield {"turn": ""}
    limits = asdict(ceilings.measure(quick=rehearse))
    if on_gpu and "fill" in names:  # of whose kernel it is
        yield {"environment": {"launch_seconds": gpu.launch_seconds()}}
    yield {"state": gpu.state(), "ceilings": limits}  # again and again: machines drift
    yield {"over": ""}
    elapsed = gpu.Events() if on_gpu else _by_the_host
    for name in names:
        if time.monotonic() > until:
            yield {"left_out": name}
            continue
        yield {"begun": name}
        comparison = cases.make(name, quick=rehearse)
        first, mistake = timing.first_answer(comparison)
        if mistake:
            yield {"wrong": {name: mistake}}
            cuda.synchronize()
            continue
        works, failed = gpu.sides(comparison)
        yield {"turn": name}
        spreads = gpu.in_turns(works, elapsed, seconds=SECONDS)
        yield {"over": name}
        yield {"results": {**result(comparison, spreads), "failed": failed, "first": first}}


def numpy_times(names: Sequence[str], *, rehearse: bool, seconds: float) -> Iterator[Event]:
    """Time NumPy doing the work of kernels; what several kernels do alike, once."""
    until = time.monotonic() + seconds
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for name in names:
        yield {"begun": name}
        if time.monotonic() > until:
            yield {"numpy": {name: {"left_out": "no time was left"}}}
            continue
        small = cases.make(name, quick=True)  # large arrays take long to make
        task = rivals.named(small) or name.removesuffix("_vectorized"), small.size
        if task not in known:
            known[task] = {"of": name, **_best(cases.make(name, quick=rehearse).on(np))}
        yield {"numpy": {name: known[task]}}


def _best(work: timing.Work) -> dict[str, Any]:
    """Return the best time of some calls, of one where it takes long."""
    seconds = [_by_the_host(work)]
    while len(seconds) < NUMPY_CALLS and seconds[0] < NUMPY_SLOW:
        seconds.append(_by_the_host(work))
    return {"seconds": min(seconds), "calls": len(seconds)}


def work(names: Sequence[str], *, rehearse: bool, by_numpy: bool) -> None:
    """Check kernels, and say so; given seconds on a line, time those that are right, or NumPy."""
    logging.basicConfig()
    logging.getLogger("gpukit.bench").setLevel(logging.INFO)
    right: dict[str, float] = {}
    for event in () if by_numpy else checks(names):
        _say(event)
        right.update(event.get("right", {}))
    _say({"ready": True})
    seconds = sys.stdin.readline()
    if not seconds:
        return
    timed, chosen = (numpy_times, names) if by_numpy else (times, list(right))
    for event in timed(chosen, rehearse=rehearse, seconds=float(seconds)):
        _say(event)
        if "turn" in event:
            sys.stdin.readline()


def _say(event: Event) -> None:
    print(json.dumps(event), flush=True)


def result(comparison: Comparison, found: dict[str, timing.Spread]) -> dict[str, Any]:
    """Return the times of one kernel and its rivals, and the ratios between them.

    There is no ratio to a side whose times vary too much, nor to any side where ours do.
    """
    unsteady = {name: s.varied for name, s in found.items() if s.varied > timing.MOST_VARIED}
    ours = found[timing.OURS].median
    others = {} if timing.OURS in unsteady else found.keys() - unsteady - {timing.OURS}
    return {
        "kernel": comparison.name,
        "size": comparison.size,
        "varies": unsteady,
        "seconds": {name: asdict(spread) for name, spread in found.items()},
        "of": {name: found[name].median / ours for name in sorted(others)},
        "bytes": comparison.least,
        "flops": comparison.cost.flops,
        "units": comparison.units,
        "bytes_per_second": comparison.least / ours,
        "flops_per_second": comparison.cost.flops / ours,
    }


def _by_the_host(work: timing.Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
