"""The matrix product, straight from its definition. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def matmul_kernel(a, b, out):
    """Write a @ b to out, one thread per element."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = np.float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc
