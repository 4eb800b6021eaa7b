"""The maximum of each row, and the sum of exp(x - maximum), in one pass. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

ALL = 0xFFFFFFFF  # the mask of a full warp
LOWEST = np.finfo(np.float32).min  # the lowest finite number: LOWEST - LOWEST is 0


@cuda.jit
def online_softmax_kernel(x, highest, total):
    """Write the maximum of each row, and the sum of exp(x - maximum); one warp per row."""
    row = cuda.grid(1) // 32  # the same in all 32 lanes of a warp
    if row < x.shape[0]:
        high, acc = LOWEST, np.float32(0)
        for k in range(cuda.laneid, x.shape[1], 32):
            value = x[row, k]
            above = max(high, value)
            acc = acc * math.exp(high - above) + math.exp(value - above)
            high = above
        for offset in (16, 8, 4, 2, 1):
            other_high = cuda.shfl_xor_sync(ALL, high, offset)
            other_acc = cuda.shfl_xor_sync(ALL, acc, offset)
            above = max(high, other_high)
            acc = acc * math.exp(high - above) + other_acc * math.exp(other_high - above)
            high = above
        if cuda.laneid == 0:
            highest[row] = high
            total[row] = acc
