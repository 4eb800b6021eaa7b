"""The ceilings of a machine: memory bandwidth and peak compute, the two lines of its roofline.

A kernel must move its least bytes and perform its operations; their time at the ceilings is the
kernel's floor. The ratio of its time to that floor is comparable between any two kernels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit import cuda, target
from gpukit.bench.gpu import WARM
from gpukit.checked.gpus import float32_lanes, tensor_flops
from gpukit.cpu.launch import pool

COPIED = 1 << 26  # float32 elements of a copy on a GPU; caches hold a fraction
_COPIED_ON_HOST = 1 << 24
_SIDE = 1024  # of the matrices whose product measures a host's peak compute
_TIMES = 7
_COPIES = 16  # between two events, so that the host's calls do not count


@dataclass(frozen=True)
class Ceilings:
    """Bytes per second of a long copy, read and written, and operations per second.

    `flops` are those of float32, `tensor` those of a GPU's tensor cores by operand type.
    """

    bytes: float
    flops: float
    how: str
    tensor: Mapping[str, float] = field(default_factory=dict)

    def floor(self, least: int, flops: int, units: str = "") -> float:
        """Return the least seconds of moving and computing, the longer of both.

        >>> Ceilings(100.0, 10.0, "").floor(50, 20)
        2.0
        >>> Ceilings(100.0, 10.0, "", {"bf16": 80.0}).floor(50, 80, "bf16")
        1.0
        """
        return max(least / self.bytes, flops / (self.tensor.get(units) or self.flops))


def measure(*, quick: bool = False) -> Ceilings:
    """Measure the machine that kernels run on: a GPU, or this processor.

    A `quick` measurement of a GPU is only a rehearsal: the copy fits into its caches.
    """
    if target.active().name != "cuda":
        return _of_host()
    return _of_gpu(COPIED // 64 if quick else COPIED)


def _of_host() -> Ceilings:
    threads = pool.workers()
    source, copy = np.ones(_COPIED_ON_HOST, np.float32), np.zeros(_COPIED_ON_HOST, np.float32)
    parts = [
        slice(k * len(source) // threads, (k + 1) * len(source) // threads) for k in range(threads)
    ]
    a, out = np.ones((_SIDE, _SIDE), np.float32), np.empty((_SIDE, _SIDE), np.float32)
    with ThreadPoolExecutor(threads) as workers:

        def copying() -> None:
            list(workers.map(lambda part: np.copyto(copy[part], source[part]), parts))

        moved = 2 * source.nbytes / _best(copying)
    computed = 2 * _SIDE**3 / _best(lambda: np.matmul(a, a, out=out))
    how = f"a copy by NumPy on {threads} thread{'s' if threads != 1 else ''}, its product of 1024"
    return Ceilings(moved, computed, how)


def _of_gpu(copied: int) -> Ceilings:
    source, copy = (cuda.device_array(copied, np.float32) for _ in range(2))
    device = cuda.get_current_device()
    start, stop = cuda.event(), cuda.event()

    def copying() -> float:
        start.record()
        for _ in range(_COPIES):
            copy.copy_to_device(source)
        stop.record()
        stop.synchronize()
        return float(cuda.event_elapsed_time(start, stop)) / 1e3

    warm = time.perf_counter() + WARM
    while time.perf_counter() < warm:
        copying()
    moved = 2 * source.nbytes * _COPIES / min(copying() for _ in range(_TIMES))
    lanes = float32_lanes(tuple(device.compute_capability))
    clock = device.CLOCK_RATE * 1e3  # kHz
    cycles = device.MULTIPROCESSOR_COUNT * clock  # of all SMs, per second
    tf32, bf16 = tensor_flops(tuple(device.compute_capability))
    tensor = {"tf32": tf32 * cycles, "bf16": bf16 * cycles}
    return Ceilings(moved, 2.0 * lanes * cycles, "a copy on the device, units times clock", tensor)


def _best(work: Callable[[], Any]) -> float:
    """Return the least of some times: a ceiling is the undisturbed run."""
    best = math.inf
    for _ in range(_TIMES):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best
