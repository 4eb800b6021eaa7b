"""Array functions (vectorize, guvectorize) under check, profile and play."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from gpukit.checked import process

N = 300


@cuda.vectorize(["float32(float32, float32)"])
def add(x, y):
    return x + y


@cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->()")
def summed(x, out):
    for i in range(x.shape[0]):
        out[0] += x[i]


@cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
def moved(x, out):
    for i in range(x.shape[0]):
        out[i + 1] = x[i]


def numbers(*shape):
    return np.ones(shape, np.float32)


def test_correct_array_function_has_no_findings():
    report = gpukit.check(add)(numbers(N), numbers(N))
    assert (report.findings, report.kernel, report.grid) == ([], "add", (2, 1, 1))


def test_a_checked_array_function_writes_its_output():
    out = np.full(N, np.nan, np.float32)
    gpukit.check(add)(numbers(N), 2, out=out)
    np.testing.assert_array_equal(out, np.full(N, 3))


def test_out_of_bounds_access_to_a_subarray_is_found():
    (found,) = gpukit.check(moved)(numbers(3, 5)).errors
    assert (found.kind, found.index, found.count) == ("out-of-bounds", (5,), 3)
    assert (found.kernel, found.source.strip()) == ("moved", "out[i + 1] = x[i]")


def test_uninitialised_read_of_an_output_is_found():
    (found,) = gpukit.check(summed)(numbers(3, 5)).errors
    assert (found.kind, found.array) == ("uninitialised-global", "out")


def test_array_function_that_overwrites_what_others_read_races():
    memory = cuda.to_device(numbers(N))
    report = gpukit.check(add)(memory[1:], memory[:-1], out=memory[1:])
    assert {f.kind for f in report.errors} == {"global-race"}


def test_profile_counts_the_bytes_an_array_function_moves():
    total = gpukit.profile(add)(numbers(N), numbers(N)).total
    assert total["global_bytes_asked"] == 3 * N * 4


def test_every_call_in_a_checked_process_is_checked():
    with process.checking() as reports:
        add(numbers(N), numbers(N))
        summed(numbers(2, 4))
        add.reduce(numbers(4))
    assert [r.kernel for r in reports] == ["add", "summed", "add", "add"]


def test_launch_configuration_for_an_array_function_is_rejected():
    with pytest.raises(errors.LaunchError, match=r"write gpukit\.check\(add\)\(\*arguments\)"):
        gpukit.check(add)[1, 32]


def test_array_function_call_without_elements_is_rejected():
    with pytest.raises(errors.LaunchError, match="add was called with no elements"):
        gpukit.check(add)(numbers(0), numbers(0))
