import os

from gpukit import cuda

N = len(os.listdir("."))


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i] + 0 * N
