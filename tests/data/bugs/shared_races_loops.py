"""Races in shared memory that is used again and again: tile loops, double buffers, scans."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, reals

TILE = 8
TILES = 3


@cuda.jit
def matmul_kernel(a, b, out):
    """Waits twice in each step."""
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = np.float32(0)
    for t in range(TILES):
        a_tile[ty, tx] = a[ty, t * TILE + tx]
        b_tile[ty, tx] = b[t * TILE + ty, tx]
        cuda.syncthreads()  # the tiles are full
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # the tiles are used up
    out[ty, tx] = acc


correct(
    matmul_kernel,
    lambda: (reals(TILE, TILES * TILE), reals(TILES * TILE, TILE, seed=8), blank(TILE, TILE)),
    lambda a, b, out: a @ b,
    Launch(1, (TILE, TILE)),
)
bug(
    matmul_kernel,
    "matmul_unsynced_load",
    "shared-race",
    """
Multiplies tiles that are not loaded yet.
-        cuda.syncthreads()  # the tiles are full
         for k in range(TILE):
             acc += a_tile[ty, k] * b_tile[k, tx]  # BUG
""",
)
bug(
    matmul_kernel,
    "matmul_unsynced_overwrite",
    "shared-race",
    """
Loads the next tiles over the ones that slow threads still multiply.
             acc += a_tile[ty, k] * b_tile[k, tx]  # BUG
-        cuda.syncthreads()  # the tiles are used up
""",
)


@cuda.jit
def average_kernel(x, out):
    """Reads one buffer and writes the other."""
    buffers = cuda.shared.array((2, BLOCK), np.float32)
    tid = cuda.threadIdx.x
    buffers[0, tid] = x[tid]
    cuda.syncthreads()
    for step in range(4):
        now = step % 2
        right = buffers[now, (tid + 1) % BLOCK]
        buffers[1 - now, tid] = (buffers[now, tid] + right) / np.float32(2)
        cuda.syncthreads()  # the other buffer is full
    out[tid] = buffers[0, tid]


def averaged(x, out):
    for _ in range(4):
        x = (x + np.roll(x, -1)) / 2
    return x


correct(average_kernel, lambda: (reals(BLOCK), blank(BLOCK)), averaged)
bug(
    average_kernel,
    "average_one_buffer",
    "shared-race",
    """
Means to alternate between two buffers, and computes the same number for both.
-        now = step % 2
+        now = 0
+        other = now * (1 - step % 2)
         right = buffers[now, (tid + 1) % BLOCK]  # BUG
-        buffers[1 - now, tid] = (buffers[now, tid] + right) / np.float32(2)
+        buffers[other, tid] = (buffers[now, tid] + right) / np.float32(2)  # BUG
""",
)


@cuda.jit
def stream_prefetch_kernel(x, out):
    """Prefetches into the other one."""
    buffers = cuda.shared.array((2, BLOCK), np.float32)
    tid = cuda.threadIdx.x
    buffers[0, tid] = x[tid]
    cuda.syncthreads()
    acc = np.float32(0)
    for t in range(TILES):
        if t + 1 < TILES:
            buffers[(t + 1) % 2, tid] = x[(t + 1) * BLOCK + tid]
        acc += buffers[t % 2, BLOCK - 1 - tid]
        cuda.syncthreads()  # one buffer is used up, the other is full
    out[tid] = acc


correct(
    stream_prefetch_kernel,
    lambda: (reals(TILES * BLOCK), blank(BLOCK)),
    lambda x, out: x.reshape(TILES, BLOCK).sum(0)[::-1],
)
bug(
    stream_prefetch_kernel,
    "stream_early_prefetch",
    "shared-race",
    """
Prefetches the next part into the very buffer that the block still reads.
-            buffers[(t + 1) % 2, tid] = x[(t + 1) * BLOCK + tid]
+            buffers[t % 2, tid] = x[(t + 1) * BLOCK + tid]  # BUG
         acc += buffers[t % 2, BLOCK - 1 - tid]  # BUG
""",
)


@cuda.jit
def scan_kernel(x, out):
    """Reads, waits, writes, waits."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        left = tile[tid - step] if tid >= step else np.float32(0)
        cuda.syncthreads()  # all have read
        tile[tid] += left
        cuda.syncthreads()  # all have written
        step *= 2
    out[tid] = tile[tid]


correct(
    scan_kernel, lambda: (reals(BLOCK), blank(BLOCK)), lambda x, out: np.cumsum(x, dtype=np.float64)
)
bug(
    scan_kernel,
    "scan_in_place",
    "shared-race",
    """
Adds the neighbour to the left in place; that neighbour may have moved on already.
-        left = tile[tid - step] if tid >= step else np.float32(0)
-        cuda.syncthreads()  # all have read
-        tile[tid] += left
+        if tid >= step:
+            tile[tid] += tile[tid - step]  # BUG
""",
)


@cuda.jit
def row_sums_kernel(a, out):
    """Waits until the row is done."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    for row in range(a.shape[0]):
        tile[tid] = a[row, tid]
        cuda.syncthreads()  # the row is loaded
        if tid == 0:
            acc = np.float32(0)
            for k in range(BLOCK):
                acc += tile[k]
            out[row] = acc
        cuda.syncthreads()  # the row is added up


correct(row_sums_kernel, lambda: (reals(TILES, BLOCK), blank(TILES)), lambda a, out: a.sum(1))
bug(
    row_sums_kernel,
    "row_sums_unsynced_rows",
    "shared-race",
    """
Starts on the next row while slow threads still finish this one.
         tile[tid] = a[row, tid]  # BUG
@@
                 acc += tile[k]  # BUG
             out[row] = acc
-        cuda.syncthreads()  # the row is added up
""",
)
