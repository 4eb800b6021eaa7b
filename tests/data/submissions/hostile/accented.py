# Café, naïve, Ångström: a right answer, if it were UTF-8.
from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
