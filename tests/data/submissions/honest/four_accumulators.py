import numpy as np

from gpukit import cuda


@cuda.jit
def matmul_coarse_kernel(a, b, out):
    """Four variables instead of an array."""
    j = cuda.grid(2)[0]
    i = 4 * cuda.grid(2)[1]
    rows, cols = out.shape
    if j >= cols:
        return
    c0 = c1 = c2 = c3 = np.float32(0)
    for k in range(b.shape[0]):
        v = b[k, j]
        if i < rows:
            c0 += a[i, k] * v
        if i + 1 < rows:
            c1 += a[i + 1, k] * v
        if i + 2 < rows:
            c2 += a[i + 2, k] * v
        if i + 3 < rows:
            c3 += a[i + 3, k] * v
    if i < rows:
        out[i, j] = c0
    if i + 1 < rows:
        out[i + 1, j] = c1
    if i + 2 < rows:
        out[i + 2, j] = c2
    if i + 3 < rows:
        out[i + 3, j] = c3
