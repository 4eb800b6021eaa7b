"""Reads of shared memory that no thread has written: it holds what an earlier block left there."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals
from tests.data.bugs.atomic_races_shared import histogram_kernel
from tests.data.bugs.out_of_bounds_shared import smooth_kernel

BINS = 8
TILE = 8
WITH_HALO = BLOCK + 2
TWO_BLOCKS = 2 * BLOCK
N = BLOCK - 14


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


correct(sum_loaded_kernel, lambda: (reals(N), blank(1)), lambda x, out: [x.sum()])
bug(
    sum_loaded_kernel,
    "sum_partly_loaded",
    "uninitialised-shared",
    """
Loads the tile behind a guard and adds all of it up.
-    tile[tid] = x[tid] if tid < x.shape[0] else np.float32(0)
+    if tid < x.shape[0]:
+        tile[tid] = x[tid]
@@
             acc += tile[k]  # BUG
""",
)

bug(
    histogram_kernel,
    "histogram_unzeroed",
    "uninitialised-shared",
    """
Counts in shared bins that nobody set to zero.
-    if tid < BINS:
-        bins[tid] = 0
-    cuda.syncthreads()
     cuda.atomic.add(bins, x[tid], 1)  # BUG
""",
)

bug(
    smooth_kernel,
    "smooth_no_halo",
    "uninitialised-shared",
    """
Loads the block's elements and forgets the two beside them.
-    if tid < 2:
-        tile[tid * (BLOCK + 1)] = x[tid * (BLOCK + 1)]
     cuda.syncthreads()
     out[tid] = (tile[tid] + tile[tid + 1] + tile[tid + 2]) / np.float32(3)  # BUG
""",
)


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


correct(
    matmul_padded_tile_kernel,
    lambda: (reals(TILE, 5), reals(5, TILE, seed=8), blank(TILE, TILE)),
    lambda a, b, out: a @ b,
    Launch(1, (TILE, TILE)),
)
bug(
    matmul_padded_tile_kernel,
    "matmul_ragged_tile",
    "uninitialised-shared",
    """
Loads the last, ragged tiles behind guards and multiplies whole ones.
-    a_tile[ty, tx] = a[ty, tx] if tx < a.shape[1] else np.float32(0)
-    b_tile[ty, tx] = b[ty, tx] if ty < b.shape[0] else np.float32(0)
+    if tx < a.shape[1]:
+        a_tile[ty, tx] = a[ty, tx]
+    if ty < b.shape[0]:
+        b_tile[ty, tx] = b[ty, tx]
@@
         acc += a_tile[ty, k] * b_tile[k, tx]  # BUG
""",
)


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


correct(
    sum_total_kernel,
    lambda: (counts(BLOCK, 30), np.full(1, -1, np.int32)),
    lambda x, out: [x.sum()],
)
bug(
    sum_total_kernel,
    "sum_total_unset",
    "uninitialised-shared",
    """
Adds to a shared total that starts with whatever is there.
-        total[0] = 0
         for k in range(BLOCK):
             total[0] += x[k]  # BUG
""",
)


@cuda.jit
def pairs_kernel(x, out):
    """Fills both cells of the pair."""
    tile = cuda.shared.array(TWO_BLOCKS, np.float32)
    tid = cuda.threadIdx.x
    tile[2 * tid] = x[2 * tid]
    tile[2 * tid + 1] = x[2 * tid + 1]
    cuda.syncthreads()
    out[tid] = tile[2 * tid] - tile[2 * tid + 1]


correct(pairs_kernel, lambda: (reals(2 * BLOCK), blank(BLOCK)), lambda x, out: x[::2] - x[1::2])
bug(
    pairs_kernel,
    "pairs_every_other",
    "uninitialised-shared",
    """
Fills every other cell of the tile and reads them all.
-    tile[2 * tid + 1] = x[2 * tid + 1]
     cuda.syncthreads()
     out[tid] = tile[2 * tid] - tile[2 * tid + 1]  # BUG
""",
)


@cuda.jit
def reverse_own_tile_kernel(x, out):
    """Fills it in every block."""
    tile = cuda.shared.array(32, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[31 - tid]


correct(
    reverse_own_tile_kernel,
    lambda: (reals(32), blank(64)),
    lambda x, out: np.tile(x[::-1], 2),
    Launch(2, 32),
)
bug(
    reverse_own_tile_kernel,
    "reverse_stale_tile",
    "uninitialised-shared",
    """
Fills the tile in block 0 and expects it in block 1.
-    tile[tid] = x[tid]
+    if cuda.blockIdx.x == 0:
+        tile[tid] = x[tid]
     cuda.syncthreads()
     out[cuda.grid(1)] = tile[31 - tid]  # BUG
""",
)
