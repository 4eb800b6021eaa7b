import numpy as np

from gpukit import cuda


@cuda.jit
def block_sum_kernel(x, partials):
    tile = cuda.shared.array(1 << 32, np.float64)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        partials[cuda.blockIdx.x] = tile[0]
