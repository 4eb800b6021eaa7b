"""An LSTM cell in one kernel. The task is in task.md."""

import math

import numpy as np

from gpukit import cuda

ONE = np.float32(1)


@cuda.jit(device=True)
def sigmoid(x):
    """Return 1 / (1 + exp(-x)); kernels can call this function."""
    return ONE / (ONE + math.exp(-x))


@cuda.jit
def lstm_cell_kernel(sums, c, new_h, new_c):
    """Write the new hidden state and cell state of each unit of each sample."""
    unit, sample = cuda.grid(2)
    units = c.shape[1]
    if sample < c.shape[0] and unit < units:
        take = sigmoid(sums[sample, unit])
        keep = sigmoid(sums[sample, unit + units])
        new = math.tanh(sums[sample, unit + 2 * units])
        show = sigmoid(sums[sample, unit + 3 * units])
        remembered = keep * c[sample, unit] + take * new
        new_c[sample, unit] = remembered
        new_h[sample, unit] = show * math.tanh(remembered)
