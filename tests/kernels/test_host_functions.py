"""Contract of all host functions: `out`, `stream`, and results in the memory of the inputs."""

import operator

import numpy as np
import pytest

from gpukit import cuda, launch
from tests.foreign import Foreign
from tests.kernels.host_functions import CASES, IN_PLACE, ONE, SEVERAL, overlapping

every_function = pytest.mark.parametrize("name", CASES)


@every_function
def test_result_of_numpy_arrays_is_a_numpy_array(name):
    function, arrays, shape = CASES[name]
    actual = function(*arrays)
    assert isinstance(actual, np.ndarray)
    assert actual.shape == shape


@every_function
def test_result_is_written_to_out(name):
    function, arrays, shape = CASES[name]
    expected = function(*arrays)
    out = np.full(shape, np.nan if expected.dtype.kind == "f" else -1, expected.dtype)
    assert function(*arrays, out=out) is out
    np.testing.assert_array_equal(out, expected)


@every_function
@pytest.mark.costly
def test_result_in_an_array_slice_leaves_the_rest_unchanged(name):
    function, arrays, shape = CASES[name]
    expected = function(*arrays)
    whole = np.full((*shape[:-1], shape[-1] + 3), 7, expected.dtype)
    function(*arrays, out=whole[..., 1:-2])
    np.testing.assert_array_equal(whole[..., 1:-2], expected)
    assert (whole[..., 0] == 7).all()
    assert (whole[..., -2:] == 7).all()


@pytest.mark.parametrize(("name", "at"), IN_PLACE)
def test_out_may_be_an_input_when_each_thread_reads_only_its_own_element(name, at):
    function, arrays, _ = CASES[name]
    inputs, out = overlapping(name, at, 0)
    assert function(*inputs, out=out) is out
    np.testing.assert_array_equal(out, function(*arrays))


@every_function
def test_result_of_device_arrays_stays_on_the_device(name):
    function, arrays, _ = CASES[name]
    actual = function(*map(cuda.to_device, arrays))
    assert launch.is_device_array(actual) == bool(arrays)
    np.testing.assert_array_equal(launch.to_host(actual), function(*arrays))


@every_function
def test_launch_is_enqueued_on_the_stream(name):
    function, arrays, _ = CASES[name]
    stream = cuda.stream()
    actual = function(*arrays, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(actual, function(*arrays))


# ---- host functions that return several arrays ----------------------------------------------

several = pytest.mark.parametrize("name", SEVERAL)


@several
@pytest.mark.costly
def test_several_results_of_device_arrays_stay_on_the_device(name):
    function, arrays = SEVERAL[name]
    actual = function(*map(cuda.to_device, arrays))
    for result, expected in zip(actual, function(*arrays), strict=True):
        assert launch.is_device_array(result)
        np.testing.assert_array_equal(launch.to_host(result), expected)


@several
@pytest.mark.parametrize("first", [0, 1], ids=["all", "all but the first"])
@pytest.mark.costly
def test_several_results_are_written_to_out(name, first):
    function, arrays = SEVERAL[name]
    expected = function(*arrays)
    out = [np.full_like(result, np.nan if result.dtype.kind == "f" else 77) for result in expected]
    actual = function(*arrays, out=(*[None] * first, *out[first:]))
    assert all(map(operator.is_, actual[first:], out[first:]))
    for result, reference in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(result, reference)


# ---- host functions that return a scalar ----------------------------------------------------

scalar_functions = pytest.mark.parametrize("name", ONE)


@scalar_functions
def test_scalar_result_is_a_numpy_scalar(name):
    function, arrays = ONE[name]
    assert isinstance(function(*arrays), np.generic)


@scalar_functions
def test_scalar_result_of_device_arrays_equals_that_of_numpy_arrays(name):
    function, arrays = ONE[name]
    moved = [cuda.to_device(np.ascontiguousarray(array)) for array in arrays]
    np.testing.assert_allclose(function(*moved), function(*arrays), rtol=1e-4)


@scalar_functions
def test_scalar_result_is_complete_when_a_call_with_a_stream_returns(name):
    function, arrays = ONE[name]
    actual = function(*arrays, stream=cuda.stream())
    np.testing.assert_allclose(actual, getattr(np, name)(*arrays), rtol=1e-4)


@scalar_functions
def test_scalar_functions_accept_arrays_of_other_libraries(name):
    function, arrays = ONE[name]
    foreign = [Foreign(array) for array in arrays]
    np.testing.assert_allclose(function(*foreign), getattr(np, name)(*arrays), rtol=1e-4)
