import math

import numpy as np

from gpukit import cuda


@cuda.jit(device=True, inline=True)
def clamp(value, low, high):
    return min(max(value, low), high)


@cuda.jit(device=True)
def squash(value):
    """The logistic function, through tanh."""
    half = np.float32(0.5)
    return half + half * math.tanh(half * value)


@cuda.jit
def lstm_cell_kernel(sums, c, new_h, new_c):
    unit, sample = cuda.grid(2)
    n = c.shape[1]
    if clamp(unit, 0, n - 1) != unit or sample >= c.shape[0]:
        return
    i = squash(sums[sample, unit])
    f = squash(sums[sample, n + unit])
    g = math.tanh(sums[sample, 2 * n + unit])
    o = squash(sums[sample, 3 * n + unit])
    state = f * c[sample, unit] + i * g
    new_c[sample, unit] = state
    new_h[sample, unit] = o * math.tanh(state)
