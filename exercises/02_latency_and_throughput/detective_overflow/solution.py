"""The softplus activation, a smooth relu, for any finite number. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda


@cuda.jit
def softplus_kernel(x, out):
    """Write log(1 + exp(x[i])) to out[i]. Two lines are not good enough."""
    i = cuda.grid(1)
    if i < x.size:
        e = math.exp(-abs(x[i]))
        out[i] = max(x[i], np.float32(0)) + math.log1p(e)
