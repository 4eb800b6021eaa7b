import numpy as np

from gpukit import cuda

TILE, ROWS = 32, 8
PADDED = TILE + 1


@cuda.jit
def padded_transpose_kernel(a, out):
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    j = 0
    while j < TILE:
        if x < a.shape[1] and y + j < a.shape[0]:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = a[y + j, x]
        j += ROWS
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    for j in range(0, TILE, ROWS):
        if x < out.shape[1] and y + j < out.shape[0]:
            out[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]
