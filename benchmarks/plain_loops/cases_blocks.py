"""Kernels whose blocks add up, scan or search together, each with loops by hand.

As in `cases_shared.py`: between two barriers stand loops over the threads, and a tree of additions
stays a tree.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import math

import numba
import numpy as np

from benchmarks.plain_loops.by_hand_sums import tree
from benchmarks.plain_loops.case import Case, case, covering, floats, nan
from benchmarks.plain_loops.plain import OPTIONS
from gpukit import cuda

njit = numba.njit(**OPTIONS)
BLOCK = 256
WARP = 32
WARPS = 8
ALL_LANES = 0xFFFFFFFF


def sum_blocks_kernel(x, partials):
    """Add up two elements a thread, then in a tree that asks how many threads there are."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x * 2 + tid
    total = np.float32(0)
    if i < x.size:
        total = x[i]
    if i + cuda.blockDim.x < x.size:
        total += x[i + cuda.blockDim.x]
    tile[tid] = total
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if tid < s:
            tile[tid] += tile[tid + s]
        cuda.syncthreads()
        s >>= 1
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]


@njit
def sum_blocks_loops(grid, block, x, partials):
    size = block[0]
    tile = np.empty(BLOCK, np.float32)
    for b in range(grid[0]):
        first = b * size * 2
        if first + 2 * size <= x.size:
            for t in range(size):
                tile[t] = x[first + t] + x[first + t + size]
        else:
            for t in range(size):
                tile[t] = x[first + t] if first + t < x.size else np.float32(0)
                if first + t + size < x.size:
                    tile[t] += x[first + t + size]
        tree(tile, size)
        partials[b] = tile[0]


def sum_blocks() -> Case:
    n = 4_000_037
    x, blocks = floats(n), covering(2 * BLOCK, n)
    expected = np.add.reduceat(x.astype(float), np.arange(0, n, 2 * BLOCK))
    arguments, loops = (x, nan(blocks)), sum_blocks_loops
    return case(
        sum_blocks_kernel, blocks, BLOCK, arguments, expected, terms=2 * BLOCK, by_hand=loops
    )


