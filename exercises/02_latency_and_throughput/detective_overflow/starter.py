"""The softplus activation, a smooth relu, for any finite number. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda


@cuda.jit
def softplus_kernel(x, out):
    """Write log(1 + exp(x[i])) to out[i]. Two lines are not good enough."""
    i = cuda.grid(1)
    if i < x.size:
        e = math.exp(x[i])
        out[i] = math.log(np.float32(1) + e)
