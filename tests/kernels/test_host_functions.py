"""What every host function promises: `out`, `stream`, and results that lie where the inputs lie."""

import numpy as np
import pytest

from gpukit import cuda, launch
from tests.foreign import Foreign
from tests.kernels.host_functions import CASES, IN_PLACE, ONE, SEVERAL, overlapping

every_function = pytest.mark.parametrize("name", CASES)


@every_function
def test_result_of_numpy_arrays_is_a_numpy_array(name):
    function, arrays, shape = CASES[name]
    made = function(*arrays)
    assert isinstance(made, np.ndarray)
    assert made.shape == shape


@every_function
def test_result_is_written_to_out(name):
    function, arrays, shape = CASES[name]
    expected = function(*arrays)
    out = np.full(shape, np.nan if expected.dtype.kind == "f" else -1, expected.dtype)
    assert function(*arrays, out=out) is out
    np.testing.assert_array_equal(out, expected)


@every_function
@pytest.mark.costly
def test_result_in_a_part_of_an_array_leaves_the_rest_alone(name):
    function, arrays, shape = CASES[name]
    expected = function(*arrays)
    whole = np.full((*shape[:-1], shape[-1] + 3), 7, expected.dtype)
    function(*arrays, out=whole[..., 1:-2])
    np.testing.assert_array_equal(whole[..., 1:-2], expected)
    assert (whole[..., 0] == 7).all()
    assert (whole[..., -2:] == 7).all()


@pytest.mark.parametrize(("name", "at"), IN_PLACE)
def test_out_may_be_an_input_of_which_threads_read_their_own_element(name, at):
    function, arrays, _ = CASES[name]
    given, out = overlapping(name, at, 0)
    assert function(*given, out=out) is out
    np.testing.assert_array_equal(out, function(*arrays))


@every_function
def test_result_of_device_arrays_stays_on_the_device(name):
    function, arrays, _ = CASES[name]
    made = function(*map(cuda.to_device, arrays))
    assert launch.is_device_array(made) == bool(arrays)
    np.testing.assert_array_equal(launch.to_host(made), function(*arrays))


@every_function
def test_launch_goes_into_the_stream(name):
    function, arrays, _ = CASES[name]
    stream = cuda.stream()
    made = function(*arrays, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(made, function(*arrays))


# ---- host functions that return several arrays ----------------------------------------------

several = pytest.mark.parametrize("name", SEVERAL)


@several
@pytest.mark.costly
def test_several_results_of_device_arrays_stay_on_the_device(name):
    function, arrays = SEVERAL[name]
    made = function(*map(cuda.to_device, arrays))
    for ours, expected in zip(made, function(*arrays), strict=True):
        assert launch.is_device_array(ours)
        np.testing.assert_array_equal(launch.to_host(ours), expected)


@several
@pytest.mark.parametrize("first", [0, 1], ids=["all", "all but the first"])
@pytest.mark.costly
def test_several_results_are_written_to_the_arrays_given(name, first):
    function, arrays = SEVERAL[name]
    expected = function(*arrays)
    out = [np.full_like(result, np.nan) for result in expected]
    made = function(*arrays, out=(*[None] * first, *out[first:]))
    assert all(ours is given for ours, given in zip(made[first:], out[first:], strict=True))
    for ours, right in zip(made, expected, strict=True):
        np.testing.assert_array_equal(ours, right)


# ---- host functions that return one number --------------------------------------------------

one_number = pytest.mark.parametrize("name", ONE)


@one_number
def test_one_number_is_a_scalar_of_numpy(name):
    function, arrays = ONE[name]
    assert isinstance(function(*arrays), np.generic)


@one_number
def test_one_number_of_device_arrays_is_that_of_numpy_arrays(name):
    function, arrays = ONE[name]
    moved = [cuda.to_device(np.ascontiguousarray(array)) for array in arrays]
    np.testing.assert_allclose(function(*moved), function(*arrays), rtol=1e-4)


@one_number
def test_one_number_is_there_when_a_call_in_a_stream_returns(name):
    function, arrays = ONE[name]
    made = function(*arrays, stream=cuda.stream())
    np.testing.assert_allclose(made, getattr(np, name)(*arrays), rtol=1e-4)


@one_number
def test_one_number_of_arrays_of_another_library_is_taken(name):
    function, arrays = ONE[name]
    foreign = [Foreign(array) for array in arrays]
    np.testing.assert_allclose(function(*foreign), getattr(np, name)(*arrays), rtol=1e-4)
