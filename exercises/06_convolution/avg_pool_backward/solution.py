"""The gradient of average pooling, gathered pixel by pixel. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def avg_pool_backward_kernel(grad_out, size, stride, grad_x):
    """Set each pixel of grad_x to the sum of its windows' gradients, divided by size * size."""
    col, row = cuda.grid(2)
    if row < grad_x.shape[0] and col < grad_x.shape[1]:
        # Window r covers the rows r * stride to r * stride + size - 1.
        top, left = max(0, (row - size + stride) // stride), max(0, (col - size + stride) // stride)
        acc = np.float32(0)
        for r in range(top, min(row // stride + 1, grad_out.shape[0])):
            for c in range(left, min(col // stride + 1, grad_out.shape[1])):
                acc += grad_out[r, c]
        grad_x[row, col] = acc / np.float32(size * size)
