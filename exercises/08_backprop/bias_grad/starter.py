"""The sum of each column, 8 threads per column. The task is in task.md."""

import numpy as np

from gpukit import cuda

ACROSS, DOWN = 32, 8


@cuda.jit
def bias_grad_kernel(grad_out, grad_bias):
    """Write the sum of each column of grad_out to grad_bias."""
    col = cuda.grid(1)  # along x
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile = cuda.shared.array((DOWN, ACROSS), np.float32)
    acc = np.float32(0)
    # FILL ME IN (about 11 lines)
