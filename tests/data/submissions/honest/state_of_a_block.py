import math

import numpy as np

from gpukit import cuda

MAX_UNITS: int = 64


@cuda.jit
def rnn_kernel(from_input, w, states):
    b, j = cuda.blockIdx.x, cuda.threadIdx.x
    n = w.shape[0]
    h = cuda.shared.array(MAX_UNITS, np.float32)
    h[j] = 0
    cuda.syncthreads()
    t = 0
    while t < from_input.shape[0]:
        z = np.float32(0)
        if j < n:
            z = from_input[t, b, j]
            for k in range(n):
                z += h[k] * w[j, k]
            z = math.tanh(z)
            states[t, b, j] = z
        cuda.syncthreads()
        h[j] = z
        cuda.syncthreads()
        t += 1
