"""Scale a vector down to the norm MOST if it is longer, in one block. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

BLOCK = 128
MOST = np.float32(1)


@cuda.jit
def clip_kernel(grad, out):
    """Write grad to out, scaled down to the norm MOST if its norm is larger."""
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    squares = np.float32(0)
    for i in range(tid, grad.size, BLOCK):
        squares += grad[i] * grad[i]
    tile[tid] = squares
    cuda.syncthreads()  # all sums are written before any thread reads another's
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # this level is written before the next one, or the final read
        half //= 2
    norm = math.sqrt(tile[0])
    factor = MOST / norm if norm > MOST else np.float32(1)
    for i in range(tid, grad.size, BLOCK):
        out[i] = grad[i] * factor
