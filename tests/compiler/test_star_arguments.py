"""Arguments passed to `*args` of a device function are evaluated once, at the call."""

import numpy as np

from gpukit import cuda


@cuda.jit(device=True)
def first_after_a_store(a, *parts):
    t = cuda.threadIdx.x
    cuda.syncthreads()
    a[t] = 0
    cuda.syncthreads()
    return parts[0]


@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    out[t] = first_after_a_store(a, a[t] + 1)


def test_a_starred_argument_is_evaluated_at_the_call():
    out = np.full(4, np.nan)
    kernel[1, 4](np.arange(4.0), out)
    assert out.tolist() == [1, 2, 3, 4]
