from enum import Enum

import numpy as np

from gpukit import cuda

MEMORY = {"version": 3, "shape": (8,), "typestr": "|u1", "data": (4096, False)}
Odd = Enum("Odd", {"A": 1, "__array_interface__": MEMORY})
ZERO = int(np.asarray(Odd.A)[0]) * 0


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i] + b[i]
