"""The gradient of a dense layer's weights, in tiles. The task is in task.md."""

import numpy as np

from gpukit import cuda

TILE = 16


@cuda.jit
def dense_backward_kernel(grad_out, x, grad_weight):
    """Write grad_out.T @ x to grad_weight, one thread per weight."""
    col, row = cuda.grid(2)  # an input and an output of the layer
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left = cuda.blockIdx.y * TILE  # the first output of this block: a column of grad_out
    grad_tile = cuda.shared.array((TILE, TILE), np.float32)
    x_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    batch = x.shape[0]
    for t in range((batch + TILE - 1) // TILE):
        sample = t * TILE + ty  # each row of both tiles is one sample, as in the matrices
        grad_tile[ty, tx] = np.float32(0)
        x_tile[ty, tx] = np.float32(0)
        if sample < batch and left + tx < grad_out.shape[1]:
            grad_tile[ty, tx] = grad_out[sample, left + tx]
        if sample < batch and col < x.shape[1]:
            x_tile[ty, tx] = x[sample, col]
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            acc += grad_tile[k, ty] * x_tile[k, tx]
        cuda.syncthreads()  # all reads are done before the next step overwrites the tiles
    if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
        grad_weight[row, col] = acc
