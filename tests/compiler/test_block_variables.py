"""A block-uniform variable is updated only after all threads have read its old value."""

import numpy as np

from gpukit import cuda


@cuda.jit
def kernel(n, out):
    t = cuda.threadIdx.x
    out[t, 0] = n
    n = 3
    out[t, 1] = n
    n += cuda.blockDim.x
    out[t, 2] = n
    cuda.syncthreads()
    out[t, 3] = n


def test_each_thread_reads_the_value_that_a_uniform_variable_has_at_each_statement():
    out = np.full((5, 4), np.nan)
    kernel[1, 5](7, out)
    assert out.tolist() == [[7, 3, 8, 8]] * 5
