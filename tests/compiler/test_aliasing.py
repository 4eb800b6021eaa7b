"""Local arrays are marked for LLVM as not aliasing each other."""

import numpy as np
import pytest

from gpukit import cuda
from gpukit.compiler import optimise
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@pytest.fixture
def optimised(monkeypatch):
    """Collect the optimised LLVM IR of the kernels that a test launches."""
    found = []
    genuine = optimise._Rounds._optimize_final_module

    def record(self):
        genuine(self)
        found.append(str(self._final_module))

    monkeypatch.setenv("GPUKIT_CACHE", "0")
    monkeypatch.setattr(optimise._Rounds, "_optimize_final_module", record)
    return found


def marks(text):
    return text.count("@gpukit_distinct(")


def test_local_arrays_that_live_across_a_barrier_are_marked_as_not_aliasing(optimised):
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
    without, with_two = map(marks, optimised)
    assert with_two == without + 2
