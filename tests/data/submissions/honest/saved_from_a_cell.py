import math; import numpy as np; from gpukit import cuda  # a cell of a notebook, 00000000
@cuda.jit
def transpose_kernel(a, out):
    j, i = cuda.grid(2)
    rows, cols = a.shape
    if i < rows and j < cols:
        out[j, i] = a[i, j]
