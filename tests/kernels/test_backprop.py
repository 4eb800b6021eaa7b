"""Dense layer: forward, and gradients against a reference and against finite differences."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import backprop
from gpukit.kernels.backprop import columns, dense
from gpukit.kernels.matmul import nt, tn, vectorized

TILE = dense.TILE
# (N, I, O): all ones; around a tile; primes; all different.
SHAPES = [
    (1, 1, 1),
    (TILE, TILE, TILE),
    (TILE - 1, TILE + 1, TILE),
    (TILE + 1, 2 * TILE + 1, TILE - 1),
    (5, 37, 19),
    (1, 3, 41),
    (23, 1, 2),
]
# The variants that accept any size and both dtypes.
FORWARD = [(variant.name, variant.kernel) for variant in backprop.FORWARD_VARIANTS[:2]]

shapes = pytest.mark.parametrize(("n", "i", "o"), SHAPES, ids=lambda size: str(size))
variants = pytest.mark.parametrize(("name", "kernel"), FORWARD, ids=[name for name, _ in FORWARD])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def launch_2d(kernel, out, *inputs):
    kernel[launch.grid_2d("test", out.shape[1], out.shape[0], (TILE, TILE)), (TILE, TILE)](
        *inputs, out
    )
    return out


@variants
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


@variants
def test_linear_accumulates_float64_in_float64(name, kernel):
    # 2^24 + 1 is not a float32: no intermediate result may be float32.
    x = np.array([[2**24 + 1, 1, 1]], np.float64)
    out = backprop.linear(x, np.ones((1, 3)), np.ones(1), variant=name)
    assert (out.dtype, out[0, 0]) == (np.float64, 2**24 + 4)


@variants
def test_linear_adds_the_bias_once_per_sample(name, kernel):
    x, weight = np.zeros((3, TILE + 2), np.float32), np.zeros((2, TILE + 2), np.float32)
    out = backprop.linear(x, weight, np.array([5, -7], np.float32), variant=name)
    np.testing.assert_array_equal(out, [[5, -7]] * 3)


@dtypes
@shapes
def test_grad_x_kernel_matches_explicit_sums(n, i, o, dtype, signed, poisoned, assert_close):
    grad_out, weight = signed(n, o, dtype=dtype), signed(o, i, dtype=dtype)
    kernel = dense.linear_grad_x_kernel
    out = launch_2d(kernel, poisoned(n, i, dtype=dtype), grad_out, weight)
    terms = grad_out.astype(float)[:, :, None] * weight.astype(float)[None]  # (n, o, i)
    size = np.abs(terms).sum(axis=1)
    assert_close(out, terms.sum(axis=1), magnitude=size, length=2 * o)


@dtypes
@shapes
def test_grad_weight_kernel_matches_explicit_sums(n, i, o, dtype, signed, poisoned, assert_close):
    grad_out, x = signed(n, o, dtype=dtype), signed(n, i, dtype=dtype)
    kernel = dense.linear_grad_weight_kernel
    out = launch_2d(kernel, poisoned(o, i, dtype=dtype), grad_out, x)
    terms = grad_out.astype(float)[:, :, None] * x.astype(float)[:, None, :]  # (n, o, i)
    size = np.abs(terms).sum(axis=0)
    assert_close(out, terms.sum(axis=0), magnitude=size, length=2 * n)


EVERY_VARIANT = [variant.name for variant in backprop.FORWARD_VARIANTS]
every_name = pytest.mark.parametrize("name", EVERY_VARIANT)
# Shapes with and without vectorized loads; the last exceeds one block of the vectorized kernel.
LAYERS = [*SHAPES, (3, 8, 4), (131, 36, 132)]


@every_name
@pytest.mark.parametrize(("n", "i", "o"), LAYERS, ids=lambda size: str(size))
def test_linear_matches_the_reference(name, n, i, o, signed, assert_close):
    arrays = signed(n, i), signed(o, i), signed(o)
    size = backprop.linear_reference(*map(np.abs, arrays))
    out = backprop.linear(*arrays, variant=name)
    assert_close(out, backprop.linear_reference(*arrays), magnitude=size, length=i + 1)


@every_name
def test_linear_without_a_bias_is_the_matrix_product(name, signed, assert_close):
    x, weight = signed(9, 12), signed(8, 12)
    out = backprop.linear(x, weight, variant=name)
    size = backprop.linear_reference(np.abs(x), np.abs(weight))
    assert_close(out, backprop.linear_reference(x, weight), magnitude=size, length=12)


@every_name
@pytest.mark.parametrize(("n", "i", "o"), LAYERS, ids=lambda size: str(size))
@pytest.mark.costly
def test_linear_backward_matches_the_reference(name, n, i, o, signed, assert_close):
    arrays = signed(n, o), signed(n, i), signed(o, i)
    actual = backprop.linear_backward(*arrays, variant=name)
    expected = backprop.linear_backward_reference(*arrays)
    sizes = backprop.linear_backward_reference(*map(np.abs, arrays))
    for mine, reference, size in zip(actual, expected, sizes, strict=True):
        assert_close(mine, reference, magnitude=size, length=2 * max(n, i, o))


@pytest.mark.parametrize("name", ["naive", "tiled"])
def test_linear_backward_agrees_with_finite_differences(name, rng):
    x, weight, bias = (rng.standard_normal(shape) for shape in ((5, 7), (3, 7), (3,)))

    def forward(*arrays):
        return backprop.linear(*arrays, variant=name)

    def backward(grad, x, weight, _bias):
        return backprop.linear_backward(grad, x, weight, variant=name)

    assert gpukit.gradcheck(forward, backward, [x, weight, bias])


def test_gradients_are_bit_identical_from_run_to_run(signed):
    arrays = signed(3000, 20), signed(3000, 30), signed(20, 30)
    once, twice = (backprop.linear_backward(*arrays) for _ in range(2))
    assert [x.tobytes() for x in once] == [x.tobytes() for x in twice]


# ---- sums of columns ------------------------------------------------------------------------

CHUNK, WIDTH = columns.CHUNK, columns.WIDTH


@dtypes
@pytest.mark.parametrize(
    ("rows", "cols"),
    [(1, 1), (3, WIDTH - 1), (4, WIDTH), (5, WIDTH + 1), (CHUNK, 3), (CHUNK + 1, 3), (2000, 41)],
)
def test_column_sum_matches_the_reference(rows, cols, dtype, signed, assert_close):
    x = signed(rows, cols, dtype=dtype)
    size = columns.column_sum_reference(np.abs(x))
    assert_close(
        columns.column_sum(x), columns.column_sum_reference(x), magnitude=size, length=rows
    )


def test_column_sum_is_right_when_the_last_chunks_are_empty():
    """One row more than MAX_CHUNKS chunks hold: chunks grow, and the last ones are empty."""
    x = np.ones((CHUNK * columns.MAX_CHUNKS + 1, 1), np.float32)
    assert columns.column_sum(x).tolist() == [len(x)]


@variants
def test_linear_with_zero_inputs_is_the_bias(name, kernel, signed):
    bias = signed(4)
    out = backprop.linear(np.empty((2, 0), "f4"), np.empty((4, 0), "f4"), bias, variant=name)
    np.testing.assert_array_equal(out, [bias, bias])


def test_linear_backward_of_an_empty_batch_has_zero_parameter_gradients(signed):
    grads = backprop.linear_backward(signed(0, 4), signed(0, 3), signed(4, 3))
    assert [grad.tolist() for grad in grads] == [[], np.zeros((4, 3)).tolist(), [0.0] * 4]


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def test_linear_rejects_a_transposed_weight():
    expected = r"linear: expected weight\.shape == \(3, 2\), got \(3, 4\)\. The axes are input \(n"
    with pytest.raises(ValueError, match=expected):
        backprop.linear(ones(5, 2), ones(3, 4), ones(3))


def test_linear_rejects_a_bias_of_another_length():
    with pytest.raises(ValueError, match=r"linear: expected bias\.shape == \(3,\), got \(2,\)"):
        backprop.linear(ones(5, 2), ones(3, 2), ones(2))


def test_linear_backward_rejects_a_gradient_of_another_shape():
    expected = r"linear_backward: expected grad_out\.shape == \(5, 3\), got \(3, 5\)\. The axes are"
    with pytest.raises(ValueError, match=expected):
        backprop.linear_backward(ones(3, 5), ones(5, 2), ones(3, 2))


def test_naive_forward_cost_of_two_by_three_by_four():
    # 2 samples, 3 inputs, 4 outputs: 8 threads, each 1 + 3 + 3 loads and a store, 3 products.
    assert dense.linear_naive_cost(2, 3, 4) == launch.Cost(bytes=8 * 8 * 4, flops=8 * 6)


def test_tiled_forward_cost_loads_each_array_once_when_one_block_suffices():
    # 6 of x, 12 of weight, 8 of bias, 8 stores; 256 threads, 16 products; 8 biases added.
    cost = nt.matmul_nt_tiled_cost(2, 4, 3)
    assert cost == launch.Cost(bytes=4 * (6 + 12 + 8 + 8), flops=2 * 256 * 16 + 8)


def test_backward_costs_of_two_by_three_by_four():
    # grad_x: 6 threads, 4 + 4 loads; grad_weight: 12, 2 + 2; each one store.
    costs = [dense.linear_grad_x_cost(2, 3, 4), dense.linear_grad_weight_cost(2, 3, 4)]
    assert [cost.bytes for cost in costs] == [4 * 6 * 9, 4 * 12 * 5]
    assert [cost.flops for cost in costs] == [48, 48]


# ---- checker findings and profile counters --------------------------------------------------

# Sizes that need several blocks, and the array shapes of each kernel for them.
N, I, O = TILE + 1, 2 * TILE + 5, TILE + 3
M4, N4, K4 = vectorized.SIDE + 4, vectorized.SIDE + 8, vectorized.DEPTH + 4
LAUNCHES = {
    "linear_naive": (((N, I), (O, I), (O,), (N, O)), (N, I, O)),
    "linear_grad_x": (((N, O), (O, I), (N, I)), (N, I, O)),
    "linear_grad_weight": (((N, O), (N, I), (O, I)), (N, I, O)),
    "column_sum": (((N, WIDTH + 3), (2, WIDTH + 3)), (N, WIDTH + 3)),
    "matmul_nt_tiled": (((N, I), (O, I), (O,), (N, O)), (N, O, I)),
    "matmul_nt_vectorized": (((M4, K4), (N4, K4), (N4,), (M4, N4)), (M4, N4, K4)),
    "matmul_tn_tiled": (((I, N), (I, O), (N, O)), (N, O, I)),
    "matmul_tn_vectorized": (((K4, M4), (K4, N4), (M4, N4)), (M4, N4, K4)),
}
VARIANTS = {
    variant.kernel.py_func.__name__.removesuffix("_kernel"): variant
    for variant in (*dense.VARIANTS, *columns.VARIANTS, *nt.VARIANTS, *tn.VARIANTS)
}
every_kernel = pytest.mark.parametrize("name", LAUNCHES)
by_dtype = pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name in LAUNCHES for dtype in VARIANTS[name].dtypes]
)


def launch_under(watch, name, dtype, make):
    """Launch a kernel under `watch` (check or profile), with inputs from `make`."""
    variant, (*shapes, last) = VARIANTS[name], LAUNCHES[name][0]
    inputs, out = [make(*shape, dtype=dtype) for shape in shapes], cuda.device_array(last, dtype)
    return watch(variant.kernel)[variant.grid("test", *last[::-1]), variant.block](*inputs, out)


def test_every_kernel_is_checked_and_profiled():
    assert set(LAUNCHES) == set(VARIANTS)


@pytest.mark.watched
@every_kernel
def test_checker_reports_no_findings(name, signed):
    assert launch_under(gpukit.check, name, np.float32, signed).findings == []


@pytest.mark.watched
@every_kernel
def test_cost_equals_the_profile_counters(name):
    found = launch_under(gpukit.profile, name, np.float32, ones).total
    more = {"chunks": 2} if name == "column_sum" else {}
    cost = VARIANTS[name].cost(*LAUNCHES[name][1], **more)
    assert cost == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@by_dtype
def test_kernel_arithmetic_uses_only_the_dtype_of_its_arrays(name, dtype):
    found = launch_under(gpukit.profile, name, dtype, ones).total
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops
