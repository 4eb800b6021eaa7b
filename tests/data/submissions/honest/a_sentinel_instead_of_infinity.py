from math import exp

import numpy as np

from gpukit import cuda

WARP = 32
LOW = np.float32(np.finfo("f4").min)


@cuda.jit(device=True)
def merge(high, total, other_high, other_total):
    """Combine two pairs (maximum, sum of exponentials)."""
    top = max(high, other_high)
    return top, total * exp(high - top) + other_total * exp(other_high - top)


@cuda.jit
def online_softmax_kernel(x, highest, total):
    row, lane = cuda.grid(1) // WARP, cuda.grid(1) % WARP
    if row < x.shape[0]:
        m, s = LOW, np.float32(0)
        for k in range(lane, x.shape[1], WARP):
            m, s = merge(m, s, x[row, k], np.float32(1))
        for k in (1, 2, 4, 8, 16):
            om = cuda.shfl_xor_sync(0xFFFFFFFF, m, k)
            os = cuda.shfl_xor_sync(0xFFFFFFFF, s, k)
            m, s = merge(m, s, om, os)
        if lane == 0:
            highest[row], total[row] = m, s
