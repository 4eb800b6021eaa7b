"""Layer norm, forward and backward."""

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.kernels import layer_norm, layer_norm_grad
from tests.kernels.norms import assert_near, finite_differences, random_arrays

VARIANTS = [variant.name for variant in layer_norm.VARIANTS]
ROWS_COLS = [(1, 1), (1, 2), (7, 31), (8, 32), (9, 33), (3, 127), (2, 129), (5, 1009), (131, 3)]
PARTS = [1, 2, 5]

variants = pytest.mark.parametrize("variant", VARIANTS)
shapes = pytest.mark.parametrize(("rows", "cols"), ROWS_COLS)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def run(variant, x, *rest):
    """Launch the kernel of a variant; rest are weight, bias, eps, mean, rstd and out."""
    chosen = launch.pick("test", layer_norm.VARIANTS, variant)
    shared = x.shape[1] * x.itemsize if variant == "block" else 0
    chosen.kernel[chosen.grid("test", len(x)), chosen.block, 0, shared](x, *rest)


@shapes
@dtypes
@variants
def test_layer_norm_kernels_match_the_reference(rows, cols, dtype, variant, rng, poisoned):
    x, weight, bias = random_arrays(rng, dtype, (rows, cols), cols, cols)
    mean, rstd, out = (poisoned(*shape, dtype=dtype) for shape in ((rows,), (rows,), (rows, cols)))
    run(variant, x, weight, bias, dtype(1e-5), mean, rstd, out)
    assert_near(out, layer_norm.layer_norm_reference(x, weight, bias), terms=cols)
    wide = x.astype(np.float64)
    assert_near(mean, wide.mean(axis=1), terms=cols)
    assert_near(rstd, 1 / np.sqrt(wide.var(axis=1) + 1e-5), terms=cols)


@variants
def test_layer_norm_is_accurate_far_from_zero(variant, rng):
    """Values around 1e5 with spread 10, which float32 holds to 1/128."""
    x = (1e5 + 10 * rng.standard_normal((9, 1009))).astype(np.float32)
    actual = layer_norm.layer_norm(x, 1009, variant=variant)
    error = np.abs(actual - layer_norm.layer_norm_reference(x)).max()
    assert error < 1e-5


def test_the_one_pass_variance_formula_loses_all_digits_far_from_zero(rng):
    x = (1e5 + 10 * rng.standard_normal((9, 1009))).astype(np.float32)
    variance = (x * x).mean(axis=1) - x.mean(axis=1) ** 2
    assert np.abs(variance / x.astype(np.float64).var(axis=1) - 1).max() > 1


@variants
@pytest.mark.parametrize("shape", [(7,), (2, 3, 5), (1, 4, 3, 2)], ids=str)
@pytest.mark.parametrize("axes", [1, 2])
def test_layer_norm_accepts_any_trailing_axes(variant, shape, axes, rng):
    axes = min(axes, len(shape))
    inner, outer = shape[len(shape) - axes :], shape[: len(shape) - axes]
    x, weight, bias = random_arrays(rng, np.float32, shape, inner, inner)
    out, mean, rstd = layer_norm.layer_norm(
        x, inner, weight, bias, variant=variant, return_stats=True
    )
    size = int(np.prod(inner))
    expected = layer_norm.layer_norm_reference(x.reshape(-1, size), weight.ravel(), bias.ravel())
    assert_near(out, expected.reshape(shape), terms=10)
    assert mean.shape == rstd.shape == outer


@variants
def test_layer_norm_without_weight_and_bias_only_normalises(variant, rng):
    (x,) = random_arrays(rng, np.float32, (5, 67))
    assert_near(
        layer_norm.layer_norm(x, 67, variant=variant), layer_norm.layer_norm_reference(x), terms=67
    )


@variants
def test_layer_norm_uses_the_given_eps(variant, rng):
    (x,) = random_arrays(rng, np.float64, (5, 67))
    actual = layer_norm.layer_norm(x, 67, eps=0.5, variant=variant)
    assert_near(actual, layer_norm.layer_norm_reference(x, eps=0.5), terms=67)


@variants
def test_layer_norm_of_equal_numbers_is_the_bias(variant):
    x, bias = np.full((3, 50), 7, np.float32), np.arange(50, dtype=np.float32)
    actual = layer_norm.layer_norm(x, 50, bias=bias, variant=variant)
    np.testing.assert_array_equal(actual, np.tile(bias, (3, 1)))


@variants
def test_layer_norm_nan_stays_in_its_row(variant, rng):
    (x,) = random_arrays(rng, np.float32, (3, 50))
    x[1, 17] = np.nan
    actual = np.isnan(layer_norm.layer_norm(x, 50, variant=variant))
    np.testing.assert_array_equal(actual.all(axis=1), [False, True, False])
    np.testing.assert_array_equal(actual.any(axis=1), [False, True, False])


@dtypes
def test_layer_norm_accepts_rows_that_do_not_fit_into_shared_memory(dtype, rng):
    cols = layer_norm.MOST_KEPT // np.dtype(dtype).itemsize + 1
    (x,) = random_arrays(rng, dtype, (2, cols))
    assert_near(
        layer_norm.layer_norm(x, cols, variant="block"),
        layer_norm.layer_norm_reference(x),
        terms=90,
    )


