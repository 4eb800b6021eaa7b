"""One partial sum per block, reduced in shared memory. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def block_sum_kernel(x, partials):
    """Write the sum of this block's elements of x to partials[blockIdx.x]."""
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    # Threads past the end add 0, and stay: every thread must reach the barriers below.
    tile[tid] = x[i] if i < x.shape[0] else np.float32(0)
    cuda.syncthreads()  # the tile is full before any thread reads another's element
    step = BLOCK // 2
    while step > 0:
        if tid < step:
            tile[tid] += tile[tid + step]
        cuda.syncthreads()  # the sums of this level are written before the next level reads
        step //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]
