"""Matrix product, tile by tile through shared memory. The task is in task.md."""

import numpy as np

from gpukit import cuda

TILE = 16


@cuda.jit
def matmul_tiled_kernel(a, b, out):
    """Write a @ b to out, one thread per element."""
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    k_size = a.shape[1]
    for t in range((k_size + TILE - 1) // TILE):
        a_tile[ty, tx] = np.float32(0)
        b_tile[ty, tx] = np.float32(0)
        # Outside the matrices the tiles contain 0, which does not change the product.
        if row < a.shape[0] and t * TILE + tx < k_size:
            a_tile[ty, tx] = a[row, t * TILE + tx]
        if col < b.shape[1] and t * TILE + ty < k_size:
            b_tile[ty, tx] = b[t * TILE + ty, col]
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all reads are done before the next step overwrites the tiles
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc
