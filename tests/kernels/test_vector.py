"""Fill, vector add and saxpy."""

import numpy as np
import pytest

from gpukit.kernels import vector
from gpukit.launch import ceil_div

BLOCK = vector.BLOCK
SIZES = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1009]
SAXPY = [(variant.name, variant.kernel) for variant in vector.SAXPY_VARIANTS if not variant.instead]

# The guards do not depend on the dtype: one size of float64 suffices.
sizes = pytest.mark.parametrize(
    ("n", "dtype"), [*((n, np.float32) for n in SIZES), (1009, np.float64)]
)
saxpy_variants = pytest.mark.parametrize(("name", "kernel"), SAXPY, ids=[name for name, _ in SAXPY])


@sizes
def test_fill_kernel_writes_every_element(n, dtype, poisoned):
    out = poisoned(n, dtype=dtype)
    vector.fill_kernel[ceil_div(n, BLOCK), BLOCK](dtype(-1.7), out)
    np.testing.assert_array_equal(out, vector.fill_reference(n, dtype(-1.7)))


@sizes
def test_vector_add_kernel_equals_the_rounded_reference(n, dtype, signed, poisoned):
    a, b, out = signed(n, dtype=dtype), signed(n, dtype=dtype), poisoned(n, dtype=dtype)
    vector.vector_add_kernel[ceil_div(n, BLOCK), BLOCK](a, b, out)
    np.testing.assert_array_equal(out, vector.vector_add_reference(a, b).astype(dtype))


@sizes
@saxpy_variants
def test_saxpy_kernels_match_the_reference(name, kernel, n, dtype, signed, poisoned, assert_close):
    x, y, out = signed(n, dtype=dtype), signed(n, dtype=dtype), poisoned(n, dtype=dtype)
    kernel[ceil_div(n, BLOCK), BLOCK](dtype(-1.7), x, y, out)
    alpha = np.float64(dtype(-1.7))
    size = np.abs(alpha * x) + np.abs(y)
    assert_close(out, vector.saxpy_reference(alpha, x, y), magnitude=size, length=2)


@pytest.mark.parametrize(("blocks", "block"), [(1, 1), (1, 32), (3, 7), (5, 64)])
@pytest.mark.costly
def test_saxpy_grid_stride_kernel_is_right_for_any_grid(blocks, block, signed, poisoned):
    x, y, out = signed(211), signed(211), poisoned(211)
    vector.saxpy_grid_stride_kernel[blocks, block](np.float32(2), x, y, out)
    np.testing.assert_array_equal(out, vector.saxpy_reference(2, x, y).astype(np.float32))


def test_kernels_leave_elements_past_the_end_unchanged():
    whole = np.full(300, 7, np.float32)
    vector.fill_kernel[2, BLOCK](np.float32(1), whole[:290])
    np.testing.assert_array_equal(whole[290:], np.full(10, 7, np.float32))


def test_vector_add_propagates_nan_and_infinity():
    a = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    out = vector.vector_add(a, np.ones(4, np.float32))
    np.testing.assert_array_equal(out, np.array([np.nan, np.inf, -np.inf, 2], np.float32))


def test_fill_returns_float32():
    out = vector.fill(3, 7)
    assert (out.dtype, out.tolist()) == (np.float32, [7.0, 7.0, 7.0])


def test_fill_returns_float64_on_request():
    out = vector.fill(3, 0.1, dtype=np.float64)
    assert (out.dtype, out.tolist()) == (np.float64, [0.1, 0.1, 0.1])


def test_vector_add_of_float64_keeps_bits_that_float32_cannot_hold():
    actual = vector.vector_add(np.full(3, 2.0**24), np.ones(3))
    assert (actual.dtype, actual.tolist()) == (np.float64, [2.0**24 + 1] * 3)


@pytest.mark.parametrize("variant", [name for name, _ in SAXPY])
def test_saxpy_of_float64_keeps_bits_that_float32_cannot_hold(variant):
    actual = vector.saxpy(2.0**24 + 1, np.ones(3), np.full(3, 2.0**-20), variant=variant)
    assert (actual.dtype, actual.tolist()) == (np.float64, [2.0**24 + 1 + 2.0**-20] * 3)


def test_vector_add_accepts_non_contiguous_arrays():
    a = np.arange(10, dtype=np.float32)
    np.testing.assert_array_equal(vector.vector_add(a[::2], a[::-2]), a[::2] + a[::-2])


def test_vector_add_accepts_read_only_arrays():
    a = np.ones(5, np.float32)
    a.flags.writeable = False
    assert vector.vector_add(a, a).tolist() == [2.0] * 5


@pytest.mark.parametrize("variant", [name for name, _ in SAXPY])
def test_saxpy_arithmetic_is_float32_when_alpha_is_a_python_float(variant):
    x, y = np.array([3], np.float32), np.array([0], np.float32)
    assert vector.saxpy(0.1, x, y, variant=variant)[0] == np.float32(0.1) * np.float32(3)


def test_fill_of_length_zero_is_empty():
    assert vector.fill(0, 1).shape == (0,)


def test_fill_rejects_a_negative_length():
    with pytest.raises(ValueError, match=r"fill: expected n >= 0, got -1\. Pass"):
        vector.fill(-1, 0)


def test_vector_add_rejects_unequal_lengths():
    expected = r"vector_add: expected b\.shape == \(3,\), got \(4,\)\. The axes are a \(n,\), b \(n"
    with pytest.raises(ValueError, match=expected):
        vector.vector_add(np.ones(3, np.float32), np.ones(4, np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.int32])
def test_fill_rejects_other_dtypes(dtype):
    name = np.dtype(dtype).name
    expected = rf"fill: expected dtype to be float32 or float64, got {name}\. Pass one of them\."
    with pytest.raises(TypeError, match=expected):
        vector.fill(3, 7, dtype=dtype)


def test_costs_of_ten_elements():
    costs = [variant.cost(10) for variant in vector.VARIANTS]
    # fill stores 10 floats; the others load 20 and store 10 of 4 bytes each.
    assert [cost.bytes for cost in costs] == [40, 40, 120, 120, 120, 120, 120]
    assert [cost.flops for cost in costs] == [0, 0, 10, 10, 20, 20, 20]
