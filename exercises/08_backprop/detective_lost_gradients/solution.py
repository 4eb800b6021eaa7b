"""The gradient of the weights before a relu. The task is in task.md."""

import numpy as np

from gpukit import cuda

SAMPLES = 16  # samples per block; blockIdx.z selects them


@cuda.jit
def weight_grad_kernel(grad_out, net, x, grad_weight):
    """Add the gradient of every weight to grad_weight, which starts at 0. Two lines are wrong."""
    col, row = cuda.grid(2)  # an input and an output of the layer
    first = cuda.blockIdx.z * SAMPLES
    if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
        acc = np.float32(0)
        for sample in range(first, min(first + SAMPLES, x.shape[0])):
            if net[sample, row] > 0:
                acc += grad_out[sample, row] * x[sample, col]
        cuda.atomic.add(grad_weight, (row, col), acc)
