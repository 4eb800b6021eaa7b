"""Where results go: into `out` or a new array, and never onto an input that is still read."""

import contextlib

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.results import Result, check_no_overlap
from tests.foreign import Foreign

NUMBERS = np.arange(20, dtype=np.float32)
DEVICE = cuda.to_device(NUMBERS)
# Two arrays, and whether their stretches of memory meet.
MEETING = {
    "itself": (NUMBERS, NUMBERS, True),
    "a part": (NUMBERS[3:5], NUMBERS, True),
    "its transpose": (NUMBERS.reshape(4, 5).T, NUMBERS, True),
    "backwards": (NUMBERS[9::-1], NUMBERS[9:], True),
    "up to it": (NUMBERS[8::-1], NUMBERS[9:], False),
    "the element after": (NUMBERS[:9], NUMBERS[9:], False),
    "interleaved": (NUMBERS[::2], NUMBERS[1::2], True),
    "nothing of it": (NUMBERS[5:5], NUMBERS, False),
    "a copy": (NUMBERS.copy(), NUMBERS, False),
    "on the device": (DEVICE[2:], DEVICE[:3], True),
    "side by side on the device": (DEVICE[3:], DEVICE[:3], False),
}


@pytest.mark.parametrize("name", MEETING)
def test_check_apart_finds_arrays_that_share_memory(name):
    out, array, meet = MEETING[name]
    refused = pytest.raises(ValueError, match="f: expected out to lie apart from a, got one on")
    with refused if meet else contextlib.nullcontext():
        check_no_overlap("f", out, a=array)


@pytest.mark.parametrize("array", [NUMBERS, DEVICE], ids=["numpy", "device"])
def test_check_apart_lets_the_input_itself_pass_when_each_thread_keeps_to_its_element(array):
    check_no_overlap("f", array[3:9], in_place=True, a=array[3:9])


@pytest.mark.parametrize("array", [NUMBERS, NUMBERS.reshape(4, 5)], ids=["vector", "matrix"])
@pytest.mark.parametrize("view", [lambda a: a[1:], lambda a: a[::-1], lambda a: a.T[:-1]])
def test_check_apart_refuses_elements_on_others_even_then(array, view):
    with pytest.raises(ValueError, match="f: expected out to lie apart from a"):
        check_no_overlap("f", view(array), in_place=True, a=array)


def test_check_apart_lets_no_out_pass():
    check_no_overlap("f", None, a=NUMBERS)


def filled(result):
    """What a kernel does with the array of a result, and what the host function returns."""
    array = result.array
    array[:] = 7
    return result.get()


def test_result_of_host_arrays_is_a_numpy_array():
    made = filled(Result("f", None, (3,), np.float32, {"x": np.zeros(3)}))
    assert isinstance(made, np.ndarray)
    assert (made.dtype, made.tolist()) == (np.float32, [7, 7, 7])


def test_result_of_a_device_array_stays_on_the_device():
    made = filled(Result("f", None, (3,), np.float32, {"x": DEVICE}))
    assert launch.is_device_array(made)
    assert made.copy_to_host().tolist() == [7, 7, 7]


@pytest.mark.parametrize("kind", [lambda a: a, Foreign], ids=["numpy", "foreign"])
def test_result_is_out_itself_where_it_is_given(kind):
    array = np.zeros(3, np.float32)
    out = kind(array)
    assert filled(Result("f", out, (3,), np.float32)) is out
    assert array.tolist() == [7, 7, 7]


def test_out_of_a_strided_view_is_written_in_place():
    whole = np.zeros(6, np.float32)
    filled(Result("f", whole[::2], (3,), np.float32))
    assert whole.tolist() == [7, 0, 7, 0, 7, 0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_result_is_written_in_c_order_whatever_the_order_of_out(order):
    out = np.zeros((2, 3), np.float32, order=order)
    result = Result("f", out, (2, 3), np.float32)
    result.flat()[:] = np.arange(6, dtype=np.float32)
    assert result.get() is out
    assert out.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_flat_result_in_a_part_of_an_array_leaves_the_rest_alone():
    whole = np.zeros((2, 3), np.float32)
    result = Result("f", whole[:, 1:], (2, 2), np.float32)
    result.flat()[:] = np.arange(1, 5, dtype=np.float32)
    result.get()
    assert whole.tolist() == [[0, 1, 2], [0, 3, 4]]


def test_flat_result_needs_no_copy_when_out_is_contiguous():
    out = np.zeros((2, 3), np.float32)
    assert np.shares_memory(Result("f", out, (2, 3), np.float32).flat(), out)


def test_flat_result_refuses_a_device_array_in_another_order():
    out = cuda.to_device(np.zeros((2, 3), np.float32))[:, 1:]
    with pytest.raises(ValueError, match="f: expected out in C order"):
        Result("f", out, (2, 2), np.float32).flat()


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros(3), TypeError, "f: expected out to be a float32 array, got float64"),
        (np.zeros(4, np.float32), ValueError, r"f: expected out.shape == \(3,\), got \(4,\)"),
        ([0, 0, 0], TypeError, "f: expected out to be a float32 array, got list"),
    ],
)
def test_out_that_cannot_take_the_result_is_refused(out, error, words):
    with pytest.raises(error, match=words):
        Result("f", out, (3,), np.float32)


def test_read_only_out_is_refused():
    out = np.zeros(3, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="expected out to be writeable"):
        Result("f", out, (3,), np.float32)


# ---- the grid of a variant ----------------------------------------------------------------------
