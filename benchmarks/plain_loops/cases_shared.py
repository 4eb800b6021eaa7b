"""Kernels whose threads meet, each with the loops that a person writes for the same blocks.

Between two barriers stand loops over the threads; shared memory is an array made once. Where a
guard only keeps the last block inside the array, the loops end there. What a block works on is a
slice: for an index that may be negative numba adds the length, and then LLVM vectorises nothing.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import numba
import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan
from benchmarks.plain_loops.plain import OPTIONS
from gpukit import cuda

njit = numba.njit(**OPTIONS)
BLOCK = 256
TILE = 32
PADDED = TILE + 1
ROWS = 8
SIDE = 16
HALO = SIDE + 2
RADIUS = 3
STRETCH = BLOCK + 2 * RADIUS
SORTED = 512


def transpose_again_kernel(a, out):
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for j in range(0, TILE, ROWS):
        if y + j < a.shape[0] and x < a.shape[1]:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = a[y + j, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    for j in range(0, TILE, ROWS):
        if y + j < out.shape[0] and x < out.shape[1]:
            out[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]


@njit
def transpose_again_loops(grid, block, a, out):
    tile = np.empty((TILE, PADDED), np.float32)
    for top in range(0, a.shape[0], TILE):
        for left in range(0, a.shape[1], TILE):
            source = a[top : top + TILE, left : left + TILE]
            target = out[left : left + TILE, top : top + TILE]
            for y in range(source.shape[0]):
                for x in range(source.shape[1]):
                    tile[y, x] = source[y, x]
            for y in range(target.shape[0]):
                for x in range(target.shape[1]):
                    target[y, x] = tile[x, y]


def transpose_again() -> Case:
    rows, cols, block = 2003, 1501, (TILE, ROWS)
    a, out = floats(rows, cols), nan(cols, rows)
    grid = covering((TILE, TILE), cols, rows)
    loops = transpose_again_loops
    return case(transpose_again_kernel, grid, block, (a, out), a.T, by_hand=loops)


def stencil_shared_kernel(x, out):
    """Add up 7 neighbours, which the threads of a block load once."""
    tile = cuda.shared.array(STRETCH, np.float32)
    i = cuda.grid(1)
    n = x.shape[0]
    place = cuda.threadIdx.x + RADIUS
    tile[place] = x[i] if i < n else np.float32(0)
    if cuda.threadIdx.x < RADIUS:
        tile[place - RADIUS] = x[i - RADIUS] if i >= RADIUS else np.float32(0)
        tile[place + BLOCK] = x[i + BLOCK] if i + BLOCK < n else np.float32(0)
    cuda.syncthreads()
    if i < n:
        total = np.float32(0)
        for k in range(-RADIUS, RADIUS + 1):
            total += tile[place + k]
        out[i] = total


@njit
def stencil_shared_loops(grid, block, x, out):
    n = x.shape[0]
    tile = np.empty(STRETCH, np.float32)
    for first in range(0, n, BLOCK):
        begin = first - RADIUS
        if begin >= 0 and begin + STRETCH <= n:
            tile[:] = x[begin : begin + STRETCH]
        else:
            for k in range(STRETCH):
                tile[k] = x[begin + k] if 0 <= begin + k < n else np.float32(0)
        part = out[first : first + BLOCK]
        for t in range(part.size):
            total = np.float32(0)
            for k in range(2 * RADIUS + 1):
                total += tile[t + k]
            part[t] = total


def stencil_shared() -> Case:
    n = 4_000_037
    x, out = floats(n), nan(n)
    v = np.pad(x.astype(float), RADIUS)
    expected = sum(v[k : k + n] for k in range(2 * RADIUS + 1))
    grid, loops = covering(BLOCK, n), stencil_shared_loops
    return case(stencil_shared_kernel, grid, BLOCK, (x, out), expected, terms=7, by_hand=loops)


def histogram_shared_kernel(values, counts):
    bins = cuda.shared.array(BLOCK, np.int32)
    tid = cuda.threadIdx.x
    bins[tid] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < values.size:
        cuda.atomic.add(bins, values[i], 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    cuda.atomic.add(counts, tid, bins[tid])


@njit
def histogram_shared_loops(grid, block, values, counts):
    bins = np.empty(BLOCK, np.int32)
    step = grid[0] * BLOCK
    for b in range(grid[0]):
        bins[:] = 0
        for first in range(b * BLOCK, values.size, step):
            for value in values[first : first + BLOCK]:
                bins[value] += 1
        for t in range(BLOCK):
            counts[t] += bins[t]


def histogram_shared() -> Case:
    values, counts = integers(0, 256, 4_000_037, dtype=np.uint8), np.zeros(BLOCK, np.int32)
    expected = np.bincount(values, minlength=BLOCK)
    arguments, loops = (values, counts), histogram_shared_loops
    return case(histogram_shared_kernel, 64, BLOCK, arguments, expected, by_hand=loops)


def bitonic_shared_kernel(x):
    """Sort each SORTED elements, one thread for one."""
    tile = cuda.shared.array(SORTED, np.int32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[tid] = x[i]
    cuda.syncthreads()
    k = 2
    while k <= SORTED:
        j = k // 2
        while j > 0:
            partner = tid ^ j
            if partner > tid:
                rising = (tid & k) == 0
                if (tile[tid] > tile[partner]) == rising:
                    kept = tile[tid]
                    tile[tid] = tile[partner]
                    tile[partner] = kept
            cuda.syncthreads()
            j //= 2
        k *= 2
    x[i] = tile[tid]


@njit
def bitonic_shared_loops(grid, block, x):
    tile = np.empty(SORTED, np.int32)
    for first in range(0, x.size, SORTED):
        for t in range(SORTED):
            tile[t] = x[first + t]
        k = 2
        while k <= SORTED:
            j = k // 2
            while j > 0:
                for start in range(0, SORTED, 2 * j):
                    rising = (start & k) == 0
                    for t in range(start, start + j):
                        low, high = min(tile[t], tile[t + j]), max(tile[t], tile[t + j])
                        tile[t] = low if rising else high
                        tile[t + j] = high if rising else low
                j //= 2
            k *= 2
        for t in range(SORTED):
            x[first + t] = tile[t]


def bitonic_shared() -> Case:
    x = integers(0, 1 << 30, 200 * SORTED)
    expected = np.sort(x.reshape(-1, SORTED), axis=1).ravel()
    loops = bitonic_shared_loops
    return case(bitonic_shared_kernel, 200, SORTED, (x,), expected, by_hand=loops)


def laplace_shared_kernel(u, out):
    """Take a step of Jacobi's method on a tile with its rim."""
    tile = cuda.shared.array((HALO, HALO), np.float32)
    col, row = cuda.grid(2)
    rows, cols = u.shape
    tx = cuda.threadIdx.x + 1
    ty = cuda.threadIdx.y + 1
    if row < rows and col < cols:
        tile[ty, tx] = u[row, col]
        if tx == 1 and col > 0:
            tile[ty, 0] = u[row, col - 1]
        if tx == SIDE and col + 1 < cols:
            tile[ty, HALO - 1] = u[row, col + 1]
        if ty == 1 and row > 0:
            tile[0, tx] = u[row - 1, col]
        if ty == SIDE and row + 1 < rows:
            tile[HALO - 1, tx] = u[row + 1, col]
    cuda.syncthreads()
    if 0 < row < rows - 1 and 0 < col < cols - 1:
        around = tile[ty - 1, tx] + tile[ty + 1, tx] + tile[ty, tx - 1] + tile[ty, tx + 1]
        out[row, col] = np.float32(0.25) * around


