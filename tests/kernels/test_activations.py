"""Activations and their gradients."""

import math
import sys

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import activations, activations_grad
from gpukit.launch import ceil_div

BLOCK = activations.BLOCK
EPS = np.finfo(np.float32).eps
SIZES = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1009]
SHAPES = [(), (1,), (7, 1, 5), (2, 3, 4, 5), (17, 31), (1, BLOCK + 1)]
FORWARD = {variant.name: variant for variant in activations.VARIANTS[::2]}
GRAD = {variant.name: variant for variant in activations_grad.VARIANTS[::2]}
# NVIDIA's CUDA programming guide allows exp, tanh and erf two units in the last place.
ULPS = 2
FUNCTION = ULPS * EPS

forward = pytest.mark.parametrize("name", FORWARD)
grads = pytest.mark.parametrize("name", GRAD)
every_kernel = pytest.mark.parametrize("name", [*FORWARD, *GRAD])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
# The guard does not depend on the dtype: one size of float64 suffices.
sizes = pytest.mark.parametrize(
    ("n", "dtype"), [*((n, np.float32) for n in SIZES), (1009, np.float64)]
)


def of(name):
    """Return the kernel, the host function and the reference called `name`."""
    module, variant = (activations, FORWARD) if name in FORWARD else (activations_grad, GRAD)
    return variant[name].kernel, getattr(module, name), getattr(module, f"{name}_reference")


def inputs(name, signed, *shape, dtype=np.float32):
    """Return inputs of both signs with zeros and outliers; y where the gradient needs y."""
    x = signed(*shape, dtype=dtype)
    if name in FORWARD:
        return (x,)
    grad = signed(*shape[::-1], dtype=dtype).T
    if name in ("sigmoid_grad", "tanh_grad"):
        x = np.asarray(of(name.removesuffix("_grad"))[2](x), dtype)
    return np.ascontiguousarray(grad).reshape(shape), x


def tolerance(name, *arrays):
    """Return the rounding error allowed: steps of the formula times the size of its terms."""
    precision = np.finfo(arrays[-1].dtype)
    eps, function, tiny = precision.eps, ULPS * precision.eps, precision.tiny
    x = np.asarray(arrays[-1], np.float64)
    expected = np.abs(of(name)[2](*arrays))
    # 1 + erf and the terms of a gradient have the rounding errors of numbers near 1.
    if name == "gelu":
        return (function + 3 * eps) * np.abs(x) + tiny
    if name == "gelu_grad":
        return np.abs(arrays[0]) * (2 * function + 8 * eps) + tiny
    return (function + 4 * eps) * expected + tiny


def assert_right(name, actual, *arrays):
    actual = np.asarray(actual)
    expected = of(name)[2](*arrays)
    assert actual.shape == expected.shape
    error = np.abs(actual.astype(np.float64) - expected)
    wrong = np.argwhere(np.atleast_1d(~(error <= tolerance(name, *arrays))))
    assert len(wrong) == 0, f"{len(wrong)} of {actual.size} wrong, first at {wrong[0]}"


@every_kernel
@sizes
def test_kernel_matches_the_reference(name, n, dtype, signed, poisoned):
    arrays, out = inputs(name, signed, n, dtype=dtype), poisoned(n, dtype=dtype)
    of(name)[0][ceil_div(n, BLOCK), BLOCK](*arrays, out)
    assert_right(name, out, *arrays)


@every_kernel
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_host_function_matches_the_reference_in_any_shape(name, shape, signed):
    arrays = inputs(name, signed, *shape)
    actual = of(name)[1](*arrays)
    assert actual.dtype == np.float32
    assert_right(name, actual, *arrays)


@every_kernel
@pytest.mark.parametrize(
    ("dtype", "least", "most"), [(np.float32, -44, 38), (np.float64, -323, 308)]
)
def test_host_function_is_accurate_over_the_whole_range_of_a_dtype(name, dtype, least, most):
    steps = np.logspace(least, most, 2001).astype(dtype)
    x = np.concatenate([-steps[::-1], np.zeros(1, dtype), steps])
    if name in ("sigmoid_grad", "tanh_grad"):
        x = of(name.removesuffix("_grad"))[2](x).astype(dtype)
    arrays = (x,) if name in FORWARD else (np.linspace(-3, 2, len(x)).astype(dtype), x)
    actual = of(name)[1](*arrays)
    assert actual.dtype == dtype
    assert_right(name, actual, *arrays)


# ---- references -----------------------------------------------------------------------------


def numbers():
    return np.linspace(-6, 6, 241)


def test_sigmoid_reference_is_its_definition():
    x = numbers()
    np.testing.assert_allclose(
        activations.sigmoid_reference(x), [1 / (1 + math.exp(-v)) for v in x], rtol=1e-14
    )


def test_gelu_reference_is_its_definition():
    x = numbers()
    definition = [v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x]
    np.testing.assert_allclose(activations.gelu_reference(x), definition, rtol=1e-7, atol=1e-15)


