"""Accesses past the end of a shared or a local array."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals
from tests.data.bugs.barriers import sum_kernel

TILE = 8
HALF_TILE = TILE // 2
WITH_HALO = BLOCK + 2
WINDOW = 4


@cuda.jit
def stage_kernel(x, out):
    """Indexes the tile with the index in the block."""
    tile = cuda.shared.array(32, np.float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    out[i] = tile[31 - cuda.threadIdx.x]


correct(
    stage_kernel,
    lambda: (reals(64), blank(64)),
    lambda x, out: x.reshape(2, 32)[:, ::-1].ravel(),
    Launch(2, 32),
)
bug(
    stage_kernel,
    "stage_by_global_index",
    "out-of-bounds",
    """
Indexes the block's tile with the index in the grid: right in block 0 only.
-    tile[cuda.threadIdx.x] = x[i]
+    tile[i] = x[i]  # BUG
""",
)


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


correct(
    smooth_kernel,
    lambda: (reals(BLOCK + 2), blank(BLOCK)),
    lambda x, out: np.convolve(x, np.ones(3) / 3, "valid"),
)
bug(
    smooth_kernel,
    "smooth_short_tile",
    "out-of-bounds",
    """
Makes room in the tile for the block, and none for the two halo cells.
-    tile = cuda.shared.array(WITH_HALO, np.float32)
+    tile = cuda.shared.array(BLOCK, np.float32)
     tid = cuda.threadIdx.x
     tile[tid + 1] = x[tid + 1]  # BUG
""",
)

bug(
    sum_kernel,
    "tree_unguarded",
    "out-of-bounds",
    """
Lets all threads add at every level, so the upper ones read past the tile.
-        if tid < half:
-            tile[tid] += tile[tid + half]
+        other = tile[tid + half]  # BUG
+        cuda.syncthreads()
+        tile[tid] += other
""",
)


@cuda.jit
def polynomial_kernel(x, weight, out):
    """Copies as many coefficients as there is room for."""
    local = cuda.local.array(WINDOW, np.float32)
    i = cuda.grid(1)
    for k in range(WINDOW):
        local[k] = weight[k]
    out[i] = local[0] + x[i] * (local[1] + x[i] * (local[2] + x[i] * local[3]))


correct(
    polynomial_kernel,
    lambda: (reals(BLOCK), reals(5, seed=2), blank(BLOCK)),
    lambda x, weight, out: np.polynomial.Polynomial(weight[:4])(x),
)
bug(
    polynomial_kernel,
    "polynomial_long_loop",
    "out-of-bounds",
    """
Copies one coefficient more than the local array holds.
-    for k in range(WINDOW):
+    for k in range(WINDOW + 1):
         local[k] = weight[k]  # BUG
""",
)


@cuda.jit
def reverse_in_bytes_kernel(x, out):
    """Is launched with elements times bytes an element."""
    tile = cuda.shared.array(0, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[BLOCK - 1 - tid]


correct(
    reverse_in_bytes_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: x[::-1],
    Launch(1, BLOCK, BLOCK * 4),
)
bug(
    reverse_in_bytes_kernel,
    "reverse_dynamic",
    "out-of-bounds",
    """
Is launched with the number of elements where the number of bytes belongs.
     tile[tid] = x[tid]  # BUG
""",
    Launch(1, BLOCK, BLOCK),
)


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


correct(
    matmul_tile_kernel,
    lambda: (reals(TILE, TILE), reals(TILE, TILE, seed=8), blank(TILE, TILE)),
    lambda a, b, out: a @ b,
    Launch(1, (TILE, TILE)),
)
bug(
    matmul_tile_kernel,
    "matmul_narrow_tile",
    "out-of-bounds",
    """
Declares the second tile with half the columns.
-    b_tile = cuda.shared.array((TILE, TILE), np.float32)
+    b_tile = cuda.shared.array((TILE, HALF_TILE), np.float32)
@@
     b_tile[ty, tx] = b[ty, tx]  # BUG
""",
)
