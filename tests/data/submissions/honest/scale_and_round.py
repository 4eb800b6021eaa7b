import math

import numpy as np

from gpukit import cuda

BLOCK = 128
QMAX = np.float32(np.iinfo(np.int8).max)


@cuda.jit(device=True)
def rounded(value):
    return np.int32(math.floor(value + np.float32(0.5)))


@cuda.jit
def quantize_kernel(x, scale, q):
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    parts = cuda.shared.array(BLOCK, np.float32)
    largest = np.float32(0)
    for k in range(tid, x.shape[1], BLOCK):
        largest = max(largest, abs(x[row, k]))
    parts[tid] = largest
    cuda.syncthreads()
    for step in (64, 32, 16, 8, 4, 2, 1):
        if tid < step:
            parts[tid] = max(parts[tid], parts[tid + step])
        cuda.syncthreads()
    unit = np.float32(1)
    if parts[0] > np.float32(0):
        unit = parts[0] / QMAX
    if tid == 0:
        scale[row] = unit
    for k in range(tid, x.shape[1], BLOCK):
        q[row, k] = rounded(x[row, k] / unit)