@njit
def laplace_shared_loops(grid, block, u, out):
    rows, cols = u.shape
    tile = np.empty((HALO, HALO), np.float32)
    for top in range(1, rows - 1, SIDE):
        for left in range(1, cols - 1, SIDE):
            source = u[top - 1 : top + SIDE + 1, left - 1 : left + SIDE + 1]
            target = out[top : min(top + SIDE, rows - 1), left : min(left + SIDE, cols - 1)]
            for r in range(source.shape[0]):
                for c in range(source.shape[1]):
                    tile[r, c] = source[r, c]
            for r in range(target.shape[0]):
                for c in range(target.shape[1]):
                    across = tile[r + 1, c] + tile[r + 1, c + 2]
                    down = tile[r, c + 1] + tile[r + 2, c + 1]
                    target[r, c] = np.float32(0.25) * (across + down)


def laplace_shared() -> Case:
    rows, cols = 1001, 1503
    u, out = floats(rows, cols), nan(rows, cols)
    v, expected = u.astype(float), out.copy()
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    expected[1:-1, 1:-1] = around / 4
    grid, loops = covering((SIDE, SIDE), cols, rows), laplace_shared_loops
    return case(
        laplace_shared_kernel, grid, (SIDE, SIDE), (u, out), expected, terms=4, by_hand=loops
    )


CASES = (transpose_again, stencil_shared, histogram_shared, bitonic_shared, laplace_shared)