def dot_example_kernel(a, b, partials):
    """Multiply and add up, as CUDA by Example does."""
    cache = cuda.shared.array(BLOCK, np.float32)
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    place = cuda.threadIdx.x
    temp = np.float32(0)
    while i < a.size:
        temp += a[i] * b[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[place] = temp
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k != 0:
        if place < k:
            cache[place] += cache[place + k]
        cuda.syncthreads()
        k //= 2
    if place == 0:
        partials[cuda.blockIdx.x] = cache[0]


@njit
def dot_example_loops(grid, block, a, b, partials):
    cache = np.empty(BLOCK, np.float32)
    step = grid[0] * BLOCK
    for k in range(grid[0]):
        cache[:] = 0
        for first in range(k * BLOCK, a.size, step):
            a_part, b_part = a[first : first + BLOCK], b[first : first + BLOCK]
            for t in range(a_part.size):
                cache[t] += a_part[t] * b_part[t]
        tree(cache, BLOCK)
        partials[k] = cache[0]


def dot_example() -> Case:
    n, blocks = 4_000_037, 32
    a, b = floats(n), floats(n, seed=8)
    place = np.arange(n) // BLOCK % blocks
    expected = np.bincount(place, a.astype(float) * b, blocks)
    arguments, loops = (a, b, nan(blocks)), dot_example_loops
    return case(dot_example_kernel, blocks, BLOCK, arguments, expected, terms=n, by_hand=loops)


def scan_hillis_kernel(x, out):
    """Scan each block in one buffer, with two barriers a step."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[tid] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        before = np.float32(0)
        if tid >= step:
            before = tile[tid - step]
        cuda.syncthreads()
        tile[tid] += before
        cuda.syncthreads()
        step *= 2
    if i < x.size:
        out[i] = tile[tid]


@njit
def scan_hillis_loops(grid, block, x, out):
    tile = np.empty(BLOCK, np.float32)
    before = np.empty(BLOCK, np.float32)
    for first in range(0, x.size, BLOCK):
        size = min(BLOCK, x.size - first)
        for t in range(BLOCK):
            tile[t] = x[first + t] if t < size else np.float32(0)
        step = 1
        while step < BLOCK:
            for t in range(step, BLOCK):
                before[t] = tile[t - step]
            for t in range(step, BLOCK):
                tile[t] += before[t]
            step *= 2
        for t in range(size):
            out[first + t] = tile[t]


def scan_hillis() -> Case:
    n = 1_024_000
    x, out = floats(n), nan(n)
    expected = x.reshape(-1, BLOCK).cumsum(axis=1, dtype=float).ravel()
    grid, loops = covering(BLOCK, n), scan_hillis_loops
    return case(scan_hillis_kernel, grid, BLOCK, (x, out), expected, terms=BLOCK, by_hand=loops)


def softmax_tree_kernel(x, out):
    """One block for one row: its largest, its sum, its quotients."""
    tile = cuda.shared.array(BLOCK, np.float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    cols = x.shape[1]
    best = np.float32(-1e30)
    for k in range(tid, cols, BLOCK):
        best = max(best, x[row, k])
    tile[tid] = best
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] = max(tile[tid], tile[tid + half])
        cuda.syncthreads()
        half //= 2
    best = tile[0]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tid, cols, BLOCK):
        power = math.exp(x[row, k] - best)
        out[row, k] = power
        total += power
    tile[tid] = total
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()
        half //= 2
    for k in range(tid, cols, BLOCK):
        out[row, k] /= tile[0]


@njit
def softmax_tree_loops(grid, block, x, out):
    rows, cols = x.shape
    tile = np.empty(BLOCK, np.float32)
    for row in range(rows):
        tile[:] = -1e30
        for first in range(0, cols, BLOCK):
            part = x[row, first : first + BLOCK]
            for t in range(part.size):
                tile[t] = max(tile[t], part[t])
        best = tile[0]
        for t in range(1, BLOCK):
            best = max(best, tile[t])
        tile[:] = 0
        for first in range(0, cols, BLOCK):
            part, powers = x[row, first : first + BLOCK], out[row, first : first + BLOCK]
            for t in range(part.size):
                powers[t] = math.exp(part[t] - best)
                tile[t] += powers[t]
        tree(tile, BLOCK)
        total = tile[0]
        for k in range(cols):
            out[row, k] /= total


def softmax_tree() -> Case:
    rows, cols = 701, 1003
    x, out = floats(rows, cols), nan(rows, cols)
    powers = np.exp(x.astype(float))
    expected = powers / powers.sum(axis=1, keepdims=True)
    loops = softmax_tree_loops
    return case(softmax_tree_kernel, rows, BLOCK, (x, out), expected, terms=cols, by_hand=loops)


def reverse_shared_kernel(x, out):
    """Turn the elements of each block round, as NVIDIA's introduction to shared memory does."""
    tile = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * BLOCK
    tile[t] = x[first + t]
    cuda.syncthreads()
    out[first + t] = tile[BLOCK - 1 - t]


@njit
def reverse_shared_loops(grid, block, x, out):
    tile = np.empty(BLOCK, np.float32)
    for first in range(0, x.size, BLOCK):
        tile[:] = x[first : first + BLOCK]
        out[first : first + BLOCK] = tile[::-1]


def reverse_shared() -> Case:
    blocks = 15_001
    x, out = floats(blocks * BLOCK), nan(blocks * BLOCK)
    expected = x.reshape(-1, BLOCK)[:, ::-1].ravel()
    loops = reverse_shared_loops
    return case(reverse_shared_kernel, blocks, BLOCK, (x, out), expected, by_hand=loops)


def row_sums_warp_kernel(x, sums):
    """One warp for one row; its lanes meet in shuffles."""
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    total = np.float32(0)
    if row < x.shape[0]:
        for k in range(lane, x.shape[1], WARP):
            total += x[row, k]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, step)
        step //= 2
    if lane == 0 and row < x.shape[0]:
        sums[row] = total


@njit
def row_sums_warp_loops(grid, block, x, sums):
    cols = x.shape[1]
    lanes = np.empty(WARP, np.float32)
    for row in range(x.shape[0]):
        lanes[:] = 0
        for first in range(0, cols, WARP):
            part = x[row, first : first + WARP]
            for lane in range(part.size):
                lanes[lane] += part[lane]
        tree(lanes, WARP)
        sums[row] = lanes[0]


def row_sums_warp() -> Case:
    rows, cols = 9001, 1003
    x, sums = floats(rows, cols), nan(rows)
    expected = x.sum(axis=1, dtype=float)
    grid, loops = covering(WARPS, rows), row_sums_warp_loops
    return case(
        row_sums_warp_kernel, grid, (WARP, WARPS), (x, sums), expected, terms=cols, by_hand=loops
    )


CASES = (sum_blocks, dot_example, scan_hillis, softmax_tree, reverse_shared, row_sums_warp)
