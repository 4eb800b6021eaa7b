"""Kernels in plain Python do what compiled ones do: integers wrap around, words have four int8."""

import numpy as np

from gpukit.course import Case, interpreter
from gpukit.primitives.dot4 import dot4

STORING = """
from gpukit import cuda

@cuda.jit
def kernel(x, q):
    i = cuda.grid(1)
    q[i] = x[i]
"""
OF_WORDS = """
from gpukit import cuda
from gpukit.primitives.dot4 import dot4

@cuda.jit
def kernel(x, y, out):
    i = cuda.grid(1)
    out[i] = dot4(x[i], y[i], i)
"""


def left(text, output, **arrays):
    case = Case(arrays, 1, len(arrays[output]), {output: arrays[output]})
    return interpreter.launch(text, "kernel", case)[output]


def test_a_stored_integer_wraps_around_as_in_a_kernel():
    x = np.array([127, 128, -129, 300], np.int32)
    assert left(STORING, "q", x=x, q=np.zeros(4, np.int8)).tolist() == [127, -128, 127, 44]


def test_a_stored_float_is_cut_off_towards_zero_as_in_a_kernel():
    x = np.array([1.9, -1.9, 0.5], np.float32)
    assert left(STORING, "q", x=x, q=np.zeros(3, np.int8)).tolist() == [1, -1, 0]


def test_dot4_is_that_of_the_primitives():
    rng = np.random.default_rng(5)
    x, y = rng.integers(-128, 128, (2, 28)).astype(np.int8).view(np.int32)
    found = left(OF_WORDS, "out", x=x, y=y, out=np.zeros(7, np.int32))
    assert found.tolist() == [int(dot4.py_func(x[i], y[i], i)) for i in range(7)]
