"""Results of host functions: in `out` or a new array, never overlapping an input."""

import contextlib

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.results import Result, check_no_overlap
from tests.foreign import Foreign

NUMBERS = np.arange(20, dtype=np.float32)
DEVICE = cuda.to_device(NUMBERS)
# Two arrays, and whether their address ranges overlap.
OVERLAPPING = {
    "itself": (NUMBERS, NUMBERS, True),
    "a slice": (NUMBERS[3:5], NUMBERS, True),
    "its transpose": (NUMBERS.reshape(4, 5).T, NUMBERS, True),
    "reversed, overlapping": (NUMBERS[9::-1], NUMBERS[9:], True),
    "reversed, adjacent": (NUMBERS[8::-1], NUMBERS[9:], False),
    "adjacent": (NUMBERS[:9], NUMBERS[9:], False),
    "interleaved": (NUMBERS[::2], NUMBERS[1::2], True),
    "an empty slice": (NUMBERS[5:5], NUMBERS, False),
    "a copy": (NUMBERS.copy(), NUMBERS, False),
    "overlapping on the device": (DEVICE[2:], DEVICE[:3], True),
    "adjacent on the device": (DEVICE[3:], DEVICE[:3], False),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_an_out_that_overlaps_an_input_is_refused(name):
    out, array, overlap = OVERLAPPING[name]
    refused = pytest.raises(ValueError, match="f: expected out to lie apart from a, got one on")
    with refused if overlap else contextlib.nullcontext():
        check_no_overlap("f", out, a=array)


@pytest.mark.parametrize("array", [NUMBERS, DEVICE], ids=["numpy", "device"])
def test_an_elementwise_function_may_write_to_its_input(array):
    check_no_overlap("f", array[3:9], in_place=True, a=array[3:9])


@pytest.mark.parametrize("array", [NUMBERS, NUMBERS.reshape(4, 5)], ids=["vector", "matrix"])
@pytest.mark.parametrize("view", [lambda a: a[1:], lambda a: a[::-1], lambda a: a.T[:-1]])
def test_an_elementwise_function_may_not_write_to_a_shifted_input(array, view):
    with pytest.raises(ValueError, match="f: expected out to lie apart from a"):
        check_no_overlap("f", view(array), in_place=True, a=array)


def test_a_missing_out_is_allowed():
    check_no_overlap("f", None, a=NUMBERS)


def filled(result):
    """Fill the array of a result, as a kernel does, and return what a host function returns."""
    array = result.array
    array[:] = 7
    return result.get()


def test_the_result_of_host_arrays_is_a_numpy_array():
    array = filled(Result("f", None, (3,), np.float32, {"x": np.zeros(3)}))
    assert isinstance(array, np.ndarray)
    assert (array.dtype, array.tolist()) == (np.float32, [7, 7, 7])


def test_the_result_of_a_device_array_stays_on_the_device():
    array = filled(Result("f", None, (3,), np.float32, {"x": DEVICE}))
    assert launch.is_device_array(array)
    assert array.copy_to_host().tolist() == [7, 7, 7]


@pytest.mark.parametrize("kind", [lambda a: a, Foreign], ids=["numpy", "foreign"])
def test_the_result_is_out_itself_if_out_is_passed(kind):
    array = np.zeros(3, np.float32)
    out = kind(array)
    assert filled(Result("f", out, (3,), np.float32)) is out
    assert array.tolist() == [7, 7, 7]


def test_an_out_that_is_a_strided_view_is_written_in_place():
    whole = np.zeros(6, np.float32)
    filled(Result("f", whole[::2], (3,), np.float32))
    assert whole.tolist() == [7, 0, 7, 0, 7, 0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_flat_result_is_in_c_order_for_any_order_of_out(order):
    out = np.zeros((2, 3), np.float32, order=order)
    result = Result("f", out, (2, 3), np.float32)
    result.flat()[:] = np.arange(6, dtype=np.float32)
    assert result.get() is out
    assert out.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_flat_result_in_a_slice_does_not_change_the_rest_of_the_array():
    whole = np.zeros((2, 3), np.float32)
    result = Result("f", whole[:, 1:], (2, 2), np.float32)
    result.flat()[:] = np.arange(1, 5, dtype=np.float32)
    result.get()
    assert whole.tolist() == [[0, 1, 2], [0, 3, 4]]


def test_a_flat_result_in_a_contiguous_out_is_not_copied():
    out = np.zeros((2, 3), np.float32)
    assert np.shares_memory(Result("f", out, (2, 3), np.float32).flat(), out)


def test_a_flat_result_in_a_non_contiguous_device_array_is_refused():
    out = cuda.to_device(np.zeros((2, 3), np.float32))[:, 1:]
    with pytest.raises(ValueError, match="f: expected out in C order"):
        Result("f", out, (2, 2), np.float32).flat()


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros(3), TypeError, "f: expected out to be a float32 array, got float64"),
        (np.zeros(4, np.float32), ValueError, r"f: expected out.shape == \(3,\), got \(4,\)"),
        ([0, 0, 0], TypeError, "f: expected out to be a float32 array, got list"),
    ],
)
def test_an_out_of_another_type_or_shape_is_refused(out, error, message):
    with pytest.raises(error, match=message):
        Result("f", out, (3,), np.float32)


def test_a_read_only_out_is_refused():
    out = np.zeros(3, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="expected out to be writeable"):
        Result("f", out, (3,), np.float32)