@dtypes
def test_layer_norm_is_right_for_the_longest_row_that_fits_into_shared_memory(dtype, rng):
    cols = layer_norm.MOST_KEPT // np.dtype(dtype).itemsize
    (x,) = random_arrays(rng, dtype, (1, cols))
    assert_near(
        layer_norm.layer_norm(x, cols, variant="block"),
        layer_norm.layer_norm_reference(x),
        terms=90,
    )


@variants
def test_layer_norm_of_an_empty_batch_is_empty(variant):
    actual = layer_norm.layer_norm(
        np.empty((0, 5), np.float32), 5, variant=variant, return_stats=True
    )
    assert [part.shape for part in actual] == [(0, 5), (0,), (0,)]


@pytest.mark.parametrize("inner", [(), 4, (3, 5), (2, 3, 5, 1), 0])
def test_layer_norm_rejects_axes_that_are_not_trailing(inner):
    words = r"^layer_norm: expected normalized_shape to be the last axes of input, .* for shape \(2"
    with pytest.raises(ValueError, match=words):
        layer_norm.layer_norm(np.ones((2, 5, 3), np.float32), inner)


def test_layer_norm_rejects_a_weight_of_another_shape():
    with pytest.raises(ValueError, match=r"^layer_norm: expected weight\.shape == \(5,\), got \(2"):
        layer_norm.layer_norm(np.ones((2, 5), np.float32), 5, np.ones(2, np.float32))


def test_layer_norm_of_device_arrays_keeps_statistics_on_the_device(rng):
    (x,) = random_arrays(rng, np.float32, (3, 5))
    actual = layer_norm.layer_norm(cuda.to_device(x), 5, return_stats=True)
    assert all(map(launch.is_device_array, actual))


# ---- gradients ------------------------------------------------------------------------------


@shapes
@dtypes
def test_layer_norm_gradients_match_the_reference(rows, cols, dtype, rng):
    grad, x, weight = random_arrays(rng, dtype, (rows, cols), (rows, cols), cols)
    _, mean, rstd = layer_norm.layer_norm(x, cols, return_stats=True)
    actual = layer_norm_grad.layer_norm_backward(grad, x, mean, rstd, weight)
    expected = layer_norm_grad.layer_norm_backward_reference(grad, x, weight)
    # The variance of two numbers may be small, which makes rstd, a factor of every term, large.
    scale = max(1, rstd.max()) ** 2
    for result, reference in zip(actual, expected, strict=True):
        assert_near(result / scale, reference / scale, terms=max(rows, cols))


@pytest.mark.parametrize("rows", [63, 64, 65, 129, 64 * 64 + 1])
def test_layer_norm_gradients_add_all_partial_sums(rows, rng):
    grad, x = random_arrays(rng, np.float64, (rows, 3), (rows, 3))
    _, mean, rstd = layer_norm.layer_norm(x, 3, return_stats=True)
    actual = layer_norm_grad.layer_norm_backward(grad, x, mean, rstd)
    for result, reference in zip(
        actual, layer_norm_grad.layer_norm_backward_reference(grad, x), strict=True
    ):
        np.testing.assert_allclose(result, reference, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("parts", PARTS)
def test_partial_sums_cover_each_row_once(parts, rng, poisoned):
    grad, x, mean, rstd = random_arrays(rng, np.float64, (7, 5), (7, 5), 7, 7)
    sums = poisoned(parts, 5, dtype=np.float64), poisoned(parts, 5, dtype=np.float64)
    variant = layer_norm_grad.VARIANTS[1]
    variant.kernel[variant.grid("test", 5, parts), variant.block](grad, x, mean, rstd, *sums)
    y = (x - mean[:, None]) * rstd[:, None]
    assert_near(sums[0].sum(axis=0), (grad * y).sum(axis=0), terms=7)
    assert_near(sums[1].sum(axis=0), grad.sum(axis=0), terms=7)


def test_layer_norm_gradients_match_finite_differences(rng):
    grad, x, weight, bias = random_arrays(rng, np.float64, (3, 7), (3, 7), 7, 7)
    _, mean, rstd = layer_norm.layer_norm(x, 7, return_stats=True)
    actual = layer_norm_grad.layer_norm_backward(grad, x, mean, rstd, weight)
    inputs = [x, weight, bias]

    def error():
        return (grad * layer_norm.layer_norm_reference(*inputs)).sum()

    for array, result in zip(inputs, actual, strict=True):
        np.testing.assert_allclose(result, finite_differences(error, array), rtol=1e-6, atol=1e-7)


def test_layer_norm_gradients_of_an_empty_batch_are_zero():
    x, none = np.empty((0, 5)), np.empty(0)
    actual = layer_norm_grad.layer_norm_backward(x, x, none, none)
    assert [part.tolist() for part in actual] == [[], [0] * 5, [0] * 5]


def test_layer_norm_gradients_are_bit_identical_from_run_to_run(rng):
    grad, x = random_arrays(rng, np.float32, (1009, 65), (1009, 65))
    _, mean, rstd = layer_norm.layer_norm(x, 65, return_stats=True)
    first, second = (layer_norm_grad.layer_norm_backward(grad, x, mean, rstd) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
