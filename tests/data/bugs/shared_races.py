"""Races in shared memory: a barrier is missing after the block has filled its tile."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals

TILE = 8
PADDED = TILE + 1
WITH_HALO = BLOCK + 2


@cuda.jit
def reverse_kernel(x, out):
    """Waits for the whole tile."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()  # the tile is full before it is read
    out[tid] = tile[BLOCK - 1 - tid]


correct(reverse_kernel, lambda: (reals(BLOCK), blank(BLOCK)), lambda x, out: x[::-1])
bug(
    reverse_kernel,
    "reverse_unsynced",
    "shared-race",
    """
Reads what another thread loads, without waiting for it.
-    cuda.syncthreads()  # the tile is full before it is read
     out[tid] = tile[BLOCK - 1 - tid]  # BUG
""",
)
bug(
    reverse_kernel,
    "reverse_early_barrier",
    "shared-race",
    """
Waits before the load instead of after it.
+    cuda.syncthreads()
     tile[tid] = x[tid]
-    cuda.syncthreads()  # the tile is full before it is read
     out[tid] = tile[BLOCK - 1 - tid]  # BUG
""",
)


@cuda.jit
def transpose_kernel(a, out):
    """Waits for the tile."""
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()  # the tile is full before it is read by columns
    out[ty, tx] = tile[tx, ty]


correct(
    transpose_kernel,
    lambda: (reals(TILE, TILE), blank(TILE, TILE)),
    lambda a, out: a.T,
    Launch(1, (TILE, TILE)),
)
bug(
    transpose_kernel,
    "transpose_unsynced",
    "shared-race",
    """
Writes the transposed tile out before the other threads have loaded it.
-    cuda.syncthreads()  # the tile is full before it is read by columns
     out[ty, tx] = tile[tx, ty]  # BUG
""",
)


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


correct(
    smooth_halo_kernel,
    lambda: (reals(BLOCK + 2), blank(BLOCK)),
    lambda x, out: np.convolve(x, np.ones(3) / 3, "valid"),
)
bug(
    smooth_halo_kernel,
    "smooth_halo_unsynced",
    "shared-race",
    """
Reads the halo cells, which only two threads load, without a barrier.
+    cuda.syncthreads()
     if tid == 0:
@@
-    cuda.syncthreads()  # the tile and its halo are full
     out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)  # BUG
""",
)


@cuda.jit
def scale_by_first_kernel(x, out):
    """Waits for thread 0."""
    factor = cuda.shared.array(1, np.float32)
    tid = cuda.threadIdx.x
    if tid == 0:
        factor[0] = np.float32(1) / x[0]
    cuda.syncthreads()  # the factor is there
    out[tid] = x[tid] * factor[0]


correct(scale_by_first_kernel, lambda: (reals(BLOCK), blank(BLOCK)), lambda x, out: x / x[0])
bug(
    scale_by_first_kernel,
    "scale_by_first_unsynced",
    "shared-race",
    """
Lets thread 0 work out a factor, and the others take it before it is there.
-    cuda.syncthreads()  # the factor is there
     out[tid] = x[tid] * factor[0]  # BUG
""",
)


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


correct(rotate_kernel, lambda: (reals(BLOCK),), lambda x: np.roll(x, -1))
bug(
    rotate_kernel,
    "rotate_in_place",
    "shared-race",
    """
Takes the right neighbour's element while that neighbour overwrites it.
-    right = tile[(tid + 1) % BLOCK]
-    cuda.syncthreads()  # all have read before any writes
-    tile[tid] = right
+    tile[tid] = tile[(tid + 1) % BLOCK]  # BUG
""",
)


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


correct(
    pick_two_slices_kernel,
    lambda: (reals(BLOCK), reals(BLOCK, seed=8), blank(BLOCK)),
    lambda x, y, out: x + y[::-1],
    Launch(1, BLOCK, 8 * BLOCK),
)
bug(
    pick_two_slices_kernel,
    "pick_two_views",
    "shared-race",
    """
Takes two dynamic arrays and forgets that both start at the same byte.
-    right = cuda.shared.array(0, np.float32)[BLOCK:]
+    right = cuda.shared.array(0, np.float32)
@@
     right[BLOCK - 1 - tid] = y[tid]  # BUG
""",
)


@cuda.jit
def flatten_two_indices_kernel(a, out):
    """Gives every thread of the block a cell."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[ty, TILE - 1 - tx]


correct(
    flatten_two_indices_kernel,
    lambda: (reals(TILE, TILE), blank(TILE, TILE)),
    lambda a, out: a[:, ::-1],
    Launch(1, (TILE, TILE)),
)
bug(
    flatten_two_indices_kernel,
    "flatten_one_index",
    "shared-race",
    """
Fills a tile in a two-dimensional block with threadIdx.x alone: rows overwrite each other.
-    tile = cuda.shared.array((TILE, TILE), np.float32)
+    tile = cuda.shared.array(TILE, np.float32)
     tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
-    tile[ty, tx] = a[ty, tx]
+    tile[tx] = a[ty, tx]  # BUG
     cuda.syncthreads()
-    out[ty, tx] = tile[ty, TILE - 1 - tx]
+    out[ty, tx] = tile[TILE - 1 - tx]
""",
)
