"""Prune each group of four weights to two, one thread per weight. The task is in task.md."""

import numpy as np

from gpukit import cuda

BLOCK = 128


@cuda.jit
def prune_kernel(weight, out):
    """Write weight[i] to out[i] if its magnitude is among the two largest of its four, else 0."""
    i = cuda.grid(1)
    # FILL ME IN (about 8 lines)
