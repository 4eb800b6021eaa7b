"""`cuda.vectorize` behaves as on Numba's CUDA target."""

import math

import numba
import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.cpu import ufuncs
from gpukit.cpu.memory.ndarray import DeviceNDArray

SIGNATURES = ["int32(int32, int32)", "float32(float32, float32)", "float64(float64, float64)"]


@ufuncs.vectorize(SIGNATURES)
def add(a, b):
    return a + b


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_vectorize_returns_the_type_of_the_matching_signature(dtype):
    a = np.arange(7, dtype=dtype)
    assert add(a, a).dtype == dtype
    np.testing.assert_array_equal(add(a, a), a + a)


def test_vectorize_of_scalars_returns_a_scalar():
    assert add(1.2, 2.3) == 3.5


def test_vectorize_of_tuples_returns_an_array():
    np.testing.assert_array_equal(add((1.0, 2.0), (3.0, 4.0)), [4, 6])


def test_vectorize_of_a_device_array_returns_a_device_array():
    a = np.arange(5, dtype=np.int32)
    result = add(cuda.to_device(a), a, stream=cuda.stream())
    assert isinstance(result, DeviceNDArray)
    np.testing.assert_array_equal(result.copy_to_host(), a + a)


def test_vectorize_writes_to_out():
    a, out = np.arange(5, dtype=np.float32), np.full(5, np.nan, np.float32)
    assert add(a, a, out=out) is out
    np.testing.assert_array_equal(out, a + a)


def test_vectorize_writes_to_a_device_array():
    d_a = cuda.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
    add(d_a, d_a, out=d_a)
    np.testing.assert_array_equal(d_a.copy_to_host(), [[0, 2, 4], [6, 8, 10]])


SHAPES = [
    [(5,), ()],
    [(3, 1), (1, 4)],
    [(3, 4), (4,)],
    [(3, 1, 2), (4, 1)],
    [(2, 300), (300,)],
    [(2, 1), (1, 300)],
    [(2, 3, 200), (3, 1)],
    [(4, 1, 3, 130), (4, 1, 1, 130)],
    [(2, 1, 3, 1, 130), (3, 5, 1)],
    [(1,), (1, 1)],
    [(0, 3), (3,)],
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.costly
def test_vectorize_broadcasts_as_numpy_does(shapes):
    one, other = (np.arange(math.prod(s), dtype=np.float64).reshape(s) for s in shapes)
    assert add(one, other).shape == (one + other).shape
    np.testing.assert_array_equal(add(one, other), one + other)


def test_vectorize_accepts_arrays_in_any_memory_order():
    a = np.arange(24.0).reshape(4, 6)
    b = a + 100
    for one, other in ((a.T, b.T), (a[::-1], b[:, ::-1]), (a[::2, 1], b[1::2, 2])):
        np.testing.assert_array_equal(add(one, other), one + other)


def test_vectorize_writes_to_a_slice_of_an_array():
    a, out = np.arange(5, dtype=np.float32), np.full((5, 2), np.nan, np.float32)
    add(a, a, out=out[:, 1])
    np.testing.assert_array_equal(out[:, 1], a + a)
    assert np.isnan(out[:, 0]).all()


def test_vectorize_refuses_an_output_of_another_shape():
    with pytest.raises(ValueError, match=r"output shape mismatch: expected \(5,\), got \(1,\)"):
        add(np.zeros(5), np.zeros(5), out=np.zeros(1))


@pytest.mark.parametrize("number", [0.1, 3, np.float64(0.1), np.int16(7)], ids=repr)
def test_vectorize_casts_a_scalar_to_the_type_of_the_arrays(number):
    a = np.arange(5, dtype=np.float32)
    assert add(a, number).dtype == np.float32
    np.testing.assert_array_equal(add(a, number), a + np.float32(number))


def test_vectorize_casts_a_float_to_the_integer_type_of_an_array():
    a = np.arange(5, dtype=np.int32)
    result = add(15.0, a)
    assert (result.dtype, result.tolist()) == (np.int32, [15, 16, 17, 18, 19])


def test_vectorize_accepts_scalars_of_exactly_the_types_of_a_signature():
    assert add(np.float32(1.5), np.float32(2)).dtype == np.float32
    assert add(np.int32(1), np.int32(2)).dtype == np.int32


def test_vectorize_refuses_scalars_that_match_several_signatures():
    with pytest.raises(TypeError, match=r"the number 1, the number 2\.0\) fit 3 signatures"):
        add(1, 2.0)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float16], ids=str)
