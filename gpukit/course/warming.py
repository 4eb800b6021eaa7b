"""Warm a process up for answers: import all that they need, compile what kernels have in common.

Together the kernels below use most of what answers call, so that Numba compiles those functions
once, before any answer is there.
"""

from __future__ import annotations

import gc
import math
import os
from typing import Any

import numpy as np

from gpukit import cuda, profile
from gpukit.checked import not_finite, recording
from gpukit.course import child
from gpukit.cpu.launch import configure

_WARP, _LANES = 32, 0xFFFFFFFF


@cuda.jit
def rows_kernel(x, out):  # type: ignore[no-untyped-def]
    """Reduce rows: loops, shuffles, functions of float32, an array of two axes."""
    row = cuda.grid(1) // _WARP
    if row < x.shape[0]:
        high = np.float32(-math.inf)
        for k in range(cuda.laneid, x.shape[1], _WARP):
            high = max(high, x[row, k])
        for offset in (16, 8, 4, 2, 1):
            high = max(high, cuda.shfl_xor_sync(_LANES, high, offset))
        total = np.float32(0)
        for k in range(cuda.laneid, x.shape[1], _WARP):
            total += math.exp(x[row, k] - high)
        for offset in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(_LANES, total, offset)
        for k in range(cuda.laneid, x.shape[1], _WARP):
            mean = math.tanh(x[row, k]) + math.log(total) ** np.float32(2)
            out[row, k] = math.exp(x[row, k] - high) / math.sqrt(mean * mean + total)


@cuda.jit
def tile_kernel(values, counts, out):  # type: ignore[no-untyped-def]
    """Count in shared memory: barriers, atomic operations, integers, an array of one axis."""
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(64, np.float32)
    bins = cuda.shared.array(64, np.int32)
    bins[tid] = 0
    tile[tid] = 0.0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, values[i] & 63, 1)
        cuda.atomic.max(tile, tid, np.float32(values[i]))
    cuda.syncthreads()
    step = 32
    while step > 0:
        if tid < step:
            tile[tid] += tile[tid + step]
        cuda.syncthreads()
        step //= 2
    cuda.atomic.add(counts, tid, bins[tid])
    if tid == 0:
        out[cuda.blockIdx.x] = tile[0]


def warm_up() -> None:
    """Compile the kernels, and launch one in every mode."""
    shape, x = (2, 64), np.ones((4, 40), np.float32)
    arguments = x, np.empty_like(x)
    rows: Any = rows_kernel
    child.CHECK(rows)[shape](*arguments).to_json(None)  # loads the checker from the disk
    rows[shape](*arguments)
    profile(rows)[shape](*arguments)
    not_finite.first(recording.record(rows, configure.parse(shape), arguments))
    before = os.environ.get("GPUKIT_CACHE")
    os.environ["GPUKIT_CACHE"] = "0"  # force compilation
    try:
        for kernel, given in ((rows_kernel, arguments), (tile_kernel, _counted())):
            child.CHECK(kernel)[shape](*given).to_json(None)
    finally:
        os.environ.pop("GPUKIT_CACHE")
        if before is not None:
            os.environ["GPUKIT_CACHE"] = before
    gc.collect()
    gc.freeze()  # so that garbage collection in a fork does not copy shared pages


def _counted() -> tuple[Any, ...]:
    return np.arange(99, dtype=np.int32), np.zeros(64, np.int32), np.empty(2, np.float32)
