"""int8: scales, rounding to the nearest step, and products whose integer sums are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gpukit
from gpukit import cuda
from gpukit.kernels import quantize
from gpukit.kernels.quantize import channels, products
from tests.kernels.counts import cost_of

# (channels, n): one; around a block in both directions; rows of no multiple of four; primes.
SHAPES = [(1, 1), (7, 31), (8, 32), (9, 33), (3, 257), (257, 3), (13, 1009), (1, 4)]
# (m, n, k) of products: k is a multiple of four.
PRODUCTS = [(1, 1, 4), (15, 17, 60), (16, 16, 64), (17, 15, 68), (37, 29, 140), (1, 50, 12)]
ALL = {variant.name: variant for variant in quantize.VARIANTS}

shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
# Not so small that the steps would be subnormal.
finite = st.floats(-(2.0**100), 2.0**100, width=32).map(lambda x: x if abs(x) > 2**-100 else 0.0)


def int8(*shape, seed=0):
    return np.random.default_rng(seed).integers(-128, 128, shape, np.int8)


# ---- scales ---------------------------------------------------------------------------------


@shapes
def test_scale_of_a_row_is_its_largest_magnitude_over_127(shape, signed, assert_close):
    x, out = signed(*shape), np.full(shape[0], np.nan, np.float32)
    assert gpukit.channel_scales(x, out=out) is out
    largest = np.abs(x.astype(np.float64)).max(axis=1)
    assert_close(out, np.where(largest == 0, 1, largest / 127), magnitude=largest)


def test_a_row_of_zeros_has_scale_one():
    tiny = np.finfo(np.float32).smallest_subnormal  # divided by 127 it is zero
    rows = np.array([[0, -0.0, 0], [0, tiny, -tiny]], np.float32)
    np.testing.assert_array_equal(gpukit.channel_scales(rows), [1, 1])
    np.testing.assert_array_equal(gpukit.channel_scales(np.zeros((2, 0), np.float32)), [1, 1])


@pytest.mark.parametrize("at", [0, 31, 32, 255, 256, 299])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_row_that_is_not_finite_has_a_scale_that_is_not_finite(at, value, signed):
    x = signed(3, 300)
    x[1, at] = value
    assert np.isfinite(gpukit.channel_scales(x)).tolist() == [True, False, True]


# ---- rounding -------------------------------------------------------------------------------


@shapes
def test_rows_are_rounded_and_padded_with_zeros(shape, signed):
    x = signed(*shape)
    scale = gpukit.channel_scales(x)
    q = gpukit.quantize(x, scale)
    np.testing.assert_array_equal(q, channels.quantize_reference(x, scale), strict=True)
    assert q.shape[1] % 4 == 0
    assert (q[:, shape[1] :] == 0).all()


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 70)), elements=finite))
def test_no_number_moves_by_more_than_half_a_step(x):
    scale = gpukit.channel_scales(x)
    back = gpukit.dequantize(gpukit.quantize(x, scale), scale)[:, : x.shape[1]]
    # The quotient and the product are rounded, too: 127 steps have 2 ulp of 2^-24 each.
    step = scale.astype(np.float64)[:, None]
    assert (np.abs(back - x.astype(np.float64)) <= step * (0.5 + 127 * 2**-22)).all()


@pytest.mark.parametrize(
    ("x", "q"), [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (126.6, 127), (-0.0, 0)]
)
def test_ties_are_rounded_to_even(x, q):
    one = np.ones(1, np.float32)
    assert gpukit.quantize(np.array([[x]], np.float32), one)[0, 0] == q


@pytest.mark.parametrize(
    ("x", "q"),
    [(128, 127), (1e38, 127), (np.inf, 127), (-1e38, -127), (-np.inf, -127), (np.nan, 0)],
)
def test_what_lies_beyond_the_scale_is_limited_and_nan_is_zero(x, q):
    one = np.ones(1, np.float32)
    assert gpukit.quantize(np.array([[x]], np.float32), one)[0, 0] == q


def test_one_scale_may_be_for_all_rows(signed):
    x, scale = signed(5, 9), np.array([0.5], np.float32)
    same = np.full(5, 0.5, np.float32)
    np.testing.assert_array_equal(gpukit.quantize(x, scale), gpukit.quantize(x, same))
    q = int8(5, 9)
    np.testing.assert_array_equal(gpukit.dequantize(q, scale), gpukit.dequantize(q, same))


@shapes
def test_int8_is_dequantized_to_its_scale_times_itself(shape, signed, assert_close):
    q, scale = int8(*shape), signed(shape[0])
    right = channels.dequantize_reference(q, scale)
    assert_close(gpukit.dequantize(q, scale), right, magnitude=right)


@shapes
@pytest.mark.parametrize("bias", [True, False])
def test_sums_are_dequantized_with_both_scales_and_the_bias(shape, bias, signed, assert_close):
    sums, n = np.random.default_rng(3).integers(-(10**6), 10**6, shape, np.int32), shape[1]
    x_scale, scale, added = signed(1), signed(n), signed(n) if bias else None
    right = channels.dequantize_sums_reference(sums, x_scale, scale, signed(n) * 0)
    magnitude = np.abs(right) + (0 if added is None else np.abs(added))
    made = gpukit.dequantize_sums(sums, x_scale, scale, added)
    assert_close(made, right + (0 if added is None else added), magnitude=magnitude, length=3)


def test_scales_of_another_number_than_channels_are_refused(signed):
    expected = r"quantize: expected scale\.shape == \(5,\) or \(1,\), got \(4,\)\. Pass a scale"
    with pytest.raises(ValueError, match=expected):
        gpukit.quantize(signed(5, 9), np.ones(4, np.float32))


# ---- products -------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n", "k"), PRODUCTS, ids=str)
def test_products_of_int8_are_those_of_integers(m, n, k):
    a, b, out = int8(m, k), int8(n, k, seed=1), np.full((m, n), -7, np.int32)
    assert gpukit.int8_matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out, a.astype(np.int64) @ b.astype(np.int64).T)


@pytest.mark.parametrize("m", [1, 7, 8, 9, 541])
@pytest.mark.parametrize("k", [4, 124, 128, 132, 1012])
def test_products_of_int8_and_a_vector_are_those_of_integers(m, k):
    a, x, out = int8(m, k), int8(k, seed=1), np.full(m, -7, np.int32)
    assert gpukit.int8_matvec(a, x, out=out) is out
    np.testing.assert_array_equal(out, a.astype(np.int64) @ x.astype(np.int64))


def test_as_many_products_as_an_int32_has_room_for_are_summed_exactly():
    k = products.MOST // 4 * 4
    worst = np.full((1, k), -128, np.int8)
    assert gpukit.int8_matmul(worst, worst).item() == k * 128**2 < 2**31
    with pytest.raises(ValueError, match="multiple of 4, at most 131071, got 131072"):
        gpukit.int8_matmul(np.zeros((1, 131072), np.int8), np.zeros((1, 131072), np.int8))


@pytest.mark.parametrize("k", [1, 6, 63])
def test_rows_that_are_no_whole_words_are_refused_with_what_to_do(k):
    with pytest.raises(ValueError, match=f"got {k}. Pad the rows with zeros, as quantize does"):
        gpukit.int8_matmul(np.zeros((2, k), np.int8), np.zeros((3, k), np.int8))


def test_a_sum_of_no_products_is_zero():
    made = gpukit.int8_matmul(np.zeros((2, 0), np.int8), np.zeros((3, 0), np.int8))
    np.testing.assert_array_equal(made, np.zeros((2, 3), np.int32), strict=True)


def test_a_product_of_quantized_matrices_is_near_that_of_the_floats(signed):
    rng = np.random.default_rng(11)
    x, weight = rng.standard_normal((20, 60), np.float32), rng.standard_normal((9, 60), np.float32)
    scale, x_scale = gpukit.channel_scales(weight), gpukit.channel_scales(x.reshape(1, -1))
    sums = gpukit.int8_matmul(gpukit.quantize(x, x_scale), gpukit.quantize(weight, scale))
    made = gpukit.dequantize_sums(sums, x_scale, scale)
    # Half a step of one factor times the other, for all terms, and a product of both errors.
    steps = np.abs(x).sum(axis=1)[:, None] * scale / 2 + x_scale / 2 * np.abs(weight).sum(axis=1)
    assert (np.abs(made - x @ weight.T) <= steps + 60 * x_scale * scale / 4 + 1e-4).all()


# ---- what the checker and the counters say --------------------------------------------------


def launches():
    """A launch of each kernel: grid, arguments before the result, and the result."""
    x, scale, words = np.ones((9, 39), np.float32), np.ones(9, np.float32), int8(9, 160).view("i4")
    sums, bias = np.ones((9, 39), np.int32), np.ones(39, np.float32)
    return {
        "channel_scales": ((x,), np.empty(9, np.float32), (9,), (9, 39)),
        "quantize": ((x, scale), np.empty((9, 40), np.int8), (40, 9), (9, 39)),
        "dequantize": ((int8(9, 39), scale), np.empty((9, 39), np.float32), (39, 9), (9, 39)),
        "dequantize_sums": (
            (sums, scale[:1], bias, bias),
            np.empty((9, 39), np.float32),
            (39, 9),
            (9, 39),
        ),
        "matmul_int8": ((words, words[:5]), np.empty((9, 5), np.int32), (5, 9), (9, 5, 40)),
        "matvec_int8": ((words, words[0]), np.empty(9, np.int32), (9,), (9, 40)),
    }


@pytest.mark.watched
@pytest.mark.parametrize("name", ALL)
def test_checker_finds_nothing_and_counts_the_cost(name):
    inputs, out, covers, sizes = launches()[name]
    kernel, shape = ALL[name].kernel, (ALL[name].grid("test", *covers), ALL[name].block)
    report = gpukit.check(kernel)[shape](*inputs, cuda.device_array(out.shape, out.dtype))
    assert report.findings == []
    found = gpukit.profile(kernel)[shape](*inputs, out).total
    assert cost_of(found) == ALL[name].cost(*sizes)
    assert found["flops_float64"] == 0
