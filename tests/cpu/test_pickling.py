"""Kernels and device functions in another process, or copied."""

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


def made(amount, table):
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


@pytest.mark.parametrize("of", [double_kernel, doubled], ids=["kernel", "device function"])
def test_function_of_a_module_is_found_there_when_it_is_unpickled(of):
    assert pickle.loads(pickle.dumps(of)) is of


@pytest.mark.parametrize(
    "way", [lambda k: pickle.loads(pickle.dumps(k)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_kernel_brings_along_what_it_captured_when_no_module_has_it(way):
    kernel = way(made(10.0, np.array([1.0])))
    assert launched(kernel) == [20.0, 40.0, 60.0, 80.0, 100.0]
    assert kernel.specialized


SENT = """
import pathlib, pickle, sys
kernels = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())
import numpy as np
for kernel in kernels:
    a = np.arange(5.0)
    kernel[1, 8](a)
    print(a.tolist())
"""


def made_by_exec():
    text = "@cuda.jit\ndef set_kernel(a):\n    a[cuda.grid(1) % 5] = 7"
    scope = {"cuda": cuda}
    exec(text, scope)
    return scope["set_kernel"]


def test_kernels_run_in_another_process_when_they_were_sent_there(tmp_path, fresh_python):
    path = tmp_path / "kernels.pickle"
    path.write_bytes(pickle.dumps([made(1.0, np.array([2.0])), made_by_exec()]))
    result = fresh_python("-c", SENT, str(path))
    assert result.stdout == "[4.0, 6.0, 8.0, 10.0, 12.0]\n[7.0, 7.0, 7.0, 7.0, 7.0]\n", (
        result.stderr
    )
