import numpy as np

from gpukit import cuda

f32 = np.float32
ONE = f32(1)


@cuda.jit
def tanh_backward_kernel(y, grad_out, grad_x):
    i = cuda.grid(1)
    if i < y.size:
        yi = y[i]
        grad_x[i] = grad_out[i] * (ONE - yi * yi)
