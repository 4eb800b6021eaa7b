"""gpukit.check on arrays declared in an if, in a loop or in a device function."""

import numpy as np
import pytest
from numba import float32

import gpukit
from gpukit import cuda
from tests.compiler.test_own_arrays import KERNELS, arguments

# Irrelevant here: the type that Numba infers for `t + 1`.
IGNORED = {"float64"}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
@pytest.mark.costly
def test_correct_kernel_has_no_findings_and_the_result_of_a_plain_launch(kernel):
    a, out = arguments()
    kernel[2, 32](a, out)
    inputs, checked = arguments()
    report = gpukit.check(kernel)[2, 32](inputs, checked)
    assert {f.kind for f in report.findings} <= IGNORED
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
    inputs = out
    out = cuda.local.array(2, float32)
    inputs[i] = out[1]


UNSET = [
    (unset_under_if, "own", (1,)),
    (unset_in_loop, "own", (0,)),
    (unset_in_one_branch, "own", (1,)),
    (unset_shared_in_loop, "own", (63,)),
    (unset_in_rebound_parameter, "out", (1,)),
]


@pytest.mark.parametrize(("kernel", "array", "index"), UNSET, ids=lambda k: str(k))
@pytest.mark.costly
def test_uninitialised_read_is_reported_with_the_name_of_the_array(kernel, array, index):
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


def test_out_of_bounds_index_refers_to_the_array_of_the_branch_taken():
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


def test_race_between_two_calls_of_a_function_on_its_shared_array_is_found():
    assert races(twice_in_a_row) == [("shared-race", "tile")]


def test_calls_with_different_types_have_separate_shared_arrays():
    assert races(twice_with_other_types) == []
