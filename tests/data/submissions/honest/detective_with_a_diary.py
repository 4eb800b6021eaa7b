"""
Monday    The output looks transposed within each quarter of a tile.
Tuesday   The loop over k must go on in steps of ROWS, and the pitch must not share a bank.
Wednesday Done.
"""

import numpy as np

from gpukit import cuda

TILE = 32  # a block moves a tile of TILE x TILE elements
ROWS = 8  # with TILE x ROWS threads
PITCH = TILE + 1  # was TILE


@cuda.jit
def turn_tiles_kernel(a, out):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PITCH), np.float32)
    for k in range(ty, TILE, ROWS):
        tile[k, tx] = a[top + k, left + tx]
    cuda.syncthreads()
    # for k in range(ty, TILE):
    for k in range(ty, TILE, ROWS):
        out[top + k, left + tx] = tile[tx, k]
