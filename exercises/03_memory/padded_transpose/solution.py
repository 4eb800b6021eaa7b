"""The transpose of a matrix, tile by tile through shared memory. The task is in task.md."""

import numpy as np

from gpukit import cuda

TILE = 32  # a block moves a tile of TILE x TILE elements
ROWS = 8  # with TILE x ROWS threads
PITCH = TILE + 1  # one column of padding puts the elements of a column into different banks


@cuda.jit
def padded_transpose_kernel(a, out):
    """Write row r of a to column r of out, reading and writing whole rows."""
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PITCH), np.float32)
    for k in range(ty, TILE, ROWS):
        if top + k < a.shape[0] and left + tx < a.shape[1]:
            tile[k, tx] = a[top + k, left + tx]
    cuda.syncthreads()  # the tile is full before any thread reads another's element
    for k in range(ty, TILE, ROWS):
        if left + k < out.shape[0] and top + tx < out.shape[1]:
            out[left + k, top + tx] = tile[tx, k]
