"""Accesses past the end of a shared or a local array."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

TILE = 8
HALF_TILE = TILE // 2
WITH_HALO = BLOCK + 2
WINDOW = 4


@cuda.jit
def stage_by_global_index_kernel(x, out):
    """Indexes the block's tile with the index in the grid: right in block 0 only."""
    tile = cuda.shared.array(32, np.float32)
    i = cuda.grid(1)
    tile[i] = x[i]  # BUG
    cuda.syncthreads()
    out[i] = tile[31 - cuda.threadIdx.x]


@cuda.jit
def stage_kernel(x, out):
    """Indexes the tile with the index in the block."""
    tile = cuda.shared.array(32, np.float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    out[i] = tile[31 - cuda.threadIdx.x]


case(
    stage_by_global_index_kernel, stage_kernel, "out-of-bounds", Launch(2, 32),
    arguments=lambda: (reals(64), blank(64)),
    expected=lambda x, out: x.reshape(2, 32)[:, ::-1].ravel(),
)  # fmt: skip


@cuda.jit
def smooth_short_tile_kernel(x, out):
    """Makes room in the tile for the block, and none for the two halo cells."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid + 1] = x[tid + 1]  # BUG
    if tid < 2:
        tile[tid * (BLOCK + 1)] = x[tid * (BLOCK + 1)]
    cuda.syncthreads()
    out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)


@cuda.jit
def smooth_kernel(x, out):
    """Makes room for the halo."""
    tile = cuda.shared.array(WITH_HALO, np.float32)
    tid = cuda.threadIdx.x
    tile[tid + 1] = x[tid + 1]
    if tid < 2:
        tile[tid * (BLOCK + 1)] = x[tid * (BLOCK + 1)]
    cuda.syncthreads()
    out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)


case(
    smooth_short_tile_kernel, smooth_kernel, "out-of-bounds",
    arguments=lambda: (reals(BLOCK + 2), blank(BLOCK)),
    expected=lambda x, out: np.convolve(x, np.ones(3) / 3, "valid"),
)  # fmt: skip


@cuda.jit
def tree_unguarded_kernel(x, out):
    """Lets all threads add at every level, so the upper ones read past the tile."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        other = tile[tid + half]  # BUG
        cuda.syncthreads()
        tile[tid] += other
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[0] = tile[0]


@cuda.jit
def tree_kernel(x, out):
    """Lets only the lower half add."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[0] = tile[0]


case(
    tree_unguarded_kernel, tree_kernel, "out-of-bounds",
    arguments=lambda: (reals(BLOCK), blank(1)),
    expected=lambda x, out: [x.sum(dtype=np.float64)],
)  # fmt: skip


@cuda.jit
def polynomial_long_loop_kernel(x, weight, out):
    """Copies one coefficient more than the local array holds."""
    local = cuda.local.array(WINDOW, np.float32)
    i = cuda.grid(1)
    for k in range(WINDOW + 1):
        local[k] = weight[k]  # BUG
    out[i] = local[0] + x[i] * (local[1] + x[i] * (local[2] + x[i] * local[3]))


@cuda.jit
def polynomial_kernel(x, weight, out):
    """Copies as many coefficients as there is room for."""
    local = cuda.local.array(WINDOW, np.float32)
    i = cuda.grid(1)
    for k in range(WINDOW):
        local[k] = weight[k]
    out[i] = local[0] + x[i] * (local[1] + x[i] * (local[2] + x[i] * local[3]))


case(
    polynomial_long_loop_kernel, polynomial_kernel, "out-of-bounds",
    arguments=lambda: (reals(BLOCK), reals(5, seed=2), blank(BLOCK)),
    expected=lambda x, weight, out: np.polynomial.Polynomial(weight[:4])(x),
)  # fmt: skip


@cuda.jit
def reverse_dynamic_kernel(x, out):
    """Is launched with the number of elements where the number of bytes belongs."""
    tile = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]  # BUG
    cuda.syncthreads()
    out[tid] = tile[BLOCK - 1 - tid]


@cuda.jit
def reverse_in_bytes_kernel(x, out):
    """Is launched with elements times bytes an element."""
    tile = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[BLOCK - 1 - tid]


case(
    reverse_dynamic_kernel, reverse_in_bytes_kernel, "out-of-bounds", Launch(1, BLOCK, BLOCK),
    fixed_launch=Launch(1, BLOCK, BLOCK * 4),
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=lambda x, out: x[::-1],
)  # fmt: skip


@cuda.jit
def matmul_narrow_tile_kernel(a, b, out):
    """Declares the second tile with half the columns."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, HALF_TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile[ty, tx] = a[ty, tx]
    b_tile[ty, tx] = b[ty, tx]  # BUG
    cuda.syncthreads()
    acc = np.float32(0)
    for k in range(TILE):
        acc += a_tile[ty, k] * b_tile[k, tx]
    out[ty, tx] = acc


@cuda.jit
def matmul_tile_kernel(a, b, out):
    """Declares both tiles alike."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile[ty, tx] = a[ty, tx]
    b_tile[ty, tx] = b[ty, tx]
    cuda.syncthreads()
    acc = np.float32(0)
    for k in range(TILE):
        acc += a_tile[ty, k] * b_tile[k, tx]
    out[ty, tx] = acc


case(
    matmul_narrow_tile_kernel, matmul_tile_kernel, "out-of-bounds", Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(TILE, TILE), reals(TILE, TILE, seed=8), blank(TILE, TILE)),
    expected=lambda a, b, out: a @ b,
)  # fmt: skip
