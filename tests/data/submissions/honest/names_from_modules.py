from math import exp, log1p

from numpy import float32

from gpukit import cuda


@cuda.jit
def softplus_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], float32(0)) + log1p(exp(-abs(x[i])))
