IMPORTS
from gpukit import cuda

ZERO = EXPRESSION


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i] + b[i]
