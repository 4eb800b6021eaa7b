"""Atomics on global memory compile to atomic instructions, as blocks run on several cores."""

import numpy as np
import pytest

from gpukit import cuda
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@cuda.jit(device=True)
def count(total):
    cuda.atomic.add(total, 0, 1)


@cuda.jit("void(int64[::1])")
def in_device_function(total):
    count(total)


@cuda.jit("void(int64[::1])")
def in_kernel(total):
    cuda.atomic.add(total, 0, 1)


@pytest.mark.parametrize("kernel", [in_kernel, in_device_function])
def test_an_atomic_on_an_argument_compiles_to_an_atomic_instruction(kernel):
    (text,) = kernel.inspect_llvm().values()
    assert "atomicrmw add" in text
    total = np.zeros(1, np.int64)
    kernel[100, 64](total)
    assert total[0] == 6400


@cuda.jit
def extremes(values, results):
    value = values[cuda.grid(1)]
    cuda.atomic.max(results, 0, value)
    cuda.atomic.min(results, 1, value)
    cuda.atomic.max(results, 2, value)
    cuda.atomic.nanmax(results, 3, value)
    cuda.atomic.nanmin(results, 4, value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_max_and_min_never_replace_a_nan_and_nanmax_and_nanmin_do(dtype):
    results = np.array([-1.5, -1.5, np.nan, np.nan, np.nan], dtype)
    extremes[1, 3](np.array([-3, np.nan, 2.5], dtype), results)
    np.testing.assert_array_equal(results, [2.5, -3, np.nan, 2.5, -3])
