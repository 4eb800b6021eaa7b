"""The sigmoid activation, which maps any number to one between 0 and 1. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda


@cuda.jit
def sigmoid_kernel(x, out):
    """Write 1 / (1 + exp(-x[i])) to out[i]."""
    # FILL ME IN (about 4 lines). math.exp works in kernels; np.float32(1) is a float32.
