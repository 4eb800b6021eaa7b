"""Max pooling: the largest element of each window of an image. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda


@cuda.jit
def max_pool_kernel(x, size, stride, out):
    """Write the maximum of each window of size x size pixels of x to out."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        high = np.float32(-math.inf)
        for i in range(size):
            for j in range(size):
                high = max(high, x[row * stride + i, col * stride + j])
        out[row, col] = high
