"""Atomics on memory that other blocks see are atomic instructions: blocks run on several cores."""

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
def test_an_atomic_on_an_argument_is_an_atomic_instruction(kernel):
    (text,) = kernel.inspect_llvm().values()
    assert "atomicrmw add" in text
    total = np.zeros(1, np.int64)
    kernel[100, 64](total)
    assert total[0] == 6400
