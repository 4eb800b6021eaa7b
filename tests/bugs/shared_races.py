"""Races in shared memory: a barrier is missing after the block has filled its tile."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

TILE = 8
PADDED = TILE + 1
WITH_HALO = BLOCK + 2


@cuda.jit
def reverse_unsynced_kernel(x, out):
    """Reads what another thread loads, without waiting for it."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    out[tid] = tile[BLOCK - 1 - tid]  # BUG


@cuda.jit
def reverse_kernel(x, out):
    """Waits for the whole tile."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()  # the tile is full before it is read
    out[tid] = tile[BLOCK - 1 - tid]


case(
    reverse_unsynced_kernel, reverse_kernel, "shared-race",
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=lambda x, out: x[::-1],
)  # fmt: skip


@cuda.jit
def reverse_early_barrier_kernel(x, out):
    """Waits before the load instead of after it."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    cuda.syncthreads()
    tile[tid] = x[tid]
    out[tid] = tile[BLOCK - 1 - tid]  # BUG


case(
    reverse_early_barrier_kernel, reverse_kernel, "shared-race",
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=lambda x, out: x[::-1],
)  # fmt: skip


@cuda.jit
def transpose_unsynced_kernel(a, out):
    """Writes the transposed tile out before the other threads have loaded it."""
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[ty, tx]
    out[ty, tx] = tile[tx, ty]  # BUG


@cuda.jit
def transpose_kernel(a, out):
    """Waits for the tile."""
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()  # the tile is full before it is read by columns
    out[ty, tx] = tile[tx, ty]


case(
    transpose_unsynced_kernel, transpose_kernel, "shared-race", Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(TILE, TILE), blank(TILE, TILE)),
    expected=lambda a, out: a.T,
)  # fmt: skip


@cuda.jit
def smooth_halo_unsynced_kernel(x, out):
    """Reads the halo cells, which only two threads load, without a barrier."""
    tile = cuda.shared.array(WITH_HALO, np.float32)
    tid = cuda.threadIdx.x
    tile[tid + 1] = x[tid + 1]
    cuda.syncthreads()
    if tid == 0:
        tile[0] = x[0]
    if tid == 1:
        tile[BLOCK + 1] = x[BLOCK + 1]
    out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)  # BUG


@cuda.jit
def smooth_halo_kernel(x, out):
    """Waits after the halo too."""
    tile = cuda.shared.array(WITH_HALO, np.float32)
    tid = cuda.threadIdx.x
    tile[tid + 1] = x[tid + 1]
    if tid == 0:
        tile[0] = x[0]
    if tid == 1:
        tile[BLOCK + 1] = x[BLOCK + 1]
    cuda.syncthreads()  # the tile and its halo are full
    out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)


case(
    smooth_halo_unsynced_kernel, smooth_halo_kernel, "shared-race",
    arguments=lambda: (reals(BLOCK + 2), blank(BLOCK)),
    expected=lambda x, out: np.convolve(x, np.ones(3) / 3, "valid"),
)  # fmt: skip


@cuda.jit
def scale_by_first_unsynced_kernel(x, out):
    """Lets thread 0 work out a factor, and the others take it before it is there."""
    factor = cuda.shared.array(1, np.float32)
    tid = cuda.threadIdx.x
    if tid == 0:
        factor[0] = np.float32(1) / x[0]
    out[tid] = x[tid] * factor[0]  # BUG


@cuda.jit
def scale_by_first_kernel(x, out):
    """Waits for thread 0."""
    factor = cuda.shared.array(1, np.float32)
    tid = cuda.threadIdx.x
    if tid == 0:
        factor[0] = np.float32(1) / x[0]
    cuda.syncthreads()  # the factor is there
    out[tid] = x[tid] * factor[0]


case(
    scale_by_first_unsynced_kernel, scale_by_first_kernel, "shared-race",
    arguments=lambda: (reals(BLOCK), blank(BLOCK)),
    expected=lambda x, out: x / x[0],
)  # fmt: skip


@cuda.jit
def rotate_in_place_kernel(x):
    """Takes the right neighbour's element while that neighbour overwrites it."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    tile[tid] = tile[(tid + 1) % BLOCK]  # BUG
    cuda.syncthreads()
    x[tid] = tile[tid]


@cuda.jit
def rotate_kernel(x):
    """Reads, waits, then writes."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    right = tile[(tid + 1) % BLOCK]
    cuda.syncthreads()  # all have read before any writes
    tile[tid] = right
    cuda.syncthreads()
    x[tid] = tile[tid]


case(
    rotate_in_place_kernel, rotate_kernel, "shared-race",
    arguments=lambda: (reals(BLOCK),),
    expected=lambda x: np.roll(x, -1),
)  # fmt: skip


@cuda.jit
def pick_two_views_kernel(x, y, out):
    """Takes two dynamic arrays and forgets that both start at the same byte."""
    left = cuda.shared.array(0, np.float32)
    right = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    left[tid] = x[tid]
    right[BLOCK - 1 - tid] = y[tid]  # BUG
    cuda.syncthreads()
    out[tid] = left[tid] + right[tid]


@cuda.jit
def pick_two_slices_kernel(x, y, out):
    """Starts the second array behind the first."""
    left = cuda.shared.array(0, np.float32)
    right = cuda.shared.array(0, np.float32)[BLOCK:]
    tid = cuda.threadIdx.x
    left[tid] = x[tid]
    right[BLOCK - 1 - tid] = y[tid]
    cuda.syncthreads()
    out[tid] = left[tid] + right[tid]


case(
    pick_two_views_kernel, pick_two_slices_kernel, "shared-race", Launch(1, BLOCK, 8 * BLOCK),
    arguments=lambda: (reals(BLOCK), reals(BLOCK, seed=8), blank(BLOCK)),
    expected=lambda x, y, out: x + y[::-1],
)  # fmt: skip


@cuda.jit
def flatten_one_index_kernel(a, out):
    """Fills a tile in a two-dimensional block with threadIdx.x alone: rows overwrite each other."""
    tile = cuda.shared.array(TILE, np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[tx] = a[ty, tx]  # BUG
    cuda.syncthreads()
    out[ty, tx] = tile[TILE - 1 - tx]


@cuda.jit
def flatten_two_indices_kernel(a, out):
    """Gives every thread of the block a cell."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[ty, TILE - 1 - tx]


case(
    flatten_one_index_kernel, flatten_two_indices_kernel, "shared-race",
    Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(TILE, TILE), blank(TILE, TILE)),
    expected=lambda a, out: a[:, ::-1],
)  # fmt: skip