def test_gelu_reference_is_the_same_without_scipy(monkeypatch):
    x = numbers()
    expected = activations.gelu_reference(x)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    np.testing.assert_allclose(activations.gelu_reference(x), expected, rtol=1e-14)


def test_normal_cdf_is_accurate_far_below_zero():
    x = np.linspace(-37, 8, 999)
    expected = [math.erfc(-value * math.sqrt(0.5)) / 2 for value in x]
    np.testing.assert_allclose(activations.normal_below(x), expected, rtol=1e-12)


def test_error_of_the_tanh_approximation_of_gelu_is_as_documented():
    x = np.linspace(-6, 6, 20001)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    off = np.abs(x / 2 * (1 + np.tanh(inner)) - activations.gelu_reference(x)).max()
    assert 0.0004 < off < 0.0005


@grads
def test_gradient_equals_the_finite_difference_of_the_forward_function(name):
    operation = name.removesuffix("_grad")
    reference = of(operation)[2]
    x = numbers() + 1e-3  # so that no step crosses 0, where relu has no derivative
    step = 1e-6
    slope = (reference(x + step) - reference(x - step)) / (2 * step)
    inputs = reference(x) if name in ("sigmoid_grad", "tanh_grad") else x
    actual = of(name)[2](np.ones(len(x)), inputs)
    # Two roundings of numbers up to 6, divided by the step; the step itself adds step**2.
    np.testing.assert_allclose(actual, slope, atol=4 * 6 * np.finfo(np.float64).eps / step)


@grads
def test_kernel_gradient_equals_the_finite_difference_of_the_forward_function(name):
    operation = name.removesuffix("_grad")
    reference = of(operation)[2]
    x = (numbers() + 1e-3).astype(np.float32)
    wide, step = x.astype(np.float64), 1e-6
    slope = (reference(wide + step) - reference(wide - step)) / (2 * step)
    inputs = of(operation)[1](x) if name in ("sigmoid_grad", "tanh_grad") else x
    actual = of(name)[1](np.full(len(x), 3, np.float32), inputs)
    np.testing.assert_allclose(actual, 3 * slope, atol=3 * 16 * EPS)


# ---- special values -------------------------------------------------------------------------

INF = np.inf
SPECIAL = [0.0, -0.0, INF, -INF, np.nan]
# The results for 0, -0, inf, -inf and NaN.
ANSWERS = {
    "relu": [0.0, 0.0, INF, 0.0, np.nan],
    "sigmoid": [0.5, 0.5, 1.0, 0.0, np.nan],
    "tanh": [0.0, -0.0, 1.0, -1.0, np.nan],
    "gelu": [0.0, -0.0, INF, -0.0, np.nan],
    "relu_grad": [0.0, 0.0, 2.0, 0.0, 2.0],
    "gelu_grad": [1.0, 1.0, 2.0, 0.0, np.nan],
}


@pytest.mark.parametrize("name", ANSWERS)
@dtypes
def test_special_values_give_their_limits_and_nan_propagates(name, dtype):
    special = np.array(SPECIAL, dtype)
    arrays = (special,) if name in FORWARD else (np.full(5, 2, dtype), special)
    np.testing.assert_array_equal(of(name)[1](*arrays), np.array(ANSWERS[name], dtype))


@forward
def test_sign_of_zero_is_preserved_where_the_function_is_odd_at_zero(name):
    actual = of(name)[1](np.array([-0.0], np.float32))
    assert bool(np.signbit(actual[0])) == (name in ("tanh", "gelu"))


@pytest.mark.parametrize("name", ["sigmoid_grad", "tanh_grad"])
def test_gradient_of_a_nan_result_is_nan(name):
    one = np.ones(1, np.float32)
    assert np.isnan(of(name)[1](one, np.full(1, np.nan, np.float32)))[0]


@grads
def test_nan_gradient_propagates(name):
    half = np.full(1, 0.5, np.float32)
    assert np.isnan(of(name)[1](np.full(1, np.nan, np.float32), half))[0]


def test_nan_gradient_is_masked_where_relu_is_inactive():
    nan = np.full(1, np.nan, np.float32)
    assert activations_grad.relu_grad(nan, np.full(1, -1, np.float32))[0] == 0


@pytest.mark.parametrize(("name", "outputs"), [("sigmoid", [0, 1]), ("tanh", [-1, 1])])
def test_saturated_activation_has_zero_gradient(name, outputs):
    y = np.array(outputs, np.float32)
    assert of(f"{name}_grad")[1](np.ones_like(y), y).tolist() == [0, 0]


def test_relu_grad_accepts_the_output_in_place_of_the_input(signed):
    x, grad = signed(300), signed(300)
    from_result = activations_grad.relu_grad(grad, activations.relu(x))
    np.testing.assert_array_equal(from_result, activations_grad.relu_grad(grad, x))


def test_sigmoid_is_accurate_far_below_zero():
    x = np.array([-80, -87], np.float32)
    expected = activations.sigmoid_reference(x)
    assert (np.abs(activations.sigmoid(x) - expected) <= (FUNCTION + 4 * EPS) * expected).all()


