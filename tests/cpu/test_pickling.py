"""Pickling and copying of kernels and device functions."""

import copy
import pickle

import numpy as np
import pytest

from gpukit import cuda
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@cuda.jit(device=True)
def doubled(x):
    return x + x


@cuda.jit
def double_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = doubled(a[i])


def capturing_kernel(amount, table):
    """Return a kernel that captures a number, an array and a device function."""

    @cuda.jit(device=True)
    def shifted(x):
        return x + table[0]

    @cuda.jit("(float64[:],)")
    def shift_kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = doubled(shifted(a[i])) * amount

    return shift_kernel


def launched(kernel):
    a = np.arange(5.0)
    kernel[1, 8](a)
    return a.tolist()


@pytest.mark.parametrize("function", [double_kernel, doubled], ids=["kernel", "device function"])
def test_a_function_of_a_module_is_unpickled_by_reference(function):
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    "copied", [lambda k: pickle.loads(pickle.dumps(k)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_a_local_kernel_is_pickled_with_its_captured_values(copied):
    kernel = copied(capturing_kernel(10.0, np.array([1.0])))
    assert launched(kernel) == [20.0, 40.0, 60.0, 80.0, 100.0]
    assert kernel.specialized


PROGRAM = """
import pathlib, pickle, sys
kernels = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())
import numpy as np
for kernel in kernels:
    a = np.arange(5.0)
    kernel[1, 8](a)
    print(a.tolist())
"""


def kernel_from_exec():
    text = "@cuda.jit\ndef set_kernel(a):\n    a[cuda.grid(1) % 5] = 7"
    scope = {"cuda": cuda}
    exec(text, scope)
    return scope["set_kernel"]


def test_pickled_kernels_run_in_another_process(tmp_path, fresh_python):
    path = tmp_path / "kernels.pickle"
    path.write_bytes(pickle.dumps([capturing_kernel(1.0, np.array([2.0])), kernel_from_exec()]))
    result = fresh_python("-c", PROGRAM, str(path))
    assert result.stdout == "[4.0, 6.0, 8.0, 10.0, 12.0]\n[7.0, 7.0, 7.0, 7.0, 7.0]\n", (
        result.stderr
    )
