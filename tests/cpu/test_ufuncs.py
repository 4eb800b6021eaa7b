"""`cuda.vectorize` and `cuda.guvectorize` keep to the manners of the CUDA target."""

import math

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.cpu import ufuncs
from gpukit.cpu.ndarray import DeviceNDArray

SIGNATURES = ["int32(int32, int32)", "float32(float32, float32)", "float64(float64, float64)"]


@ufuncs.vectorize(SIGNATURES)
def add(a, b):
    return a + b


@ufuncs.guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@ufuncs.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
def add_first(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + y[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_vectorize_gives_the_type_of_the_signature_that_fits(dtype):
    a = np.arange(7, dtype=dtype)
    assert add(a, a).dtype == dtype
    np.testing.assert_array_equal(add(a, a), a + a)


def test_vectorize_broadcasts():
    a = np.arange(6.0).reshape(3, 1, 2)
    b = np.arange(4.0).reshape(4, 1)
    np.testing.assert_array_equal(add(a, b), a + b)


def test_vectorize_of_scalars_gives_a_scalar():
    assert add(1.2, 2.3) == 3.5


def test_vectorize_of_tuples_gives_an_array():
    np.testing.assert_array_equal(add((1.0, 2.0), (3.0, 4.0)), [4, 6])


def test_vectorize_of_a_device_array_gives_a_device_array():
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


@pytest.mark.parametrize("size", [1, 8, 1025])
def test_reduce_of_a_ufunc_keeps_the_type(size):
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


def test_vectorize_refuses_types_that_no_signature_takes():
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


@pytest.mark.parametrize("shape", [(), (1,), (7,), (4, 5)], ids=str)
def test_guvectorize_runs_over_the_outer_axes(shape):
    a = np.arange(math.prod(shape) * 6, dtype=np.float32).reshape(*shape, 2, 3)
    b = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_allclose(matmul(a, b), a @ b)


def test_guvectorize_of_a_device_array_gives_a_device_array():
    a = np.ones((5, 2, 2), np.float32)
    result = matmul(a, cuda.to_device(a))
    np.testing.assert_array_equal(result.copy_to_host(), a @ a)


@pytest.mark.parametrize("as_keyword", [True, False])
def test_guvectorize_writes_to_its_output(as_keyword):
    a, out = np.arange(4, dtype=np.int32), np.full(4, -1, np.int32)
    b = np.array([2], np.int32)
    add_first(a, b, out=out) if as_keyword else add_first(a, b, out)
    np.testing.assert_array_equal(out, a + 2)


def test_guvectorize_of_scalars_casts_them_to_the_signature():
    @cuda.guvectorize(["void(int32, int32[:])"], "()->()")
    def twice(x, out):
        out[0] = x * 2

    assert twice(10) == 20


def test_guvectorize_gives_two_outputs():
    @cuda.guvectorize(["void(int32[:], int32[:], float64[:])"], "(x)->(x),(x)")
    def both(a, b, c):
        for i in range(a.size):
            b[i] = a[i]
            c[i] = a[i] * 1.5

    b, c = both(np.arange(4, dtype=np.int32))
    assert (b.tolist(), c.tolist()) == ([0, 1, 2, 3], [0, 1.5, 3, 4.5])


@pytest.mark.parametrize(("count", "words"), [(1, "Got 1 positional argument."), (4, "Got 4 pos")])
def test_guvectorize_counts_its_arguments(count, words):
    with pytest.raises(TypeError, match="accepts 2 positional arguments") as caught:
        add_first(*[np.arange(5, dtype=np.int32)] * count)
    assert words in str(caught.value)


def test_guvectorize_refuses_an_output_given_twice():
    a = np.arange(5, dtype=np.int32)
    with pytest.raises(ValueError, match="both positional and keyword"):
        add_first(a, a[0], a, out=a)


def test_guvectorize_refuses_a_result_type():
    with pytest.raises(TypeError, match="specifies int32 return type"):
        cuda.guvectorize(["int32(int32[:], int32[:])"], "(m)->(m)")


def test_guvectorize_refuses_nopython_false_and_unknown_options():
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(x)->(x)", nopython=False)
    with pytest.raises(TypeError, match="options are not supported: 'what'"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(x)->(x)", what=1)
