import numpy as np

from gpukit import cuda


@cuda.jit
def matmul_kernel(a, b, out):
    if cuda.grid(1) == 0:
        np.matmul(a, b, out)
        out[:, :] = a @ b
