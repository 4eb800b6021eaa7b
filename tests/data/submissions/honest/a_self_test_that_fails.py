import numpy as np

from gpukit import cuda


@cuda.jit
def transpose_kernel(a, out):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[col, row] = a[row, col]


# My expected result is what is wrong here.
a = np.arange(6, dtype=np.float32).reshape(2, 3)
out = np.zeros((3, 2), np.float32)
transpose_kernel[(1, 1), (16, 16)](a, out)
np.testing.assert_array_equal(out, a)
