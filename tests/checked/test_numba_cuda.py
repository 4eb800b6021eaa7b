"""Kernels decorated by the real `numba.cuda`, as on a GPU machine, under the checker."""

import pytest

KERNEL = """
import numpy as np
from numba import cuda
import gpukit

@cuda.jit(device=True)
def neighbour(x, i):
    return x[i + 1] if i + 1 < x.shape[0] else x[i]

@cuda.jit
def shift_kernel(x, out):
    tile = cuda.shared.array(32, np.float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    tile[cuda.threadIdx.x] = neighbour(x, i)
    cuda.syncthreads()
    out[i] = tile[31 - cuda.threadIdx.x]

x, out = np.arange(64, dtype=np.float32), np.full(64, np.nan, np.float32)
"""
CHECKED = "report = gpukit.check(shift_kernel)[2, 32](x, out)\nprint(report.findings)"
PROFILED = """
profile = gpukit.profile(shift_kernel)[2, 32](x, out)
print(profile.total['global_store_requests'])
"""
ANSWER = "\nwant = np.minimum(np.arange(64) + 1, 63).reshape(2, 32)[:, ::-1].ravel()"
RIGHT = f"{ANSWER}\nassert (out == want).all(), out"


@pytest.fixture
def run(fresh_python, tmp_path):
    """Return a function that runs the kernel, followed by `lines`, and returns the output."""

    def script(lines):
        file = tmp_path / "script.py"
        file.write_text(KERNEL + lines + RIGHT, encoding="utf-8")
        # The built-in numba.cuda warns that it is deprecated in favour of the package numba-cuda.
        done = fresh_python("-W", "default", str(file), GPUKIT_TARGET="cpu")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return script


@pytest.mark.slow
def test_a_kernel_of_numba_cuda_is_checked(run):
    assert run(CHECKED) == "[]"


@pytest.mark.slow
def test_a_kernel_of_numba_cuda_is_profiled(run):
    assert run(PROFILED) == "2"
