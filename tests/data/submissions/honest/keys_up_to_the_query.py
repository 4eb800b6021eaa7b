import math

import numpy as np

from gpukit import cuda

BLOCK, MOST = 64, 128


@cuda.jit
def attention_block_kernel(q, k, v, out):
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    size = q.shape[1]
    scores = cuda.shared.array(MOST, np.float32)
    for key in range(tid, row + 1, BLOCK):
        acc = np.float32(0)
        for d in range(size):
            acc += q[row, d] * k[key, d]
        scores[key] = acc / math.sqrt(np.float32(size))
    cuda.syncthreads()
    if tid >= v.shape[1]:
        return
    high = scores[0]
    for key in range(1, row + 1):
        high = max(high, scores[key])
    total = acc = np.float32(0)
    for key in range(row + 1):
        weight = math.exp(scores[key] - high)
        total += weight
        acc += weight * v[key, tid]
    out[row, tid] = acc / total
