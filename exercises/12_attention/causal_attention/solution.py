"""Causal attention of one head, one warp of 32 threads per query. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

ALL = 0xFFFFFFFF  # the mask of a full warp


@cuda.jit
def causal_attention_kernel(q, k, v, out):
    """Write to each row of out the weighted mean of the values up to its own position."""
    row, lane = cuda.grid(1) // 32, cuda.laneid  # a query, and the column of this lane
    size = q.shape[1]
    if row < q.shape[0]:
        has_column = lane < size
        mine = q[row, lane] if has_column else np.float32(0)
        scale = np.float32(1) / math.sqrt(np.float32(size))
        high, total, acc = np.float32(-math.inf), np.float32(0), np.float32(0)
        for key in range(row + 1):
            score = mine * k[key, lane] if has_column else np.float32(0)
            for offset in (16, 8, 4, 2, 1):
                score += cuda.shfl_xor_sync(ALL, score, offset)
            score *= scale
            above = max(high, score)
            kept, weight = math.exp(high - above), math.exp(score - above)
            value = v[key, lane] if has_column else np.float32(0)
            total = total * kept + weight
            acc = acc * kept + weight * value
            high = above
        if has_column:
            out[row, lane] = acc / total
