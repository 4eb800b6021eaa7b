"""Fused bias and activation, against references, finite differences and separate kernels."""

import numpy as np
import pytest

import gpukit
from gpukit import launch
from gpukit.kernels import activations, activations_grad
from gpukit.kernels.backprop import bias_activation, columns

WIDTH, HEIGHT, CHUNK = columns.WIDTH, columns.HEIGHT, columns.CHUNK
SHAPES = [(1, 1), (HEIGHT, WIDTH), (HEIGHT + 1, WIDTH + 1), (CHUNK + 1, 3), (7, 101)]

shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
forward = pytest.mark.parametrize("name", ["add_bias", "bias_relu", "bias_gelu"])
fused = pytest.mark.parametrize("name", ["relu", "gelu"])


def backward(name, grad, x, bias, **options):
    if name == "relu":
        return gpukit.bias_relu_backward(grad, gpukit.bias_relu(x, bias), **options)
    return gpukit.bias_gelu_backward(grad, x, bias, **options)


def backward_reference(name, grad, x, bias):
    if name == "relu":
        y = bias_activation.bias_relu_reference(x, bias)
        return bias_activation.bias_relu_backward_reference(grad, y)
    return bias_activation.bias_gelu_backward_reference(grad, x, bias)


@forward
@dtypes
@shapes
def test_forward_matches_the_reference(name, shape, dtype, signed):
    x, bias = signed(*shape, dtype=dtype), signed(shape[1], dtype=dtype)
    actual = getattr(gpukit, name)(x, bias)
    expected = getattr(bias_activation, f"{name}_reference")(x, bias)
    tolerance = 8 * np.finfo(dtype).eps * (np.abs(x) + np.abs(bias)).astype(float)
    assert actual.dtype == dtype
    assert (np.abs(actual - expected) <= tolerance).all()


def test_more_rows_than_the_grid_limit_are_all_computed():
    x = np.ones((bias_activation.MOST_ROWS + 3, 2), np.float32)
    assert (gpukit.add_bias(x, np.ones(2, np.float32)) == 2).all()


@fused
@dtypes
@shapes
@pytest.mark.costly
def test_backward_matches_the_reference(name, shape, dtype, rng):
    grad, x = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    bias = rng.standard_normal(shape[1]).astype(dtype)
    for actual, expected in zip(
        backward(name, grad, x, bias), backward_reference(name, grad, x, bias), strict=True
    ):
        tolerance = 16 * (1 + shape[0]) * np.finfo(dtype).eps * (1 + np.abs(expected))
        assert actual.dtype == dtype
        assert (np.abs(actual - expected) <= tolerance).all()


@fused
def test_fused_kernel_is_bit_identical_to_separate_kernels(name, signed):
    x, bias = signed(50, 40), signed(40)
    apart = getattr(gpukit, name)(gpukit.add_bias(x, bias))
    np.testing.assert_array_equal(getattr(gpukit, f"bias_{name}")(x, bias), apart)


@fused
def test_gradients_are_written_to_out(name, signed):
    arrays = signed(50, 40), signed(50, 40), signed(40)
    outs = np.full((50, 40), np.nan, np.float32), np.full((40, 2), np.nan, np.float32)[:, 0]
    actual = backward(name, *arrays, out=outs)
    assert (actual[0] is outs[0], actual[1] is outs[1]) == (True, True)
    for result, expected in zip(outs, backward(name, *arrays), strict=True):
        np.testing.assert_array_equal(result, expected)


@fused
def test_bias_gradient_of_an_empty_batch_is_zero(name):
    grad, x, bias = np.empty((0, 3), np.float32), np.empty((0, 3), np.float32), np.zeros(3, "f4")
    of_x, of_bias = backward(name, grad, x, bias)
    assert (of_x.shape, of_bias.tolist()) == ((0, 3), [0, 0, 0])


def test_a_nan_propagates_backwards():
    y = np.array([[np.nan, 0]], np.float32)
    assert gpukit.bias_relu_backward(np.ones((1, 2), np.float32), y)[0].tolist() == [[1, 0]]


def test_a_bias_of_another_length_is_rejected():
    expected = r"bias_relu: expected bias\.shape == \(2,\), got \(3,\)\. The axes are x \(rows, co"
    with pytest.raises(ValueError, match=expected):
        gpukit.bias_relu(np.ones((5, 2)), np.ones(3))


# ---- bytes requested ------------------------------------------------------------------------

ROWS, COLS = 3 * HEIGHT + 1, WIDTH + 5
every_variant = pytest.mark.parametrize(
    "variant", bias_activation.VARIANTS, ids=lambda variant: variant.name
)


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def launch_under(watch, variant, dtype=np.float32):
    x, bias = ones(ROWS, COLS, dtype=dtype), ones(COLS, dtype=dtype)
    out, sums = ones(ROWS, COLS, dtype=dtype), ones(2, COLS, dtype=dtype)
    arrays = {"bias_relu_grad": (x, x, out, sums), "bias_gelu_grad": (x, x, bias, out, sums)}.get(
        variant.name, (x, bias, out)
    )
    down = 2 if "grad" in variant.name else ROWS
    return watch(variant.kernel)[variant.grid("test", COLS, down), variant.block](*arrays)


@pytest.mark.watched
@every_variant
def test_checker_reports_no_findings(variant):
    assert launch_under(gpukit.check, variant).findings == []


@pytest.mark.watched
@every_variant
def test_cost_equals_the_profile_counters(variant):
    found = launch_under(gpukit.profile, variant).total
    more = {"chunks": 2} if "grad" in variant.name else {}
    expected = launch.Cost(found["global_bytes_asked"], found.flops)
    assert variant.cost(ROWS, COLS, **more) == expected


@pytest.mark.watched
@dtypes
@every_variant
def test_kernel_arithmetic_uses_only_the_dtype_of_its_arrays(variant, dtype):
    found = launch_under(gpukit.profile, variant, dtype).total
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops


def test_fused_forward_requests_12_bytes_per_element_where_separate_kernels_request_20():
    n = 100 * 10
    apart = bias_activation.add_bias_cost(100, 10).bytes + activations.relu_cost(n).bytes
    assert (bias_activation.VARIANTS[1].cost(100, 10).bytes, apart) == (12 * n, 20 * n)


def test_fused_backward_requests_12_bytes_per_element_where_separate_kernels_request_16():
    n = 100 * 10
    apart = activations_grad.relu_grad_cost(n).bytes + columns.column_sum_cost(100, 10).bytes
    together = bias_activation.bias_relu_grad_cost(100, 10).bytes
    sums = 4 * 10  # one row of partial sums, which both variants store
    assert (together - sums, apart - sums) == (12 * n, 16 * n)
