import numpy as np

from gpukit import cuda

BLOCK = 128

# @cuda.jit
# def block_max_kernel(x, partials):
#     if cuda.threadIdx.x == 0:
#         partials[cuda.blockIdx.x] = max(x)


def block_max_kernel(x, partials):
    """My first try, in plain Python."""
    partials[:] = np.max(x)


@cuda.jit
def block_max_kernel(x, partials):
    """My second try."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[tid] = np.float32(-np.inf)
    if i < x.size:
        tile[tid] = x[i]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            if tile[tid + half] > tile[tid]:
                tile[tid] = tile[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]