def test_sigmoid_of_x_and_of_minus_x_sum_to_one(signed):
    x = signed(999)
    both = activations.sigmoid(x).astype(np.float64) + activations.sigmoid(-x)
    assert (np.abs(both - 1) <= FUNCTION + 4 * EPS).all()


def test_tanh_is_accurate_near_zero():
    x = np.array([1e-20, 1e-5, -1e-3], np.float32)
    expected = np.tanh(x.astype(np.float64))
    assert (np.abs(activations.tanh(x) - expected) <= FUNCTION * np.abs(expected)).all()


# ---- layouts and device arrays --------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[::2, 1:-1], lambda a: a[::-1, ::-3], np.asfortranarray],
    ids=["transposed", "slice", "reversed", "fortran"],
)
def test_non_contiguous_input_is_read_correctly(name, view, signed):
    arrays = [view(array) for array in inputs(name, signed, 20, 37)]
    assert_right(name, of(name)[1](*arrays), *arrays)


@every_kernel
def test_out_in_fortran_order_is_written_correctly(name, signed):
    arrays = inputs(name, signed, 20, 37)
    out = np.full((37, 20), 7, np.float32).T
    assert of(name)[1](*arrays, out=out) is out
    np.testing.assert_array_equal(out, of(name)[1](*arrays))


@every_kernel
def test_zero_dimensional_device_array_returns_a_device_array(name, signed):
    arrays = inputs(name, signed)
    actual = of(name)[1](*map(cuda.to_device, arrays))
    assert launch.is_device_array(actual)
    assert_right(name, actual.copy_to_host().reshape(()), *arrays)


@every_kernel
def test_non_contiguous_device_array_is_rejected_with_advice(name, signed):
    arrays = [cuda.to_device(array) for array in inputs(name, signed, 6, 8)]
    first = "x" if name in FORWARD else "grad"
    expected = (
        rf"{name}: expected {first} in C order, got shape \(6, 7\) with strides \(32, 4\)\. "
        rf"Copy it: cuda\.to_device\(np\.ascontiguousarray\({first}\.copy_to_host\(\)\)\)\."
    )
    with pytest.raises(ValueError, match=expected):
        of(name)[1](*(array[:, 1:] for array in arrays))


@grads
def test_inputs_of_unequal_shapes_are_rejected(name):
    second = "y" if name in ("sigmoid_grad", "tanh_grad") else "x"
    expected = (
        rf"{name}: expected {second}\.shape == \(3, 2\), got \(2, 3\)\. "
        rf"The axes are grad \(\.\.\.,\), {second} \(\.\.\.,\)\."
    )
    with pytest.raises(ValueError, match=expected):
        of(name)[1](np.ones((3, 2), np.float32), np.ones((2, 3), np.float32))


# ---- checker findings and profile counters --------------------------------------------------


@pytest.mark.watched
@every_kernel
def test_checker_reports_no_findings(name, signed):
    arrays = inputs(name, signed, BLOCK + 13)
    out = cuda.device_array(BLOCK + 13, np.float32)
    report = gpukit.check(of(name)[0])[2, BLOCK](*arrays, out)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@pytest.mark.watched
@every_kernel
@pytest.mark.parametrize(
    ("n", "dtype"), [(1, np.float32), (BLOCK, np.float32), (1009, np.float32), (1009, np.float64)]
)
def test_cost_equals_the_profile_counters(name, n, dtype, signed, poisoned):
    arrays, out = inputs(name, signed, n, dtype=dtype), poisoned(n, dtype=dtype)
    found = gpukit.profile(of(name)[0])[ceil_div(n, BLOCK), BLOCK](*arrays, out).total
    counted = launch.Cost(found["global_bytes_asked"], found.flops)
    assert {**FORWARD, **GRAD}[name].cost(n, out.itemsize) == counted


@pytest.mark.watched
@every_kernel
@dtypes
def test_arithmetic_uses_the_dtype_of_the_arrays(name, dtype, signed, poisoned):
    arrays, out = inputs(name, signed, 33, dtype=dtype), poisoned(33, dtype=dtype)
    found = gpukit.profile(of(name)[0])[1, BLOCK](*arrays, out).total
    assert found["flops_float64"] == (found.flops if dtype is np.float64 else 0)


@pytest.mark.watched
@every_kernel
def test_every_warp_touches_the_minimum_number_of_sectors(name, signed, poisoned):
    arrays = inputs(name, signed, 2 * BLOCK)
    found = gpukit.profile(of(name)[0])[2, BLOCK](*arrays, poisoned(2 * BLOCK)).total
    assert found.ratio("sectors_per_request") == 4


def test_costs_of_ten_elements():
    costs = [variant.cost(10) for variant in (*FORWARD.values(), *GRAD.values())]
    # The forward pass reads one array, the backward pass two; both write one. 4 bytes per element.
    assert [cost.bytes for cost in costs] == [80] * 4 + [120] * 4
    assert [cost.flops for cost in costs] == [0, 30, 10, 50, 0, 30, 40, 110]
