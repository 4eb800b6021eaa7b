"""The running sum within each block, and each block's total. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def block_scan_kernel(x, out, totals):
    """Write the running sum within this block to out, and its last value to totals."""
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    tile[tid] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()  # the tile is full before any thread reads another's element
    step = 1
    while step < BLOCK:
        left = tile[tid - step] if tid >= step else np.float32(0)
        cuda.syncthreads()  # all have read before any thread writes
        tile[tid] += left
        cuda.syncthreads()  # all have written before the next step reads
        step *= 2
    if i < x.size:
        out[i] = tile[tid]
    if tid == BLOCK - 1:
        totals[cuda.blockIdx.x] = tile[tid]
