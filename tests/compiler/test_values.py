"""Operations that Numba's CPU and CUDA targets treat differently: `round`, records, `where`."""

import numpy as np
import pytest

from gpukit import cuda, errors, target


@cuda.jit
def round_kernel(a, digits, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = round(a[i], digits)


@pytest.mark.parametrize("digits", [-2, 0, 1, 3, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_to_digits_agrees_with_python(dtype, digits):
    a = np.array([0.3426, 2.5, -1234.5675, 0.0625, 1e30, np.inf, -np.inf, np.nan], dtype)
    out = np.full(a.size, np.nan, dtype)
    round_kernel[1, 8](a, digits, out)
    exact = [round(float(x), digits) if np.isfinite(x) else float(x) for x in a]
    np.testing.assert_allclose(out, np.array(exact, dtype), rtol=2 * np.finfo(dtype).eps)


def test_a_float32_halfway_case_is_rounded_in_double_precision():
    out = np.full(1, np.nan, np.float32)
    round_kernel[1, 1](np.array([0.3425], np.float32), 3, out)
    assert out[0] == np.float32(0.343)


RECORD = np.dtype([("g", np.int32), ("h", np.float32, 2)], align=True)


@cuda.jit(device=True)
def first(x):
    return x[0]


@cuda.jit
def first_kernel(x, out):
    out[0] = first(x)


def test_a_field_of_a_record_may_be_indexed_by_position():
    a = np.zeros(2, RECORD)
    a["g"] = 7, 8
    out = np.full(1, -1, np.int32)
    first_kernel[1, 1](a[1], out)
    assert out[0] == 8


def test_a_device_function_may_return_a_record_with_an_array_field():
    a = np.zeros(2, RECORD)
    a["g"], a["h"] = 5, [[1, 2], [3, 4]]
    out = np.zeros(1, RECORD)
    first_kernel[1, 1](a, out)
    assert out[0]["g"] == 5
    assert out[0]["h"].tolist() == [1, 2]


@pytest.mark.skipif(target.wanted() == "cuda", reason="these are messages of gpukit's compiler")
def test_a_field_position_past_the_last_field_is_refused():
    @cuda.jit(device=True)
    def fifth(x):
        return x[4]

    @cuda.jit
    def kernel(x, out):
        out[0] = fifth(x)

    with pytest.raises(errors.CompileError, match="getitem does not exist"):
        kernel[1, 1](np.zeros(1, RECORD)[0], np.zeros(1, np.int32))


@cuda.jit
def write_after_barrier_kernel(records, out):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(4, RECORD)
    own, (opposite, in_tile) = records[i], (records[3 - i], tile[i])
    in_tile.g = 10 * i
    cuda.syncthreads()
    own.h[1] = tile[3 - i].g
    cuda.syncthreads()
    in_tile.g += 1
    cuda.syncthreads()
    out[i] = opposite.h[1] + tile[3 - i].g


def test_a_record_variable_still_aliases_its_array_element_after_a_barrier():
    records, out = np.zeros(4, RECORD), np.full(4, np.nan)
    write_after_barrier_kernel[1, 4](records, out)
    np.testing.assert_array_equal(records["h"][:, 1], [30, 20, 10, 0])
    np.testing.assert_array_equal(out, [31, 31, 31, 31])


def test_a_record_variable_aliases_its_array_element_in_a_loop():
    @cuda.jit
    def kernel(records):
        own = records[cuda.threadIdx.x]
        for k in range(2):
            own.h[k] += k + own.g

    records = np.zeros(4, RECORD)
    records["g"] = np.arange(4)
    kernel[1, 4](records)
    np.testing.assert_array_equal(records["h"], np.arange(4)[:, None] + [0, 1])


@cuda.jit(device=True)
def selected(condition, x, y):
    return np.where(condition, x, y)


@cuda.jit
def where_kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = np.where(a[i] > 2, a[i], 0.5) + selected(i == 1, 10, 20)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.costly
def test_where_of_scalars_selects_one_of_the_two(dtype):
    a, out = np.arange(5, dtype=dtype), np.full(5, np.nan)
    where_kernel[1, 8](a, out)
    np.testing.assert_array_equal(out, np.where(a > 2, a, 0.5) + np.array([20, 10, 20, 20, 20]))


@cuda.jit
def where_array_kernel(a, out):
    out[0] = np.where(a > 2, a, 0.0)[0]


@pytest.mark.slow
def test_where_of_an_array_is_refused():
    with pytest.raises(errors.CompileError, match="creates a new array"):
        where_array_kernel[1, 1](np.ones(3), np.ones(3))
