"""`dependent_trips` through shared memory, barriers and warp operations, against hand counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit import cuda

ALL = 0xFFFFFFFF
TILE = 8


def trips(kernel: Any, launch: Any, *arguments: Any) -> int:
    return gpukit.profile(kernel)[launch](*arguments).total["dependent_trips"]


def floats(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


@cuda.jit
def tiled_kernel(a, b, c):
    ta = cuda.shared.array((TILE, TILE), np.float32)
    tb = cuda.shared.array((TILE, TILE), np.float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = np.float32(0)
    for t in range(a.shape[1] // TILE):
        ta[y, x] = a[row, t * TILE + x]
        tb[y, x] = b[t * TILE + y, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += ta[y, k] * tb[k, x]
        cuda.syncthreads()
    c[row, col] = acc


@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_tiled_product_is_a_trip_per_tile(tiles: int) -> None:
    depth = tiles * TILE
    launch = (2, 1), (TILE, TILE)
    a, b, c = floats(TILE, depth), floats(depth, 2 * TILE), floats(TILE, 2 * TILE)
    assert trips(tiled_kernel, launch, a, b, c) == 2 * 2 * tiles


@cuda.jit
def fetched_ahead_kernel(x, out):
    tile = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    one = x[t]
    two = x[t + 32]
    acc = 0.0
    for k in range(2, 8):
        tile[t] = one
        cuda.syncthreads()
        one = two
        two = x[t + 32 * k]
        acc += tile[31 - t]
        cuda.syncthreads()
    out[t] = acc + one + two


def test_values_fetched_two_iterations_ahead_halve_the_trips() -> None:
    # The loads of two iterations are in flight together: depths 1, 1, 2, 2, 3, 3, 4, 4.
    assert trips(fetched_ahead_kernel, (1, 32), floats(256), floats(32)) == 4


@cuda.jit
def barrier_alone_kernel(x, out):
    tile = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    v = x[t]
    tile[t] = t
    cuda.syncthreads()
    out[t] = v + x[31 - t] + tile[31 - t]


def test_barrier_that_waits_for_no_load_ends_no_trip() -> None:
    assert trips(barrier_alone_kernel, (1, 32), floats(32), floats(32)) == 1


@cuda.jit
def index_in_shared_kernel(index, x, out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    if t < 32:
        tile[t] = index[t]
    cuda.syncthreads()
    out[t] = x[tile[t % 32]]


def test_barrier_passes_the_depth_to_all_warps_of_the_block() -> None:
    index = np.zeros(32, np.int32)
    assert trips(index_in_shared_kernel, (2, 64), index, floats(64), floats(64)) == 2 * (2 + 2)


@cuda.jit
def broadcast_kernel(counter, x, out):
    t = cuda.threadIdx.x
    first = 0
    if t % 32 == 0:
        first = cuda.atomic.add(counter, 0, 32)
    first = cuda.shfl_sync(ALL, first, 0)
    out[first + t % 32] = x[first + t % 32]


def test_shuffle_passes_the_depth_to_the_other_lanes() -> None:
    counter = np.zeros(1, np.int32)
    assert trips(broadcast_kernel, (1, 64), counter, floats(64), floats(64)) == 2 * 2


@cuda.jit
def voting_kernel(x, y, out):
    t = cuda.threadIdx.x
    if cuda.syncthreads_count(x[t] > 0) > 3:
        out[t] = y[t]


def test_count_over_loaded_values_waits_for_the_loads() -> None:
    assert trips(voting_kernel, (1, 64), floats(64), floats(64), floats(64)) == 2 * 2


@cuda.jit
def two_phases_kernel(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = x[i]
    grid.sync()
    out[i] += out[(i + 1) % out.shape[0]]


def test_barrier_of_the_grid_ends_a_trip_of_all_blocks() -> None:
    assert trips(two_phases_kernel, (3, 32), floats(96), floats(96)) == 3 * 2


@cuda.jit
def in_warp_kernel(index, x, out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    tile[t] = index[t]
    cuda.syncwarp()
    out[t] = x[tile[t ^ 1]]


def test_syncwarp_passes_the_depth_on_like_a_barrier() -> None:
    index = np.zeros(64, np.int32)
    assert trips(in_warp_kernel, (1, 64), index, floats(64), floats(64)) == 2 * 2


@cuda.jit
def typed_like_an_argument_kernel(x, out):
    tile = cuda.shared.array(32, x.dtype)
    own = cuda.local.array(2, x.dtype)
    t = cuda.threadIdx.x
    tile[t] = t
    cuda.syncthreads()
    own[0] = tile[31 - t]
    row = tile[:16]
    out[t] = x[int(own[0])] + x[int(row[t % 16])]


def test_memory_of_the_dtype_of_an_argument_is_not_taken_for_the_argument() -> None:
    assert trips(typed_like_an_argument_kernel, (1, 32), floats(32), floats(32)) == 1


@cuda.jit
def row_sum_kernel(x, n, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(int(x[i].sum())):
        total += n[k]
    out[i] = total


def test_a_reduction_of_a_row_is_a_load_that_others_may_depend_on():
    x, n, out = np.ones((32, 4)), np.ones(8), np.zeros(32)
    assert gpukit.profile(row_sum_kernel)[1, 32](x, n, out).total["dependent_trips"] == 2
