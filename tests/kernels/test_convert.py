"""float16 and bfloat16: every number of 16 bits, and float32 rounded to the nearest of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit import cuda
from gpukit.kernels import convert
from gpukit.launch import Cost
from tests.kernels.counts import cost_of

ALL_BITS = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
ALL_FLOAT16 = ALL_BITS.view(np.float16)
# float32 of every exponent and sign: their bits are a prime apart.
SPREAD = np.arange(0, 1 << 32, 65537, dtype=np.uint64).astype(np.uint32).view(np.float32)
ALL = {variant.name: variant for variant in convert.VARIANTS}

formats = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
floats = st.lists(st.floats(width=32), min_size=1, max_size=300)


def rounded_to_bfloat16(x):
    """The float32 nearest to x among those with eight significant bits, by exact arithmetic."""
    with np.errstate(invalid="ignore", over="ignore"):
        exact = np.asarray(x, np.float64)
        exponent = np.frexp(exact)[1]
        step = np.ldexp(1.0, np.maximum(exponent, -125) - 8)  # subnormals have the least step
        nearest = np.rint(exact / step) * step
        return np.where(np.isfinite(exact), nearest, exact).astype(np.float32)


def widened(bits):
    """The float32 whose upper half these bits are."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


# ---- float16 --------------------------------------------------------------------------------


def test_every_float16_is_widened_as_numpy_does_it():
    made = gpukit.convert(ALL_FLOAT16, "float32")
    np.testing.assert_array_equal(made, ALL_FLOAT16.astype(np.float32), strict=True)


@given(floats)
def test_rounding_to_float16_has_the_bits_of_numpy(values):
    x = np.array(values, np.float32)
    made, right = gpukit.convert(x, "float16"), convert.convert_reference(x, "float16")
    finite = ~np.isnan(x)
    np.testing.assert_array_equal(made.view(np.uint16)[finite], right.view(np.uint16)[finite])
    assert np.isnan(made[~finite]).all()


def test_rounding_to_float16_has_the_bits_of_numpy_at_every_exponent():
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(gpukit.convert(SPREAD, "float16"), SPREAD.astype(np.float16))


# The ends of float16: the largest number, what rounds to infinity; the least, what rounds to zero.
ENDS = [
    (65504, 65504),
    (65519.996, 65504),
    (65520, np.inf),
    (-65520, -np.inf),
    (2**-24, 2**-24),
    (2**-25, 0),
    (np.nextafter(np.float32(2**-25), np.float32(1)), 2**-24),
    (3 * 2**-25, 2**-23),
    (2**-14 - 2**-25, 2**-14),
    (np.inf, np.inf),
]


@pytest.mark.parametrize(("given", "expected"), ENDS)
def test_ends_of_float16_round_to_even(given, expected):
    assert gpukit.convert(np.array([given], np.float32), "float16")[0] == expected


# ---- bfloat16 -------------------------------------------------------------------------------


def test_every_bfloat16_is_the_upper_half_of_its_float32():
    made = gpukit.convert(ALL_BITS, "float32")
    np.testing.assert_array_equal(made, widened(ALL_BITS), strict=True)


@given(floats)
def test_rounding_to_bfloat16_is_to_the_nearest_and_then_to_even(values):
    x = np.array(values, np.float32)
    made = gpukit.convert(x, "bfloat16")
    assert made.dtype == np.uint16
    np.testing.assert_array_equal(widened(made), rounded_to_bfloat16(x))
    np.testing.assert_array_equal(np.signbit(widened(made))[x == x], np.signbit(x)[x == x])


def test_rounding_to_bfloat16_is_right_at_every_exponent():
    made = widened(gpukit.convert(SPREAD, "bfloat16"))
    np.testing.assert_array_equal(made, rounded_to_bfloat16(SPREAD))


def test_a_nan_whose_upper_half_is_an_infinity_stays_nan():
    nan = np.array([0x7F800001, 0xFF800001], np.uint32).view(np.float32)
    assert np.isnan(widened(gpukit.convert(nan, "bfloat16"))).all()


# ---- both -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "bits"), [("float16", ALL_FLOAT16), ("bfloat16", ALL_BITS)])
def test_what_was_widened_is_rounded_back_to_the_same_bits(dtype, bits):
    wide = gpukit.convert(bits, "float32")
    back = gpukit.convert(wide, dtype).view(np.uint16)
    np.testing.assert_array_equal(back[wide == wide], ALL_BITS[wide == wide])


@formats
@pytest.mark.parametrize("shape", [(0,), (1,), (255,), (257,), (3, 5, 7), (2, 0)])
def test_any_shape_gives_the_same_shape(dtype, shape, signed):
    x = signed(*shape)
    made = gpukit.convert(x, dtype)
    assert (made.shape, made.dtype) == (shape, convert.FORMATS[dtype])
    right = convert.convert_reference(x, dtype)
    np.testing.assert_array_equal(made, right)


@formats
def test_a_device_array_is_converted_on_the_device(dtype, signed):
    x = signed(5, 7)
    made = gpukit.convert(gpukit.convert(cuda.to_device(x), dtype), "float32")
    right = gpukit.convert(gpukit.convert(x, dtype), "float32")
    np.testing.assert_array_equal(made.copy_to_host(), right)


def test_a_dtype_that_is_no_format_is_refused_with_those_there_are():
    expected = r"convert: expected dtype to be one of 'float32', 'float16', 'bfloat16', got 'half'"
    with pytest.raises(ValueError, match=expected):
        gpukit.convert(np.ones(3, np.float32), "half")


def test_16_bits_are_converted_by_way_of_float32():
    with pytest.raises(TypeError, match="convert: expected x to be a float32 array, got float16"):
        gpukit.convert(np.ones(3, np.float16), "bfloat16")


@pytest.mark.watched
@pytest.mark.parametrize("name", ALL)
def test_checker_finds_nothing_and_counts_the_cost(name):
    dtype = {"float32": np.float16}.get(name, np.float32)
    launched = cuda.device_array(300, convert.FORMATS[name])
    report = gpukit.check(ALL[name].kernel)[2, 256](np.ones(300, dtype), launched)
    assert report.findings == []
    found = gpukit.profile(ALL[name].kernel)[2, 256](np.ones(300, dtype), launched).total
    assert cost_of(found) == ALL[name].cost(300) == Cost(bytes=1800, flops=0)
