"""Bit-counting functions treat a thread index as the 32-bit integer that it is on a GPU."""

import numpy as np
import pytest

from gpukit import cuda


@cuda.jit
def clz_of_variable(out):
    i = cuda.threadIdx.x
    out[i] = cuda.clz(i)


@cuda.jit
def clz_of_expression(out):
    out[cuda.threadIdx.x] = cuda.clz(cuda.threadIdx.x)


@pytest.mark.parametrize("kernel", [clz_of_variable, clz_of_expression])
def test_clz_of_a_thread_index_counts_in_32_bits(kernel):
    out = np.full(9, -1)
    kernel[1, 9](out)
    assert out.tolist() == [32, 31, 30, 30, 29, 29, 29, 29, 28]
