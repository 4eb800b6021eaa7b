import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def block_sum_kernel(x, partials):
    i, tid = cuda.grid(1), cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    tile[tid] = x[i] if i < x.size else np.float32(0)
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        half //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]
