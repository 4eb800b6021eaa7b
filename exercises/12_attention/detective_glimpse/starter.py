"""Causal attention, one block per query. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

BLOCK = 64
MOST = 128  # positions


@cuda.jit
def attention_block_kernel(q, k, v, out):
    """Write the result of each query to out. A line is wrong, and another one is missing."""
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    scores = cuda.shared.array(MOST, np.float32)
    for key in range(tid, k.shape[0], BLOCK):
        score = np.float32(0)
        if key <= row:
            acc = np.float32(0)
            for d in range(q.shape[1]):
                acc += q[row, d] * k[key, d]
            score = acc / math.sqrt(np.float32(q.shape[1]))
        scores[key] = score
    high = np.float32(-math.inf)
    for key in range(k.shape[0]):
        high = max(high, scores[key])
    if tid < v.shape[1]:
        total, acc = np.float32(0), np.float32(0)
        for key in range(k.shape[0]):
            weight = math.exp(scores[key] - high)
            total += weight
            acc += weight * v[key, tid]
        out[row, tid] = acc / total
