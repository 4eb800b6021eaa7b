import numpy as np

from gpukit import cuda


def linear(slope, offset):
    slope, offset = np.float32(slope), np.float32(offset)

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.shape[0]:
            y[i] = x[i] * slope + offset

    return kernel


fahrenheit_kernel = linear(9 / 5, 32)
