"""What LLVM is told of a kernel's own arrays: that a store to one leaves the others as they are."""

import numpy as np
import pytest

from gpukit import cuda
from gpukit.compiler import optimise
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@pytest.fixture
def optimised(monkeypatch):
    """Collect the code of the kernels that a test launches, as LLVM optimised it."""
    found = []
    genuine = optimise._Rounds._optimize_final_module

    def listen(self):
        genuine(self)
        found.append(str(self._final_module))

    monkeypatch.setenv("GPUKIT_CACHE", "0")
    monkeypatch.setattr(optimise._Rounds, "_optimize_final_module", listen)
    return found


def promises(text):
    return text.count("@gpukit_distinct(")


def test_local_arrays_that_outlive_a_barrier_are_promised_to_lie_apart(optimised):
    @cuda.jit
    def without_kernel(out):
        tile = cuda.shared.array(8, np.float32)
        tile[cuda.threadIdx.x] = out[cuda.threadIdx.x]
        cuda.syncthreads()
        out[cuda.threadIdx.x] = tile[7 - cuda.threadIdx.x]

    @cuda.jit
    def with_two_kernel(out):
        tile = cuda.shared.array(8, np.float32)
        first = cuda.local.array(4, np.float32)
        second = cuda.local.array(4, np.float32)
        for k in range(4):
            first[k] = second[k] = out[k]
        tile[cuda.threadIdx.x] = out[cuda.threadIdx.x]
        cuda.syncthreads()
        for k in range(4):
            first[k] += second[k] * tile[k]
        out[cuda.threadIdx.x] = first[cuda.threadIdx.x % 4]

    for kernel in (without_kernel, with_two_kernel):
        kernel[1, 8](np.ones(8, np.float32))
    without, with_two = map(promises, optimised)
    assert with_two == without + 2
