"""Arguments that a device function takes as `*args` are computed once, when it is called."""

import numpy as np

from gpukit import cuda


@cuda.jit(device=True)
def first_behind_a_change(a, *parts):
    t = cuda.threadIdx.x
    cuda.syncthreads()
    a[t] = 0
    cuda.syncthreads()
    return parts[0]


@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    out[t] = first_behind_a_change(a, a[t] + 1)


def test_a_starred_argument_has_the_value_of_the_call():
    out = np.full(4, np.nan)
    kernel[1, 4](np.arange(4.0), out)
    assert out.tolist() == [1, 2, 3, 4]
