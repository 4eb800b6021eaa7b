"""Loop bounds of block-stride loops, at the limits of 64-bit arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gpukit import cuda, errors
from gpukit.compiler.runtime import bounds

LEAST, LARGEST = -(1 << 63), (1 << 63) - 1
words = st.integers(LEAST, LARGEST) | st.integers(-70, 70)
sizes = st.integers(1, LARGEST) | st.integers(1, 70)


@njit
def ahead_of(end, count):
    return bounds.ahead_of(end, count)


@njit
def end_of_groups(start, end, step, size):
    return bounds.end_of_groups(start, end, step, size)


@given(words, st.integers(0, LARGEST))
def test_ahead_of_saturates_at_the_smallest_integer(end, count):
    assert ahead_of(end, count) == max(end - count, LEAST)


@given(words, words, sizes, st.integers(1, 5))
def test_end_of_groups_is_a_whole_number_of_groups_from_the_start(start, end, step, size):
    rounds = max(0, -((start - end) // step))
    found = start + rounds // size * size * step
    assert end_of_groups(start, end, step, size) == (found if found <= LARGEST else start)


@cuda.jit
def mark_kernel(n, out):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        out[i] += 1
    cuda.syncthreads()


@pytest.mark.parametrize("block", [1, 16, 31, 32, 33, 64, 65])
@pytest.mark.parametrize("n", [LEAST, LEAST + 5, -1, 0, 1, 16, 31, 32, 33, 63, 64, 65, 129, 200])
def test_a_block_stride_loop_visits_each_element_once(n, block):
    out = np.zeros(200, np.int64)
    mark_kernel[1, block](n, out)
    np.testing.assert_array_equal(out, np.arange(200) < n)


@cuda.jit
def shifted_kernel(x, n, shift, out):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        out[i] = x[i + shift] + x[i]
    cuda.syncthreads()


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 40])
@pytest.mark.parametrize("n", [1, 32, 64, 100])
def test_a_block_stride_loop_may_read_shifted_elements(n, shift):
    x, out = np.arange(200.0), np.full(n, np.nan)
    shifted_kernel[1, 32](x, n, shift, out)
    i = np.arange(n)
    np.testing.assert_array_equal(out, x[i + shift] + x[i])


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 63, 64, 65, 95, 99])
def test_an_index_past_the_end_is_found_in_any_round(size):
    with pytest.raises(errors.OutOfBounds) as caught:
        shifted_kernel[1, 32](np.zeros(size), 100, 0, np.zeros(100))
    assert caught.value.array == "x"
    assert caught.value.index == (size,)
    assert caught.value.thread == (size % 32, 0, 0)


@pytest.mark.parametrize("shift", [2**62, 2**63 - 20, 2**63 - 1, -(2**63), 1000])
def test_an_index_that_overflows_64_bits_is_found(shift):
    with pytest.raises(errors.OutOfBounds):
        shifted_kernel[1, 32](np.zeros(100), 100, shift, np.zeros(100))


@cuda.jit
def far_kernel(start, out):
    for i in range(start + 3 * cuda.threadIdx.x, np.int64(2**63 - 1), 2**62):
        out[cuda.threadIdx.x] += 1
    cuda.syncthreads()


@pytest.mark.parametrize("start", [0, 2**62, 2**63 - 90])
def test_a_range_that_ends_at_the_largest_integer_has_as_many_rounds_as_in_python(start):
    out = np.zeros(32, np.int64)
    far_kernel[1, 32](start, out)
    right = [len(range(start + 3 * x, LARGEST, 2**62)) for x in range(32)]
    np.testing.assert_array_equal(out, right)
