"""Timing on a GPU: events around one launch, the cache flushed before it, all sides in turns.

A GPU's clock and cache depend on what ran before. So every sample begins with a cold L2 cache,
sides run in turns of changing order, and medians are compared only within one run.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping

import numpy as np

from gpukit import cuda, launch
from gpukit.bench import rivals
from gpukit.bench.calls import Launch
from gpukit.bench.timing import OURS, Clock, Comparison, Spread, Work
from gpukit.kernels import reduce, reduce_trees, vector

FLUSHED = 1 << 26  # float32 that are read between samples: 256 MB, twice the largest cache
FLUSHES = 4  # times: they keep the GPU busy while the host enqueues the measured work
WARM = 0.3  # seconds of work before the first sample: an idle GPU's clock is low
LEAST_SECONDS = 0.25  # of sampling
MOST_SAMPLES = 10_000
LEAST_SAMPLES = 7
SETTLED = 0.005  # of the median: the spread at which sampling ends


def device_name() -> str:
    """Return the name of the GPU in use."""
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


STATE = ("clocks.sm", "clocks.mem", "temperature.gpu", "power.draw")  # MHz, MHz, degrees, watts


def state() -> dict[str, str]:
    """Return the GPU's clocks, temperature and power from nvidia-smi; empty without it.

    >>> set(state()) <= set(STATE)
    True
    """
    query = ["nvidia-smi", f"--query-gpu={','.join(STATE)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    first, *_ = done.stdout.splitlines()
    return dict(zip(STATE, first.split(", "), strict=True))


def launch_seconds(launches: int = 1000) -> float:
    """Return the host's time per launch of a kernel with almost no work."""
    small = Launch(vector.fill_kernel, 1, 32, np.float32(1), cuda.device_array(32, np.float32))
    small()
    start = time.perf_counter()
    for _ in range(launches):
        small.start()
    cuda.synchronize()
    return (time.perf_counter() - start) / launches


class Events:
    """Measures the seconds of some work on the GPU, from a cold cache.

    Reads flush the cache. Written data would stay dirty in it, and the measured work would have to
    wait for its write-back. `flushed` is the number of float32 that are read, by default
    FLUSHED.
    """

    def __init__(self, flushed: int | None = None) -> None:
        self.begin, self.end = cuda.event(), cuda.event()
        rest = cuda.device_array(FLUSHED if flushed is None else flushed, np.float32)
        block = reduce_trees.BLOCK
        self.flush = Launch(
            reduce.sum_grid_stride_kernel,
            launch.resident_blocks(block),
            block,
            rest,
            cuda.device_array(1, np.float32),
        )
        self.flush()  # compiles

    def __call__(self, work: Work) -> float:
        for _ in range(FLUSHES):
            self.flush.start()
        self.begin.record()
        work()
        self.end.record()
        self.end.synchronize()
        return float(cuda.event_elapsed_time(self.begin, self.end)) / 1e3


def measure(
    comparison: Comparison, elapsed: Callable[[Work], float], seconds: float
) -> tuple[dict[str, Spread], dict[str, str]]:
    """Measure a kernel and its rivals; return the times, and the errors of libraries."""
    works, failed = sides(comparison)
    return in_turns(works, elapsed, seconds=seconds), failed


def sides(comparison: Comparison) -> tuple[dict[str, Work], dict[str, str]]:
    """Return the asynchronous work of gpukit and of the libraries that can do it, and errors.

    Each has run once: a library that cannot make its arrays or do the work is left out, and its
    error is returned, so that it does not prevent the measurement of others.
    """
    ours = comparison.ours.start if isinstance(comparison.ours, Launch) else comparison.ours
    works: dict[str, Work] = {OURS: ours}
    failed: dict[str, str] = {}
    for name, make in rivals.of(comparison).items():
        try:
            work = make()
            work()
        except Exception as failure:
            failed[name] = f"{type(failure).__name__}: {failure}"
        else:
            works[name] = work
    return works, failed


def in_turns(
    works: Mapping[str, Work],
    elapsed: Callable[[Work], float],
    *,
    seconds: float = 1.0,
    clock: Clock = time.perf_counter,
) -> dict[str, Spread]:
    """Measure all sides in turns, until their samples have settled or the time is up.

    All sides warm up for WARM seconds. The first call of each never counts: it compiles, and
    allocates what a library needs.
    """
    start = clock()
    while True:
        for work in works.values():
            elapsed(work)
        if clock() - start >= min(WARM, seconds):
            break
    samples: dict[str, list[float]] = {name: [] for name in works}
    start = clock()
    for number in range(MOST_SAMPLES):
        spent = clock() - start
        enough = number >= LEAST_SAMPLES and spent >= min(LEAST_SECONDS, seconds)
        if enough and (spent >= seconds or all(map(_settled, samples.values()))):
            break
        names = list(works)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            samples[name].append(elapsed(works[name]))
    return {name: Spread.of(found) for name, found in samples.items()}


def _settled(samples: list[float]) -> bool:
    """Tell whether the spread of the samples is a small fraction of their median."""
    return Spread.of(samples).varied < 2 * SETTLED
