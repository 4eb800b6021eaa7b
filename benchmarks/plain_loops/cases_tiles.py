"""Kernels that go through all of a problem tile by tile, each with loops by hand.

As in `cases_shared.py`: between two barriers stand loops over the threads.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import math

import numba
import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, nan
from benchmarks.plain_loops.cases_simulation import pulls
from benchmarks.plain_loops.plain import OPTIONS
from gpukit import cuda

njit = numba.njit(**OPTIONS)
BLOCK = 256
SIDE = 16


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
    n, soft = 2301, np.float32(0.01)
    position, mass = floats(n, 3), np.abs(floats(n, seed=8))
    expected = pulls(position, mass, soft)
    arguments, loops = (position, mass, soft, nan(n, 3)), nbody_tiled_loops
    grid = covering(BLOCK, n)
    return case(nbody_tiled_kernel, grid, BLOCK, arguments, expected, terms=n, by_hand=loops)


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


CASES = (nbody_tiled, matmul_docs)
