"""Products of 16-bit factors: all three forms, and sums that stay in float32."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.kernels.matmul import mixed
from tests.kernels.counts import cost_of

TILE = mixed.TILE
SHAPES = [
    (1, 1, 1),
    (TILE - 1, TILE + 1, TILE),
    (TILE, TILE, TILE),
    (TILE + 1, TILE - 1, 2 * TILE + 1),
    (37, 29, 53),
    (1, 50, 3),
    (50, 1, 70),
]
# By name: the keywords of the form, and whether a and b are turned.
FORMS = {"mixed": {}, "nt_mixed": {"transpose_b": True}, "tn_mixed": {"transpose_a": True}}
ALL = {variant.name: variant for variant in mixed.VARIANTS}

forms = pytest.mark.parametrize("form", FORMS)
formats = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


def factors(form, m, n, k, dtype, signed):
    """Matrices in a format, and the float32 that they stand for."""
    named = FORMS[form]
    shapes = (
        (k, m) if "transpose_a" in named else (m, k),
        (n, k) if "transpose_b" in named else (k, n),
    )
    return tuple(gpukit.convert(signed(*shape), dtype) for shape in shapes)


def wide(x):
    """The float64 that 16 bits stand for, without the functions under test."""
    if x.dtype == np.uint16:
        x = (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64)


def expected(form, a, b):
    a, b = wide(a), wide(b)
    left = a.T if "transpose_a" in FORMS[form] else a
    right = b.T if "transpose_b" in FORMS[form] else b
    return left @ right, np.abs(left) @ np.abs(right)


@forms
@formats
@pytest.mark.parametrize(("m", "n", "k"), SHAPES, ids=str)
def test_product_matches_the_sums_of_the_definition(form, dtype, m, n, k, signed, assert_close):
    a, b = factors(form, m, n, k, dtype, signed)
    right, magnitude = expected(form, a, b)
    out = np.full((m, n), np.nan, np.float32)
    assert gpukit.mixed_matmul(a, b, **FORMS[form], out=out) is out
    assert_close(out, right, magnitude=magnitude, length=k)
    np.testing.assert_allclose(mixed.mixed_matmul_reference(a, b, **FORMS[form]), right)


@formats
def test_a_bias_is_added_to_every_row(dtype, signed, assert_close):
    a, b = factors("nt_mixed", 5, 19, 7, dtype, signed)
    bias = signed(19)
    right, magnitude = expected("nt_mixed", a, b)
    made = gpukit.mixed_matmul(a, b, bias, transpose_b=True)
    assert_close(made, right + bias, magnitude=magnitude + np.abs(bias), length=8)


def test_sums_are_float32():
    # 2048 + 1 is 2048 in float16, and 256 + 1 is 256 in bfloat16.
    for dtype in ("float16", "bfloat16"):
        ones = gpukit.convert(np.ones((1, 5000), np.float32), dtype)
        assert gpukit.mixed_matmul(ones, ones, transpose_b=True).item() == 5000


def test_a_product_beyond_float16_is_not_infinite():
    a = np.full((1, 1), 60000, np.float16)
    assert gpukit.mixed_matmul(a, a).item() == np.float32(a.item()) ** 2


@forms
def test_an_empty_sum_is_zero(form, signed):
    a, b = factors(form, 3, 4, 0, "float16", signed)
    np.testing.assert_array_equal(gpukit.mixed_matmul(a, b, **FORMS[form]), np.zeros((3, 4)))


@pytest.mark.parametrize(
    "named", [{"transpose_a": True, "transpose_b": True}, {"bias": np.ones(2, np.float32)}]
)
def test_what_has_no_kernel_is_refused(named):
    ones = np.ones((2, 2), np.float16)
    with pytest.raises(ValueError, match="mixed_matmul: expected transpose_a or transpose_b, and"):
        gpukit.mixed_matmul(ones, ones, **named)


def test_two_formats_are_refused():
    with pytest.raises(TypeError, match="one dtype, got float16, uint16"):
        gpukit.mixed_matmul(np.ones((2, 2), np.float16), np.ones((2, 2), np.uint16))


def test_float32_is_refused_with_what_converts_it():
    with pytest.raises(TypeError, match="expected a to be a float16 or uint16 array, got float32"):
        gpukit.mixed_matmul(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32))


@pytest.mark.watched
@forms
@formats
def test_checker_finds_nothing_and_counts_the_cost(form, dtype, signed):
    m, n, k = TILE + 2, TILE + 9, 17
    a, b = factors(form, m, n, k, dtype, signed)
    bias = (signed(n),) if form == "nt_mixed" else ()
    kernel, shape = ALL[form].kernel, (ALL[form].grid("test", n, m), ALL[form].block)
    report = gpukit.check(kernel)[shape](a, b, *bias, cuda.device_array((m, n), np.float32))
    assert report.findings == []
    found = gpukit.profile(kernel)[shape](a, b, *bias, np.empty((m, n), np.float32)).total
    assert cost_of(found) == ALL[form].cost(m, n, k)
    assert found["flops_float16"] == found["flops_float64"] == 0