def test_vectorize_refuses_to_cast_an_array(dtype):
    with pytest.raises(TypeError, match="Arrays must have exactly the types of a signature"):
        add(np.zeros(3, dtype), 1)


def test_vectorize_infers_the_type_of_the_result():
    @cuda.vectorize([(numba.float32, numba.float32)])
    def quotient(a, b):
        return a / b

    result = quotient(np.float32([1, 2]), np.float32([4, 4]))
    assert (result.dtype, result.tolist()) == (np.float32, [0.25, 0.5])


def test_vectorize_casts_the_result_to_the_type_of_its_signature():
    @cuda.vectorize(["int32(float64)"])
    def whole(i):
        return i * 1.75

    out = np.zeros(3)
    assert whole(np.arange(3.0), out=out) is out
    assert out.tolist() == [0, 1, 3]


def test_vectorize_accepts_parameters_of_any_name():
    @cuda.vectorize(["float64(float64, float64, float64, float64)"])
    def i(out, cuda, function, i):
        return out + 10 * cuda + 100 * function + 1000 * i

    assert i(*np.arange(4.0).reshape(4, 1)) == 3210


def test_vectorize_accepts_a_lambda():
    double = cuda.vectorize(["float64(float64)"])(lambda x: 2 * x)
    np.testing.assert_array_equal(double(np.arange(3.0)), [0, 2, 4])


@pytest.mark.parametrize("size", [1, 8, 1025])
def test_reduce_of_a_ufunc_keeps_the_dtype(size):
    a = np.arange(size, dtype=np.int32)
    result = add.reduce(cuda.to_device(a))
    assert (result, result.dtype) == (a.sum(), np.int32)


def test_reduce_of_an_empty_array_is_refused():
    with pytest.raises(TypeError, match="empty array"):
        add.reduce(np.empty(0, np.int32))


def test_vectorize_can_call_a_device_function():
    @cuda.jit(device=True)
    def power(x, y):
        return x**y

    @cuda.vectorize(["float32(float32, float32)"], target="cuda")
    def ratio(x, y):
        return power(x, y) / y

    x, y = np.float32([1, 2, 3]), np.float32([3, 2, 1])
    np.testing.assert_allclose(ratio(x, y), x**y / y, rtol=1e-6)


def test_vectorize_keeps_the_name_and_the_function():
    @cuda.vectorize("f8(f8)")
    def bar(x):
        return math.sin(x)

    assert bar.__name__ == "bar"
    assert bar.py_func(0.0) == 0.0


def test_vectorize_without_signatures_says_what_to_write():
    with pytest.raises(errors.ArgumentError, match="expected signatures such as"):
        cuda.vectorize(lambda x: x)


def test_vectorize_refuses_types_that_match_no_signature():
    with pytest.raises(TypeError, match="no matching signature for"):
        add(np.zeros(3, complex), np.zeros(3, complex))


def test_vectorize_refuses_to_cast_a_device_array():
    d_a = cuda.to_device(np.arange(3, dtype=np.int16))
    with pytest.raises(TypeError, match=r"does not support \.astype\(\)"):
        add(d_a, d_a)


def test_vectorize_warns_that_nopython_is_redundant():
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize(["f4(f4)"], nopython=True)


def test_vectorize_refuses_unknown_options():
    with pytest.raises(KeyError, match="Unrecognized options"):
        cuda.vectorize(["f4(f4)"], nonexistent=2)
