"""Kernels with float16: arrays, arguments, shared and local memory, shuffles, device functions."""

import math

import numpy as np
import pytest

from gpukit import cuda, errors

pytestmark = pytest.mark.filterwarnings("error")
EDGES = np.array(
    [0, -0.0, 1, -2.5, 65504, -65504, 6e-8, 6.1e-5, np.inf, -np.inf, np.nan], np.float16
)


def nans(*shape):
    return np.full(shape, np.nan, np.float16)


@cuda.jit
def axpy_kernel(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 257])
def test_arithmetic_on_arrays_agrees_with_numpy(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n)).astype(np.float16)
    a, out = np.float16(0.7), nans(n)
    axpy_kernel[-(-n // 32), 32](a, x, y, out)
    np.testing.assert_array_equal(out, a * x + y)


@cuda.jit
def store_kernel(value, out):
    out[0] = value


@pytest.mark.parametrize("value", EDGES, ids=str)
def test_a_float16_argument_is_passed_exactly(value):
    out = np.zeros(1, np.float16)
    store_kernel[1, 1](value, out)
    np.testing.assert_array_equal(out, [value])
    assert np.signbit(out[0]) == np.signbit(value)


@pytest.mark.parametrize("value", [3, 0.1, True, np.float64(1e-7), np.int8(-5)], ids=repr)
def test_a_signature_converts_an_argument(value):
    kernel = cuda.jit("void(f2, f2[:])")(store_kernel.py_func)
    out = nans(1)
    kernel[1, 1](value, out)
    assert out[0] == np.float16(value)


@cuda.jit
def widen_kernel(x, singles, doubles, integers):
    i = cuda.grid(1)
    singles[i] = x[i]
    doubles[i] = x[i] * 2.0
    integers[i] = int(x[i])


def test_float16_mixes_with_other_numbers():
    x = np.array([1.5, -2.25, 1000, -0.1], np.float16)
    singles, doubles, integers = np.zeros(4, "f4"), np.zeros(4), np.zeros(4, "i8")
    widen_kernel[1, 4](x, singles, doubles, integers)
    np.testing.assert_array_equal(singles, x.astype("f4"))
    np.testing.assert_array_equal(doubles, x.astype("f8") * 2)
    np.testing.assert_array_equal(integers, [1, -2, 1000, 0])


@cuda.jit
def reverse_kernel(x, out):
    tile = cuda.shared.array(32, np.float16)
    pair = cuda.local.array(2, cuda.types.float16)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()  # the tile is full
    pair[0] = tile[31 - t]
    pair[1] = np.float16(1)
    pair[0] += pair[1]
    out[t] = pair[0]


def test_shared_and_local_arrays_may_be_float16():
    x, out = np.linspace(-4, 4, 32).astype(np.float16), nans(32)
    reverse_kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, x[::-1] + np.float16(1))


@cuda.jit
def warp_sum_kernel(x, out):
    value = x[cuda.threadIdx.x]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        out[0] = value


def test_shuffles_move_float16():
    x, out = np.arange(32).astype(np.float16), nans(1)
    warp_sum_kernel[1, 32](x, out)
    assert out[0] == 496


@cuda.jit(device=True)
def smaller(a, b):
    return a if a < b else b


@cuda.jit
def smallest_kernel(x, out):
    best = np.float16(np.inf)
    for i in range(x.size):
        best = smaller(best, x[i])
    out[0] = best


def test_device_functions_accept_and_return_float16():
    x, out = np.array([3, -1.5, 7, 0], np.float16), nans(1)
    smallest_kernel[1, 1](x, out)
    assert out[0] == np.float16(-1.5)


@cuda.jit
def intrinsics_kernel(x, y, out):
    i = cuda.grid(1)
    out[0, i] = cuda.fp16.hfma(x[i], y[i], 1)
    out[1, i] = cuda.fp16.hmax(x[i], y[i])
    out[2, i] = cuda.fp16.hsqrt(cuda.fp16.habs(x[i]))
    out[3, i] = math.floor(x[i])
    out[4, i] = cuda.fp16.hgt(x[i], y[i])


def test_functions_of_cuda_fp16_work_in_kernels():
    x, y = np.array([1.5, -2.5, 3.25], np.float16), np.array([2, -3, 5], np.float16)
    out = nans(5, 3)
    intrinsics_kernel[1, 3](x, y, out)
    one = np.float16(1)
    wanted = [x * y + one, np.maximum(x, y), np.sqrt(np.abs(x)), np.floor(x), x > y]
    np.testing.assert_array_equal(out, np.array(wanted, np.float16))


HALF3 = np.float16(3)


@cuda.jit
def captured_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * HALF3


def test_captured_constants_stay_float16():
    x, out = np.array([0.1, 1000], np.float16), nans(2)
    captured_kernel[1, 2](x, out)
    np.testing.assert_array_equal(out, x * np.float16(3))


def test_records_may_have_float16_fields():
    kind = np.dtype([("x", np.float16), ("y", np.float32)])

    @cuda.jit
    def kernel(points):
        i = cuda.grid(1)
        points[i].x = points[i].x + np.float16(points[i].y)

    points = np.array([(1.5, 2.0), (0.1, 3.0)], kind)
    wanted = points["x"] + points["y"].astype(np.float16)
    kernel[1, 2](points)
    np.testing.assert_array_equal(points["x"], wanted)


def test_an_index_outside_a_float16_array_is_out_of_bounds():
    with pytest.raises(errors.OutOfBounds):
        axpy_kernel[1, 32](np.float16(1), nans(8), nans(32), nans(32))


def test_a_function_of_cuda_fp16_refuses_a_tuple():
    @cuda.jit
    def kernel(out):
        out[0] = cuda.fp16.hneg((1, 2))

    with pytest.raises(errors.KernelTypeError, match=r"cuda\.fp16\.hneg works on float16"):
        kernel[1, 1](nans(1))
