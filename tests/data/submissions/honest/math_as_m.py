import math as m

import numpy as np

from gpukit import cuda


@cuda.jit
def sigmoid_kernel(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    out[i] = np.float32(1) / (np.float32(1) + m.exp(-x[i]))
