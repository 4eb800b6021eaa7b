"""The gradient of average pooling, gathered pixel by pixel. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def avg_pool_backward_kernel(grad_out, size, stride, grad_x):
    """Set each pixel of grad_x to the sum of its windows' gradients, divided by size * size."""
    col, row = cuda.grid(2)
    # FILL ME IN (about 8 lines)
