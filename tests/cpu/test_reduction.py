"""`cuda.reduce` combines every element once, for any size."""

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.checked import process
from gpukit.cpu import reduction
from gpukit.cpu.memory import arrays

add = reduction.Reduce(lambda a, b: a + b)
SIZES = [0, 1, 2, 15, 1023, 1024, 1025, 34567]


@pytest.mark.parametrize("size", SIZES)
def test_reduce_adds_up_every_element(size):
    a = np.arange(size, dtype=np.float64) + 1
    assert add(a) == a.sum()


def test_reduce_accepts_device_arrays():
    assert add(arrays.to_device(np.arange(10))) == 45


def test_reduce_starts_from_init():
    assert add(np.arange(5.0), init=3) == 13


def test_reduce_stops_after_size_elements():
    assert add(np.arange(10), size=4) == 6


def test_reduce_of_an_empty_array_is_init_in_the_arrays_dtype():
    result = add(np.empty(0, np.float32), init=3)
    assert (result, result.dtype) == (3, np.float32)


def test_reduce_writes_to_res_and_returns_none():
    res = arrays.device_array(1, np.float64)
    assert add(np.arange(5.0), res=res) is None
    assert res[0] == 10


def test_reduce_of_float32_is_more_accurate_than_one_running_sum():
    a = np.full(2**20, 0.1, np.float32)
    exact = a.astype(np.float64).sum()
    assert not abs(add(a) - exact) > 1e-4 * exact


def test_reduce_refuses_two_axes():
    with pytest.raises(TypeError, match="1D"):
        add(np.zeros((2, 2)))


def test_reduce_by_max_returns_the_largest_element():
    largest = reduction.Reduce(lambda a, b: max(a, b))
    assert largest(np.array([3.0, 9.0, 1.0])) == 9


def test_reduce_can_call_a_device_function():
    @cuda.jit(device=True)
    def smaller(a, b):
        return a if a < b else b

    assert cuda.reduce(smaller)(np.array([3.0, 9.0, 1.0]), init=100) == 1
    assert cuda.Reduce(lambda a, b: smaller(a, b))(np.array([3.0, 9.0]), init=100) == 3


TABLE = np.arange(4)


def test_reduce_refuses_to_read_past_a_captured_table():
    largest = cuda.Reduce(lambda a, b: TABLE[max(a, b)])
    assert largest(np.arange(4)) == 3
    with pytest.raises(errors.OutOfBounds, match="index 4 is outside TABLE"):
        largest(np.arange(5))


def test_reduce_is_checked_in_checked_mode():
    with process.checking() as reports:
        add(np.arange(2000.0))
    assert [(r.kernel, r.findings) for r in reports] == [
        ("reduce_chunks", []),
        ("reduce_parts", []),
    ]
