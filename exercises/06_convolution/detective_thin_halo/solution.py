"""The mean of the 3 x 3 pixels around each pixel. The task is in task.md."""

import numpy as np

from gpukit import cuda

TILE = 16  # a block computes TILE x TILE pixels, one per thread
WIDE = TILE + 2  # pixels that a block reads along each axis


@cuda.jit
def blur_kernel(image, out):
    """Write the mean of the 3 x 3 pixels around each pixel to out. Two lines are wrong."""
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE - 1, cuda.blockIdx.y * TILE - 1
    tile = cuda.shared.array((WIDE, WIDE), np.float32)
    for k in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):
        h, w = top + k // WIDE, left + k % WIDE
        inside = 0 <= h < image.shape[0] and 0 <= w < image.shape[1]
        tile[k // WIDE, k % WIDE] = image[h, w] if inside else np.float32(0)
    cuda.syncthreads()
    if row < out.shape[0] and col < out.shape[1]:
        acc = np.float32(0)
        for m in range(3):
            for n in range(3):
                acc += tile[ty + m, tx + n]
        out[row, col] = acc / np.float32(9)
