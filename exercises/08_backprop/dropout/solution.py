"""Dropout with a given mask, forward and backward. The task is in task.md."""

import numpy as np

from gpukit import cuda

KEEP = np.float32(0.75)


@cuda.jit
def dropout_kernel(x, mask, grad_out, y, grad_x):
    """Write x / KEEP and grad_out / KEEP to y and grad_x where mask is 1, and 0 elsewhere."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] / KEEP if mask[i] else np.float32(0)
        grad_x[i] = grad_out[i] / KEEP if mask[i] else np.float32(0)
