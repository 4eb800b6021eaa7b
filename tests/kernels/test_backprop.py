"""Dense layer: forward, and gradients against a reference and against finite differences."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import backprop

TILE, BLOCK = backprop.TILE, backprop.BLOCK
# (N, I, O): one; around a tile; primes; all different.
SHAPES = [
    (1, 1, 1),
    (TILE, TILE, TILE),
    (TILE - 1, TILE + 1, TILE),
    (TILE + 1, 2 * TILE + 1, TILE - 1),
    (5, 37, 19),
    (1, 3, 41),
    (23, 1, 2),
]
FORWARD = [(rung.name, rung.kernel) for rung in backprop.FORWARD_LADDER]

shapes = pytest.mark.parametrize(("n", "i", "o"), SHAPES, ids=lambda size: str(size))
rungs = pytest.mark.parametrize(("name", "kernel"), FORWARD, ids=[name for name, _ in FORWARD])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def launch_2d(kernel, out, *inputs):
    kernel[launch.grid_2d("test", out.shape[1], out.shape[0], (TILE, TILE)), (TILE, TILE)](
        *inputs, out
    )
    return out


@rungs
@dtypes
@shapes
def test_linear_kernels_match_the_reference(
    name, kernel, n, i, o, dtype, signed, poisoned, assert_close
):
    x, weight, bias = (signed(*shape, dtype=dtype) for shape in ((n, i), (o, i), (o,)))
    out = launch_2d(kernel, poisoned(n, o, dtype=dtype), x, weight, bias)
    size = backprop.linear_reference(np.abs(x), np.abs(weight), np.abs(bias))
    expected = backprop.linear_reference(x, weight, bias)
    assert_close(out, expected, magnitude=size, length=i + 1)


@rungs
def test_linear_adds_float64_in_float64(name, kernel):
    # 2^24 + 1 is not a float32: nothing on its way may be one.
    x = np.array([[2**24 + 1, 1, 1]], np.float64)
    out = backprop.linear(x, np.ones((1, 3)), np.ones(1), rung=name)
    assert (out.dtype, out[0, 0]) == (np.float64, 2**24 + 4)


@rungs
def test_linear_adds_the_bias_once_for_each_sample(name, kernel):
    x, weight = np.zeros((3, TILE + 2), np.float32), np.zeros((2, TILE + 2), np.float32)
    out = backprop.linear(x, weight, np.array([5, -7], np.float32), rung=name)
    np.testing.assert_array_equal(out, [[5, -7]] * 3)


@dtypes
@shapes
def test_grad_x_kernel_matches_sums_written_out(n, i, o, dtype, signed, poisoned, assert_close):
    grad_out, weight = signed(n, o, dtype=dtype), signed(o, i, dtype=dtype)
    kernel = backprop.linear_grad_x_kernel
    out = launch_2d(kernel, poisoned(n, i, dtype=dtype), grad_out, weight)
    terms = grad_out.astype(float)[:, :, None] * weight.astype(float)[None]  # (n, o, i)
    size = np.abs(terms).sum(axis=1)
    assert_close(out, terms.sum(axis=1), magnitude=size, length=2 * o)


@dtypes
@shapes
def test_grad_weight_kernel_matches_sums_written_out(
    n, i, o, dtype, signed, poisoned, assert_close
):
    grad_out, x = signed(n, o, dtype=dtype), signed(n, i, dtype=dtype)
    kernel = backprop.linear_grad_weight_kernel
    out = launch_2d(kernel, poisoned(o, i, dtype=dtype), grad_out, x)
    terms = grad_out.astype(float)[:, :, None] * x.astype(float)[:, None, :]  # (n, o, i)
    size = np.abs(terms).sum(axis=0)
    assert_close(out, terms.sum(axis=0), magnitude=size, length=2 * n)


@dtypes
@pytest.mark.parametrize(("n", "o"), [(1, 1), (7, BLOCK - 1), (3, BLOCK), (11, BLOCK + 1)])
def test_grad_bias_kernel_matches_the_column_sums(n, o, dtype, signed, poisoned, assert_close):
    grad_out, out = signed(n, o, dtype=dtype), poisoned(o, dtype=dtype)
    backprop.linear_grad_bias_kernel[launch.ceil_div(o, BLOCK), BLOCK](grad_out, out)
    size = np.abs(grad_out).sum(axis=0, dtype=float)
    assert_close(out, grad_out.sum(axis=0, dtype=float), magnitude=size, length=2 * n)


@shapes
def test_linear_backward_matches_the_reference(n, i, o, signed, assert_close):
    x, weight, grad_out = signed(n, i), signed(o, i), signed(n, o)
    actual = backprop.linear_backward(x, weight, grad_out)
    expected = backprop.linear_backward_reference(x, weight, grad_out)
    sizes = backprop.linear_backward_reference(np.abs(x), np.abs(weight), np.abs(grad_out))
    for mine, theirs, size in zip(actual, expected, sizes, strict=True):
        assert_close(mine, theirs, magnitude=size, length=max(n, i, o))


@pytest.fixture
def layer(rng):
    """A layer in float64 with an error that is not linear in its outputs: sum of target * out^2."""
    arrays = {"x": rng.standard_normal((5, 7)), "weight": rng.standard_normal((3, 7))}
    return {**arrays, "bias": rng.standard_normal(3)}, rng.standard_normal((5, 3))


def error_of(arrays, target):
    return float((target * backprop.linear(**arrays, rung="naive") ** 2).sum())


@pytest.mark.parametrize(("place", "name"), list(enumerate(["x", "weight", "bias"])))
def test_linear_backward_agrees_with_finite_differences(place, name, layer):
    arrays, target = layer
    grad_out = 2 * target * backprop.linear(**arrays, rung="naive")
    gradient = backprop.linear_backward(arrays["x"], arrays["weight"], grad_out)[place]
    step = np.cbrt(np.finfo(np.float64).eps)
    for where in np.ndindex(gradient.shape):
        errors = []
        for sign in (1, -1):
            moved = {key: value.copy() for key, value in arrays.items()}
            moved[name][where] += sign * step
            errors.append(error_of(moved, target))
        slope = (errors[0] - errors[1]) / (2 * step)
        # The error is quadratic, so central differences are exact but for rounding: eps / step.
        bound = 100 * np.finfo(np.float64).eps / step * max(1, *map(abs, errors))
        assert abs(slope - gradient[where]) <= bound


def test_linear_takes_device_arrays(signed):
    arrays = signed(2, 3), signed(4, 3), signed(4)
    expected = backprop.linear(*arrays)
    np.testing.assert_array_equal(backprop.linear(*map(cuda.to_device, arrays)), expected)


def test_linear_of_no_samples_is_empty(signed):
    assert backprop.linear(signed(0, 3), signed(4, 3), signed(4)).shape == (0, 4)


@rungs
def test_linear_of_no_inputs_is_the_bias(name, kernel, signed):
    bias = signed(4)
    out = backprop.linear(np.empty((2, 0), "f4"), np.empty((4, 0), "f4"), bias, rung=name)
    np.testing.assert_array_equal(out, [bias, bias])


def test_linear_backward_of_no_samples_has_zero_gradients_of_the_parameters(signed):
    grads = backprop.linear_backward(signed(0, 3), signed(4, 3), signed(0, 4))
    assert [grad.tolist() for grad in grads] == [[], np.zeros((4, 3)).tolist(), [0.0] * 4]


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def test_linear_rejects_a_weight_that_is_the_wrong_way_round():
    expected = r"linear: expected weight\.shape == \(3, 2\), got \(3, 4\)\. Its rows are as long"
    with pytest.raises(ValueError, match=expected):
        backprop.linear(ones(5, 2), ones(3, 4), ones(3))


def test_linear_rejects_a_bias_of_another_length():
    with pytest.raises(ValueError, match=r"linear: expected bias\.shape == \(3,\), got \(2,\)"):
        backprop.linear(ones(5, 2), ones(3, 2), ones(2))


def test_linear_rejects_integers():
    with pytest.raises(TypeError, match="linear: expected x to be a float32 or float64 array"):
        backprop.linear(ones(5, 2, dtype=np.int32), ones(3, 2), ones(3))


def test_linear_backward_rejects_a_gradient_of_another_shape():
    expected = (
        r"linear_backward: expected grad_out\.shape == \(5, 3\), got \(3, 5\)\. It has the shape"
    )
    with pytest.raises(ValueError, match=expected):
        backprop.linear_backward(ones(5, 2), ones(3, 2), ones(3, 5))


def test_naive_forward_cost_of_two_by_three_by_four():
    # 2 samples, 3 inputs, 4 outputs: 8 threads, each 1 + 3 + 3 loads and a store, 3 products.
    assert backprop.linear_naive_cost(2, 3, 4) == launch.Cost(bytes=8 * 8 * 4, flops=8 * 6)


def test_tiled_forward_cost_loads_each_array_once_when_one_block_is_enough():
    # 6 of x, 12 of weight, 8 of bias, 8 stores; 256 threads, 16 products; 8 biases added.
    cost = backprop.linear_tiled_cost(2, 3, 4)
    assert cost == launch.Cost(bytes=4 * (6 + 12 + 8 + 8), flops=2 * 256 * 16 + 8)


def test_backward_costs_of_two_by_three_by_four():
    # grad_x: 6 threads, 4 + 4 loads; grad_weight: 12, 2 + 2; grad_bias: 4, 2; each one store.
    costs = [
        backprop.linear_grad_x_cost(2, 3, 4),
        backprop.linear_grad_weight_cost(2, 3, 4),
        backprop.linear_grad_bias_cost(2, 4),
    ]
    assert [cost.bytes for cost in costs] == [4 * 6 * 9, 4 * 12 * 5, 4 * 4 * 3]
    assert [cost.flops for cost in costs] == [48, 48, 8]


# ---- what the checker and the counters say --------------------------------------------------

# Sizes of launches in several blocks, and the shapes that each kernel takes then.
N, I, O = TILE + 1, 2 * TILE + 5, TILE + 3
SHAPES_OF = {
    "naive": ((N, I), (O, I), (O,), (N, O)),
    "tiled": ((N, I), (O, I), (O,), (N, O)),
    "grad_x": ((N, O), (O, I), (N, I)),
    "grad_weight": ((N, O), (N, I), (O, I)),
    "grad_bias": ((N, BLOCK + 3), (BLOCK + 3,)),
}
every_rung = pytest.mark.parametrize("rung", backprop.LADDER, ids=lambda rung: rung.name)


def watched(watch, rung, dtype, make):
    """Launch a kernel under `watch`, its inputs from `make`, and return what that returns."""
    *shapes, last = SHAPES_OF[rung.name]
    inputs, out = [make(*shape, dtype=dtype) for shape in shapes], cuda.device_array(last, dtype)
    if len(last) == 1:
        return watch(rung.kernel)[launch.ceil_div(last[0], BLOCK), BLOCK](*inputs, out)
    grid = launch.grid_2d("test", last[1], last[0], (TILE, TILE))
    return watch(rung.kernel)[grid, (TILE, TILE)](*inputs, out)


@pytest.mark.watched
@every_rung
def test_checker_finds_nothing_wrong(rung, signed):
    assert watched(gpukit.check, rung, np.float32, signed).findings == []


@pytest.mark.watched
@every_rung
def test_cost_is_what_is_counted(rung):
    found = watched(gpukit.profile, rung, np.float32, ones).total
    sizes = (N, BLOCK + 3) if rung.name == "grad_bias" else (N, I, O)
    assert rung.cost(*sizes) == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@dtypes
@every_rung
def test_kernel_computes_in_the_dtype_of_its_arrays_alone(rung, dtype):
    found = watched(gpukit.profile, rung, dtype, ones).total
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops
