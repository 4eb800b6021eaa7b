"""Lines end with CR alone."""

import numpy as np

from gpukit import cuda

SCALE = np.float32(4 / 3)  # 1 / 0.75


@cuda.jit
def dropout_kernel(x, mask, grad_out, y, grad_x):
    i = cuda.grid(1)
    if i < x.size:
        if mask[i] == 1:
            y[i] = x[i] * SCALE
            grad_x[i] = grad_out[i] * SCALE
        else:
            y[i] = 0
            grad_x[i] = 0
