"""Reads of shared memory that no thread has written: it holds what an earlier block left there."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts, reals, zeros

BINS = 8
TILE = 8
WITH_HALO = BLOCK + 2
TWO_BLOCKS = 2 * BLOCK
N = BLOCK - 14


@cuda.jit
def sum_partly_loaded_kernel(x, out):
    """Loads the tile behind a guard and adds all of it up."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    if tid < x.shape[0]:
        tile[tid] = x[tid]
    cuda.syncthreads()
    if tid == 0:
        acc = np.float32(0)
        for k in range(BLOCK):
            acc += tile[k]  # BUG
        out[0] = acc


@cuda.jit
def sum_loaded_kernel(x, out):
    """Loads a zero where the array has ended."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid] if tid < x.shape[0] else np.float32(0)
    cuda.syncthreads()
    if tid == 0:
        acc = np.float32(0)
        for k in range(BLOCK):
            acc += tile[k]
        out[0] = acc


case(
    sum_partly_loaded_kernel, sum_loaded_kernel, "uninitialised-shared",
    arguments=lambda: (reals(N), blank(1)),
    expected=lambda x, out: [x.sum()],
)  # fmt: skip


@cuda.jit
def histogram_unzeroed_kernel(x, hist):
    """Counts in shared bins that nobody set to zero."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    cuda.atomic.add(bins, x[tid], 1)  # BUG
    cuda.syncthreads()
    if tid < BINS:
        hist[tid] = bins[tid]


@cuda.jit
def histogram_kernel(x, hist):
    """Sets them to zero first."""
    bins = cuda.shared.array(BINS, np.int32)
    tid = cuda.threadIdx.x
    if tid < BINS:
        bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[tid], 1)
    cuda.syncthreads()
    if tid < BINS:
        hist[tid] = bins[tid]


case(
    histogram_unzeroed_kernel, histogram_kernel, "uninitialised-shared",
    arguments=lambda: (counts(BLOCK, BINS), zeros(BINS, dtype=np.int32)),
    expected=lambda x, hist: np.bincount(x, minlength=BINS),
)  # fmt: skip


@cuda.jit
def smooth_no_halo_kernel(x, out):
    """Loads the block's elements and forgets the two beside them."""
    tile = cuda.shared.array(WITH_HALO, np.float32)
    tid = cuda.threadIdx.x
    tile[tid + 1] = x[tid + 1]
    cuda.syncthreads()
    out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)  # BUG


@cuda.jit
def smooth_kernel(x, out):
    """Loads the halo too."""
    tile = cuda.shared.array(WITH_HALO, np.float32)
    tid = cuda.threadIdx.x
    tile[tid + 1] = x[tid + 1]
    if tid < 2:
        tile[tid * (BLOCK + 1)] = x[tid * (BLOCK + 1)]
    cuda.syncthreads()
    out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)


case(
    smooth_no_halo_kernel, smooth_kernel, "uninitialised-shared",
    arguments=lambda: (reals(BLOCK + 2), blank(BLOCK)),
    expected=lambda x, out: np.convolve(x, np.ones(3) / 3, "valid"),
)  # fmt: skip


@cuda.jit
def matmul_ragged_tile_kernel(a, b, out):
    """Loads the last, ragged tiles behind guards and multiplies whole ones."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if tx < a.shape[1]:
        a_tile[ty, tx] = a[ty, tx]
    if ty < b.shape[0]:
        b_tile[ty, tx] = b[ty, tx]
    cuda.syncthreads()
    acc = np.float32(0)
    for k in range(TILE):
        acc += a_tile[ty, k] * b_tile[k, tx]  # BUG
    out[ty, tx] = acc


@cuda.jit
def matmul_padded_tile_kernel(a, b, out):
    """Fills the rest of the tiles with zeros."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile[ty, tx] = a[ty, tx] if tx < a.shape[1] else np.float32(0)
    b_tile[ty, tx] = b[ty, tx] if ty < b.shape[0] else np.float32(0)
    cuda.syncthreads()
    acc = np.float32(0)
    for k in range(TILE):
        acc += a_tile[ty, k] * b_tile[k, tx]
    out[ty, tx] = acc


case(
    matmul_ragged_tile_kernel, matmul_padded_tile_kernel, "uninitialised-shared",
    Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(TILE, 5), reals(5, TILE, seed=8), blank(TILE, TILE)),
    expected=lambda a, b, out: a @ b,
)  # fmt: skip


@cuda.jit
def sum_total_unset_kernel(x, out):
    """Adds to a shared total that starts with whatever is there."""
    total = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        for k in range(BLOCK):
            total[0] += x[k]  # BUG
        out[0] = total[0]


@cuda.jit
def sum_total_kernel(x, out):
    """Starts the total with zero."""
    total = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        total[0] = 0
        for k in range(BLOCK):
            total[0] += x[k]
        out[0] = total[0]


case(
    sum_total_unset_kernel, sum_total_kernel, "uninitialised-shared",
    arguments=lambda: (counts(BLOCK, 30), np.full(1, -1, np.int32)),
    expected=lambda x, out: [x.sum()],
)  # fmt: skip


@cuda.jit
def pairs_every_other_kernel(x, out):
    """Fills every other cell of the tile and reads them all."""
    tile = cuda.shared.array(TWO_BLOCKS, np.float32)
    tid = cuda.threadIdx.x
    tile[2 * tid] = x[2 * tid]
    cuda.syncthreads()
    out[tid] = tile[2 * tid] - tile[2 * tid + 1]  # BUG


@cuda.jit
def pairs_kernel(x, out):
    """Fills both cells of the pair."""
    tile = cuda.shared.array(TWO_BLOCKS, np.float32)
    tid = cuda.threadIdx.x
    tile[2 * tid] = x[2 * tid]
    tile[2 * tid + 1] = x[2 * tid + 1]
    cuda.syncthreads()
    out[tid] = tile[2 * tid] - tile[2 * tid + 1]


case(
    pairs_every_other_kernel, pairs_kernel, "uninitialised-shared",
    arguments=lambda: (reals(2 * BLOCK), blank(BLOCK)),
    expected=lambda x, out: x[::2] - x[1::2],
)  # fmt: skip


@cuda.jit
def reverse_stale_tile_kernel(x, out):
    """Fills the tile in block 0 and expects it in block 1."""
    tile = cuda.shared.array(32, np.float32)
    tid = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        tile[tid] = x[tid]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[31 - tid]  # BUG


@cuda.jit
def reverse_own_tile_kernel(x, out):
    """Fills it in every block."""
    tile = cuda.shared.array(32, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[31 - tid]


case(
    reverse_stale_tile_kernel, reverse_own_tile_kernel, "uninitialised-shared", Launch(2, 32),
    arguments=lambda: (reals(32), blank(64)),
    expected=lambda x, out: np.tile(x[::-1], 2),
)  # fmt: skip
