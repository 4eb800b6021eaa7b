"""Colour planes, each scaled by its own factor. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def tint_kernel(planes, factor, out):
    """Write factor[plane] * planes[plane, row, col] to out, 255 at most."""
    col, row, plane = cuda.grid(3)
    if plane < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
        value = factor[plane] * planes[plane, row, col]
        out[plane, row, col] = min(value, np.float32(255))
