"""Colour planes, each scaled by its own factor. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def tint_kernel(planes, factor, out):
    """Write factor[plane] * planes[plane, row, col] to out, 255 at most."""
    # FILL ME IN (about 4 lines)
