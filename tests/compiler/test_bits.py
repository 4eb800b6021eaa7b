"""Functions of bits take a thread's index as the 32-bit number that it is on a GPU."""

import numpy as np
import pytest

from gpukit import cuda


@cuda.jit
def of_variable(out):
    i = cuda.threadIdx.x
    out[i] = cuda.clz(i)


@cuda.jit
def of_expression(out):
    out[cuda.threadIdx.x] = cuda.clz(cuda.threadIdx.x)


@pytest.mark.parametrize("kernel", [of_variable, of_expression])
def test_leading_zeros_of_a_thread_index_are_those_of_32_bits(kernel):
    out = np.full(9, -1)
    kernel[1, 9](out)
    assert out.tolist() == [32, 31, 30, 30, 29, 29, 29, 29, 28]
