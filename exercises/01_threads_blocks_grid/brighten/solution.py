"""A photograph at twice the brightness, clamped to white. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def brighten_kernel(photo, out):
    """Write twice the brightness of each pixel to out, 255 at most."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = min(np.float32(2) * photo[row, col], np.float32(255))
