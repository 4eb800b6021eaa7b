"""gpukit.check and arrays that are made under an if, in a loop, or in a device function."""

import numpy as np
import pytest
from numba import float32

import gpukit
from gpukit import cuda
from tests.compiler.test_own_arrays import KERNELS, arguments

# Not worth a line here: what numba makes of `t + 1`, and what a kernel leaves alone on purpose.
BESIDE = {"float64"}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
@pytest.mark.costly
def test_nothing_is_found_in_a_right_kernel_and_its_result_is_the_same(kernel):
    a, out = arguments()
    kernel[2, 32](a, out)
    given, checked = arguments()
    report = gpukit.check(kernel)[2, 32](given, checked)
    assert {f.kind for f in report.findings} <= BESIDE
    np.testing.assert_array_equal(checked, out)


@cuda.jit
def unset_under_if(out):
    i = cuda.grid(1)
    if i >= 0:
        own = cuda.local.array(4, float32)
        own[0] = 1
        out[i] = own[1]


@cuda.jit
def unset_in_loop(out):
    i = cuda.grid(1)
    for k in range(3):
        own = cuda.local.array(4, float32)
        out[i] = own[k]
        own[k] = 1


@cuda.jit
def unset_in_one_branch(out):
    i = cuda.grid(1)
    if i % 2:
        own = cuda.local.array(4, float32)
        own[1] = 1
    else:
        own = cuda.local.array(8, float32)
    out[i] = own[1]


@cuda.jit
def unset_shared_in_loop(out):
    t = cuda.threadIdx.x
    for k in range(3):
        if k == 1:
            own = cuda.shared.array(64, float32)
            own[t] = 1
            cuda.syncthreads()
            out[cuda.grid(1)] = own[63 - t]


@cuda.jit
def unset_in_rebound_parameter(out):
    i = cuda.grid(1)
    given = out
    out = cuda.local.array(2, float32)
    given[i] = out[1]


UNSET = [
    (unset_under_if, "own", (1,)),
    (unset_in_loop, "own", (0,)),
    (unset_in_one_branch, "own", (1,)),
    (unset_shared_in_loop, "own", (63,)),
    (unset_in_rebound_parameter, "out", (1,)),
]


@pytest.mark.parametrize(("kernel", "array", "index"), UNSET, ids=lambda k: str(k))
@pytest.mark.costly
def test_read_of_what_nobody_wrote_is_found_under_the_arrays_own_name(kernel, array, index):
    report = gpukit.check(kernel)[2, 32](np.zeros(64, np.float32))
    kind = "uninitialised-shared" if "shared" in kernel.py_func.__name__ else "uninitialised-local"
    assert [(f.kind, f.array, f.index) for f in report.findings] == [(kind, array, index)]


@cuda.jit
def too_far_in_one_branch(out):
    i = cuda.grid(1)
    if i % 2:
        own = cuda.local.array(4, float32)
    else:
        own = cuda.local.array(8, float32)
    own[i % 6] = 1
    out[i] = 1


def test_index_is_outside_the_array_of_its_own_branch():
    report = gpukit.check(too_far_in_one_branch)[2, 32](np.zeros(64, np.float32))
    (found,) = [f for f in report.findings if f.kind == "out-of-bounds"]
    assert (found.array, found.index, found.count) == ("own", (5,), 10)


@cuda.jit(device=True)
def turned(v):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(64, float32)
    tile[t] = v
    cuda.syncthreads()
    return tile[63 - t]


@cuda.jit
def twice_in_a_row(a, out):
    t = cuda.threadIdx.x
    x = turned(a[t])
    out[t] = turned(x)


@cuda.jit
def twice_with_other_types(a, out):
    t = cuda.threadIdx.x
    x = turned(a[t])
    out[t] = x + turned(t)


def races(kernel):
    a = np.arange(64, dtype=np.float32)
    report = gpukit.check(kernel)[1, 64](a, np.zeros(64, np.float32))
    return [(f.kind, f.array) for f in report.findings if f.kind.endswith("race")]


def test_race_between_two_calls_of_a_function_with_one_shared_array_is_found():
    assert races(twice_in_a_row) == [("shared-race", "tile")]


def test_calls_with_other_types_have_each_a_shared_array_of_their_own():
    assert races(twice_with_other_types) == []
