"""The dot product of two vectors: a tree and one atomic per block. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def dot_kernel(a, b, out):
    """Add the sum of a[i] * b[i] to out[0], which is 0 before the launch."""
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    tile[tid] = a[i] * b[i] if i < a.size else np.float32(0)
    cuda.syncthreads()  # all products are written before any thread reads another's
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # this level is written before the next one reads
        half //= 2
    if tid == 0:
        cuda.atomic.add(out, 0, tile[0])
