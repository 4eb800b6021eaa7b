import math

import numpy as np
from numba import cuda, float32

FULL = 0xFFFFFFFF
EPSILON = float32(1e-5)


@cuda.jit(device=True)
def all_lanes(value):
    """Return the sum of value over the warp, in all lanes."""
    for k in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(FULL, value, k)
    return value


@cuda.jit
def layer_norm_kernel(x, gain, shift, out):
    row = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x & 31
    if row >= x.shape[0]:
        return
    n = x.shape[1]
    s = float32(0)
    for k in range(lane, n, 32):
        s += x[row, k]
    mu = all_lanes(s) / float32(n)
    v = float32(0)
    for k in range(lane, n, 32):
        d = x[row, k] - mu
        v += d * d
    r = float32(1) / math.sqrt(all_lanes(v) / float32(n) + EPSILON)
    for k in range(lane, n, 32):
        out[row, k] = (x[row, k] - mu) * r * gain[k] + shift[k]
