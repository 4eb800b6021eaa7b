"""An image with each tile transposed in place. The task is in task.md."""

import numpy as np

from gpukit import cuda

TILE = 32  # a block moves a tile of TILE x TILE elements
ROWS = 8  # with TILE x ROWS threads
PITCH = TILE  # elements from one row of the tile to the next


@cuda.jit
def turn_tiles_kernel(a, out):
    """Write each tile of a, transposed, to the same position in out. Two lines are wrong."""
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PITCH), np.float32)
    for k in range(ty, ROWS, ROWS):
        tile[k, tx] = a[top + k, left + tx]
    cuda.syncthreads()
    for k in range(ty, TILE, ROWS):
        out[top + k, left + tx] = tile[tx, k]
