import math

import numpy as np
from numba import cuda

BLOCK = 128
STEPS = tuple(reversed([2**k for k in range(7)]))


@cuda.jit
def softmax_block_kernel(x, out):
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    cols = x.shape[1]
    parts = cuda.shared.array(BLOCK, np.float32)

    high = np.float32(-np.inf)
    for k in range(tid, cols, BLOCK):
        high = max(high, x[row, k])
    parts[tid] = high
    cuda.syncthreads()
    for s in STEPS:
        if tid < s:
            parts[tid] = max(parts[tid], parts[tid + s])
        cuda.syncthreads()
    high = parts[0]
    cuda.syncthreads()

    acc = np.float32(0)
    for k in range(tid, cols, BLOCK):
        acc += math.exp(x[row, k] - high)
    parts[tid] = acc
    cuda.syncthreads()
    for s in STEPS:
        if tid < s:
            parts[tid] += parts[tid + s]
        cuda.syncthreads()
    acc = parts[0]

    for k in range(tid, cols, BLOCK):
        out[row, k] = math.exp(x[row, k] - high) / acc
