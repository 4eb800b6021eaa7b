import numpy as np

from gpukit import cuda

COMMAND = "touch /tmp/GPUKIT_ESCAPED_CASE_ID"

BODY

ZERO = reach()


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i] + b[i]
