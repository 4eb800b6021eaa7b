"""The softmax of each row, one block per row. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def softmax_block_kernel(x, out):
    """Write the softmax of each row of x to out. A line is wrong, and another one is missing."""
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    parts = cuda.shared.array(BLOCK, np.float32)
    high = np.float32(0)
    for k in range(tid, x.shape[1], BLOCK):
        high = max(high, x[row, k])
    parts[tid] = high
    cuda.syncthreads()
    for step in (64, 32, 16, 8, 4, 2, 1):
        if tid < step:
            parts[tid] = max(parts[tid], parts[tid + step])
        cuda.syncthreads()
    high = parts[0]
    total = np.float32(0)
    for k in range(tid, x.shape[1], BLOCK):
        total += math.exp(x[row, k] - high)
    parts[tid] = total
    cuda.syncthreads()
    for step in (64, 32, 16, 8, 4, 2, 1):
        if tid < step:
            parts[tid] += parts[tid + step]
        cuda.syncthreads()
    for k in range(tid, x.shape[1], BLOCK):
        out[row, k] = math.exp(x[row, k] - high) / parts[0]
