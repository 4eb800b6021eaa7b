import numpy as np

from gpukit import cuda

TILE = 16
WIDE = 18


@cuda.jit
def blur_kernel(image, out):
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    rows, cols = image.shape
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    k = ty * TILE + tx
    while k < WIDE * WIDE:
        r, c = divmod(k, WIDE)
        h = cuda.blockIdx.y * TILE + r - 1
        w = cuda.blockIdx.x * TILE + c - 1
        if -1 < h < rows and -1 < w < cols:
            tile[r, c] = image[h, w]
        else:
            tile[r, c] = 0
        k += TILE * TILE
    cuda.syncthreads()
    if row < rows and col < cols:
        total = np.float32(0)
        for m in (0, 1, 2):
            total += tile[ty + m, tx] + tile[ty + m, tx + 1] + tile[ty + m, tx + 2]
        out[row, col] = total / np.float32(9)
