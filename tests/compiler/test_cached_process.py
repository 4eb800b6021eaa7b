"""A process that loads a kernel from the disk cache launches it without importing Numba."""

import pytest

from tests.safety.attempt import on_cpu

pytestmark = on_cpu

PROGRAM = """
import sys

import numpy as np

from gpukit import cuda


@cuda.jit
def kernel(a):
    a[cuda.grid(1)] += 1


a = np.zeros(3)
kernel[1, 3](a)
assert a.tolist() == [1, 1, 1]
print("numba" in sys.modules)
"""


@pytest.mark.slow
def test_a_cached_kernel_runs_in_a_process_without_numba(fresh_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    runs = [fresh_python(str(program), GPUKIT_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)]
    assert [(done.stdout.strip(), done.stderr) for done in runs] == [("True", ""), ("False", "")]
