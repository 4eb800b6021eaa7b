"""Timing on a GPU: events around one launch, the cache flushed before it, all sides in turns.

A GPU's clock and its cache remember what ran before. So every sample begins with a cold second
level cache, sides are measured in turns, whose order changes, and medians are compared with medians
of the same run only.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

from gpukit import cuda
from gpukit.bench import rivals
from gpukit.bench.register import Launch
from gpukit.bench.timing import OURS, Clock, Contest, Spread, Work
from gpukit.kernels import vector
from gpukit.launch import ceil_div

FLUSHED = 1 << 26  # float32 that are written between samples: 256 MB, twice the largest cache
MOST_SAMPLES = 200
LEAST_SAMPLES = 7
SETTLED = 0.005  # of the median: the spread at which more samples say nothing new


def device_name() -> str:
    """Return the name of the GPU in use."""
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


class Events:
    """Measures the seconds that the GPU takes for some work, from a cold cache."""

    def __init__(self) -> None:
        self.begin, self.end = cuda.event(), cuda.event()
        self.written = cuda.device_array(FLUSHED, np.float32)
        self.grid = ceil_div(FLUSHED, vector.BLOCK)

    def __call__(self, work: Work) -> float:
        vector.fill_kernel[self.grid, vector.BLOCK](np.float32(1), self.written)
        self.begin.record()
        work()
        self.end.record()
        self.end.synchronize()
        return float(cuda.event_elapsed_time(self.begin, self.end)) / 1e3


def sides(contest: Contest) -> dict[str, Work]:
    """Return our work, which need not wait for the GPU, and that of the libraries installed."""
    ours = contest.ours.start if isinstance(contest.ours, Launch) else contest.ours
    return {OURS: ours, **rivals.of(contest)}


def in_turns(
    works: Mapping[str, Work],
    elapsed: Callable[[Work], float],
    *,
    seconds: float = 1.0,
    clock: Clock = time.perf_counter,
) -> dict[str, Spread]:
    """Measure all sides in turns, until their medians are settled or the time is over."""
    for work in works.values():  # the first call compiles, and allocates what a library needs
        work()
    samples: dict[str, list[float]] = {name: [] for name in works}
    start = clock()
    for number in range(MOST_SAMPLES):
        enough = number >= LEAST_SAMPLES
        if enough and (clock() - start >= seconds or all(map(_settled, samples.values()))):
            break
        names = list(works)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            samples[name].append(elapsed(works[name]))
    return {name: _spread(found) for name, found in samples.items()}


def _settled(samples: list[float]) -> bool:
    """Tell whether most samples lie within a small part of their median."""
    found = _spread(samples)
    return found.high - found.low < 2 * SETTLED * found.median


def _spread(samples: list[float]) -> Spread:
    ordered = sorted(samples)
    last = len(ordered) - 1
    return Spread(
        statistics.median(ordered), ordered[round(0.2 * last)], ordered[round(0.8 * last)],
        len(ordered),
    )  # fmt: skip
