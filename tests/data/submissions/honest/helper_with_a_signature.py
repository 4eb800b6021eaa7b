import numpy as np
from numba import cuda, float32, int64


@cuda.jit(float32(float32[:], int64), device=True)
def padded(x, j):
    """Return x[j], or 0 outside."""
    if 0 <= j < x.size:
        return x[j]
    return float32(0)


BLOCK = 128
RADIUS = 3
WIDTH = BLOCK + 2 * RADIUS


@cuda.jit
def conv1d_kernel(x, weight, out):
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(WIDTH, np.float32)
    tile[tid] = padded(x, i - RADIUS)
    if tid < 2 * RADIUS:
        tile[BLOCK + tid] = padded(x, i - RADIUS + BLOCK)
    cuda.syncthreads()
    if i < out.size:
        s = float32(0)
        for m in range(2 * RADIUS + 1):
            s += tile[tid + m] * weight[m]
        out[i] = s
