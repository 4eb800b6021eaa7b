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
    # FILL ME IN (about 14 lines)
