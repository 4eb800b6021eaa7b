"""Kernels whose threads meet, each with the loops that a person writes for the same blocks.

Between two barriers stand loops over the threads; shared memory is an array made once. Where a
guard only keeps the last block inside the array, the loops end there. What a block works on is a
slice: for an index that may be negative numba adds the length, and then LLVM vectorises nothing.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import math

import numba
import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan
from benchmarks.plain_loops.cases_simulation import pulls
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


def nbody_tiled_kernel(position, mass, soft, acceleration):
    near = cuda.shared.array((BLOCK, 4), np.float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    n = position.shape[0]
    px = py = pz = np.float32(0)
    if i < n:
        px = position[i, 0]
        py = position[i, 1]
        pz = position[i, 2]
    ax = np.float32(0)
    ay = np.float32(0)
    az = np.float32(0)
    for tile in range(cuda.gridDim.x):
        j = tile * BLOCK + tid
        if j < n:
            near[tid, 0] = position[j, 0]
            near[tid, 1] = position[j, 1]
            near[tid, 2] = position[j, 2]
            near[tid, 3] = mass[j]
        else:
            near[tid, 0] = near[tid, 1] = near[tid, 2] = near[tid, 3] = 0
        cuda.syncthreads()
        for k in range(BLOCK):
            dx = near[k, 0] - px
            dy = near[k, 1] - py
            dz = near[k, 2] - pz
            inverse = np.float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + soft)
            pull = near[k, 3] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        acceleration[i, 0] = ax
        acceleration[i, 1] = ay
        acceleration[i, 2] = az


@njit
def nbody_tiled_loops(grid, block, position, mass, soft, acceleration):
    n = position.shape[0]
    near = np.empty((4, BLOCK), np.float32)
    own = np.empty((3, BLOCK), np.float32)
    a = np.empty((3, BLOCK), np.float32)
    for begin in range(0, n, BLOCK):
        many = min(BLOCK, n - begin)
        a[:] = 0
        for t in range(many):
            for axis in range(3):
                own[axis, t] = position[begin + t, axis]
        for first in range(0, n, BLOCK):
            size = min(BLOCK, n - first)
            for k in range(size):
                for axis in range(3):
                    near[axis, k] = position[first + k, axis]
                near[3, k] = mass[first + k]
            for k in range(size):
                x, y, z, m = near[0, k], near[1, k], near[2, k], near[3, k]
                for t in range(BLOCK):
                    dx = x - own[0, t]
                    dy = y - own[1, t]
                    dz = z - own[2, t]
                    inverse = np.float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + soft)
                    pull = m * inverse * inverse * inverse
                    a[0, t] += pull * dx
                    a[1, t] += pull * dy
                    a[2, t] += pull * dz
        for t in range(many):
            for axis in range(3):
                acceleration[begin + t, axis] = a[axis, t]


def nbody_tiled() -> Case:
    n, soft = 1301, np.float32(0.01)
    position, mass = floats(n, 3), np.abs(floats(n, seed=8))
    expected = pulls(position, mass, soft)
    arguments, loops = (position, mass, soft, nan(n, 3)), nbody_tiled_loops
    grid = covering(BLOCK, n)
    return case(nbody_tiled_kernel, grid, BLOCK, arguments, expected, terms=n, by_hand=loops)


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


def matmul_docs_kernel(a, b, c):
    """Multiply square matrices of float64, as the manual of Numba does."""
    a_tile = cuda.shared.array((SIDE, SIDE), np.float64)
    b_tile = cuda.shared.array((SIDE, SIDE), np.float64)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = 0.0
    for i in range(cuda.gridDim.x):
        a_tile[ty, tx] = 0
        b_tile[ty, tx] = 0
        if y < a.shape[0] and (tx + i * SIDE) < a.shape[1]:
            a_tile[ty, tx] = a[y, tx + i * SIDE]
        if x < b.shape[1] and (ty + i * SIDE) < b.shape[0]:
            b_tile[ty, tx] = b[ty + i * SIDE, x]
        cuda.syncthreads()
        for j in range(SIDE):
            total += a_tile[ty, j] * b_tile[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@njit
def _tile(source, tile):
    """Copy what there is of a tile; the rest is zero."""
    if source.shape[0] < SIDE or source.shape[1] < SIDE:
        tile[:] = 0
    for r in range(source.shape[0]):
        for c in range(source.shape[1]):
            tile[r, c] = source[r, c]


@njit
def _multiply(a_tile, b_tile, total):
    for ty in range(total.shape[0]):
        for j in range(a_tile.shape[1]):
            for tx in range(total.shape[1]):
                total[ty, tx] += a_tile[ty, j] * b_tile[j, tx]


@njit
def matmul_docs_loops(grid, block, a, b, c):
    a_tile = np.empty((SIDE, SIDE))
    b_tile = np.empty((SIDE, SIDE))
    total = np.empty((SIDE, SIDE))
    for top in range(0, c.shape[0], SIDE):
        for left in range(0, c.shape[1], SIDE):
            total[:] = 0
            for k in range(0, a.shape[1], SIDE):
                _tile(a[top : top + SIDE, k : k + SIDE], a_tile)
                _tile(b[k : k + SIDE, left : left + SIDE], b_tile)
                _multiply(a_tile, b_tile, total)
            part = c[top : top + SIDE, left : left + SIDE]
            for ty in range(part.shape[0]):
                for tx in range(part.shape[1]):
                    part[ty, tx] = total[ty, tx]


def matmul_docs() -> Case:
    n = 301
    a, b = floats(n, n, dtype=float), floats(n, n, dtype=float, seed=8)
    arguments, loops = (a, b, nan(n, n, dtype=float)), matmul_docs_loops
    grid = covering((SIDE, SIDE), n, n)
    return case(matmul_docs_kernel, grid, (SIDE, SIDE), arguments, a @ b, terms=n, by_hand=loops)


CASES = (
    transpose_again, stencil_shared, histogram_shared, nbody_tiled, bitonic_shared, laplace_shared,
    matmul_docs,
)  # fmt: skip
