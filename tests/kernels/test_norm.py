"""Layer norm and batch norm, forwards and backwards."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import batch_norm, batch_norm_grad, layer_norm, layer_norm_grad
from gpukit.launch import Cost

VARIANTS = [variant.name for variant in layer_norm.VARIANTS]
ROWS_COLS = [(1, 1), (1, 2), (7, 31), (8, 32), (9, 33), (3, 127), (2, 129), (5, 1009), (131, 3)]
BATCHES = [(2, 1), (5, 3), (300, 33), (2, 3, 1, 1), (1, 2, 1, 2), (4, 5, 7, 9), (3, 2, 17, 31)]
PARTS = [1, 2, 5]

variants = pytest.mark.parametrize("variant", VARIANTS)
shapes = pytest.mark.parametrize(("rows", "cols"), ROWS_COLS)
batches = pytest.mark.parametrize("shape", BATCHES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
training = pytest.mark.parametrize("training", [True, False])


def near(made, right, *, terms=1):
    """Compare with float64, each element within the roundings of a sum of so many terms."""
    made, right = np.asarray(made), np.asarray(right)
    assert made.shape == right.shape
    tolerance = 16 * np.finfo(made.dtype).eps * max(terms, 1) ** 0.5
    magnitude = np.abs(right).max(initial=1)
    wrong = ~(np.abs(made.astype(np.float64) - right) <= tolerance * magnitude)
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} wrong, first at {np.argwhere(wrong)[0]}"


def drawn(rng, dtype, *shapes):
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


# ---- layer norm -----------------------------------------------------------------------------


def run(variant, x, *rest):
    """Launch the kernel of a variant; rest are weight, bias, eps, mean, rstd and out."""
    chosen = launch.pick("test", layer_norm.VARIANTS, variant)
    shared = x.shape[1] * x.itemsize if variant == "block" else 0
    chosen.kernel[chosen.grid("test", len(x)), chosen.block, 0, shared](x, *rest)


@shapes
@dtypes
@variants
def test_layer_norm_kernels_match_the_reference(rows, cols, dtype, variant, rng, poisoned):
    x, weight, bias = drawn(rng, dtype, (rows, cols), cols, cols)
    mean, rstd, out = (poisoned(*shape, dtype=dtype) for shape in ((rows,), (rows,), (rows, cols)))
    run(variant, x, weight, bias, dtype(1e-5), mean, rstd, out)
    near(out, layer_norm.layer_norm_reference(x, weight, bias), terms=cols)
    wide = x.astype(np.float64)
    near(mean, wide.mean(axis=1), terms=cols)
    near(rstd, 1 / np.sqrt(wide.var(axis=1) + 1e-5), terms=cols)


@variants
def test_layer_norm_keeps_its_digits_far_from_zero(variant, rng):
    """Values around 1e5 with spread 10, which float32 holds to 1/128."""
    x = (1e5 + 10 * rng.standard_normal((9, 1009))).astype(np.float32)
    made = layer_norm.layer_norm(x, 1009, variant=variant)
    error = np.abs(made - layer_norm.layer_norm_reference(x)).max()
    assert error < 1e-5


def test_the_formula_with_one_reading_less_loses_them(rng):
    x = (1e5 + 10 * rng.standard_normal((9, 1009))).astype(np.float32)
    variance = (x * x).mean(axis=1) - x.mean(axis=1) ** 2
    assert np.abs(variance / x.astype(np.float64).var(axis=1) - 1).max() > 1


@variants
@pytest.mark.parametrize("shape", [(7,), (2, 3, 5), (1, 4, 3, 2)], ids=str)
@pytest.mark.parametrize("axes", [1, 2])
def test_layer_norm_takes_any_last_axes(variant, shape, axes, rng):
    axes = min(axes, len(shape))
    inner, outer = shape[len(shape) - axes :], shape[: len(shape) - axes]
    x, weight, bias = drawn(rng, np.float32, shape, inner, inner)
    out, mean, rstd = layer_norm.layer_norm(
        x, inner, weight, bias, variant=variant, return_stats=True
    )
    size = int(np.prod(inner))
    right = layer_norm.layer_norm_reference(x.reshape(-1, size), weight.ravel(), bias.ravel())
    near(out, right.reshape(shape), terms=10)
    assert mean.shape == rstd.shape == outer


@variants
def test_layer_norm_without_weight_and_bias_only_normalises(variant, rng):
    (x,) = drawn(rng, np.float32, (5, 67))
    near(
        layer_norm.layer_norm(x, 67, variant=variant), layer_norm.layer_norm_reference(x), terms=67
    )


@variants
def test_layer_norm_takes_another_eps(variant, rng):
    (x,) = drawn(rng, np.float64, (5, 67))
    made = layer_norm.layer_norm(x, 67, eps=0.5, variant=variant)
    near(made, layer_norm.layer_norm_reference(x, eps=0.5), terms=67)


@variants
def test_layer_norm_of_equal_numbers_is_the_bias(variant):
    x, bias = np.full((3, 50), 7, np.float32), np.arange(50, dtype=np.float32)
    made = layer_norm.layer_norm(x, 50, bias=bias, variant=variant)
    np.testing.assert_array_equal(made, np.tile(bias, (3, 1)))


@variants
def test_layer_norm_of_a_row_with_nan_is_nan_and_others_are_not(variant, rng):
    (x,) = drawn(rng, np.float32, (3, 50))
    x[1, 17] = np.nan
    made = np.isnan(layer_norm.layer_norm(x, 50, variant=variant))
    np.testing.assert_array_equal(made.all(axis=1), [False, True, False])
    np.testing.assert_array_equal(made.any(axis=1), [False, True, False])


@dtypes
def test_layer_norm_takes_rows_that_do_not_fit_into_shared_memory(dtype, rng):
    cols = layer_norm.MOST_KEPT // np.dtype(dtype).itemsize + 1
    (x,) = drawn(rng, dtype, (2, cols))
    near(
        layer_norm.layer_norm(x, cols, variant="block"),
        layer_norm.layer_norm_reference(x),
        terms=90,
    )


@dtypes
def test_layer_norm_keeps_the_longest_row_that_fits(dtype, rng):
    cols = layer_norm.MOST_KEPT // np.dtype(dtype).itemsize
    (x,) = drawn(rng, dtype, (1, cols))
    near(
        layer_norm.layer_norm(x, cols, variant="block"),
        layer_norm.layer_norm_reference(x),
        terms=90,
    )


@variants
def test_layer_norm_of_no_rows_is_empty(variant):
    made = layer_norm.layer_norm(
        np.empty((0, 5), np.float32), 5, variant=variant, return_stats=True
    )
    assert [part.shape for part in made] == [(0, 5), (0,), (0,)]


@pytest.mark.parametrize("inner", [(), 4, (3, 5), (2, 3, 5, 1), 0])
def test_layer_norm_rejects_axes_that_are_not_the_last(inner):
    words = r"^layer_norm: expected normalized_shape to be the last axes of input, .* for shape \(2"
    with pytest.raises(ValueError, match=words):
        layer_norm.layer_norm(np.ones((2, 5, 3), np.float32), inner)


def test_layer_norm_rejects_a_weight_of_another_shape():
    with pytest.raises(ValueError, match=r"^layer_norm: expected weight\.shape == \(5,\), got \(2"):
        layer_norm.layer_norm(np.ones((2, 5), np.float32), 5, np.ones(2, np.float32))


def test_layer_norm_of_device_arrays_leaves_statistics_on_the_device(rng):
    (x,) = drawn(rng, np.float32, (3, 5))
    made = layer_norm.layer_norm(cuda.to_device(x), 5, return_stats=True)
    assert all(map(launch.is_device_array, made))


# ---- its gradients --------------------------------------------------------------------------


@shapes
@dtypes
def test_layer_norm_gradients_match_the_reference(rows, cols, dtype, rng):
    grad, x, weight = drawn(rng, dtype, (rows, cols), (rows, cols), cols)
    _, mean, rstd = layer_norm.layer_norm(x, cols, return_stats=True)
    made = layer_norm_grad.layer_norm_backward(grad, x, mean, rstd, weight)
    right = layer_norm_grad.layer_norm_backward_reference(grad, x, weight)
    # Of two numbers the spread may be small, and its reciprocal, which all is multiplied by, large.
    scale = max(1, rstd.max()) ** 2
    for ours, theirs in zip(made, right, strict=True):
        near(ours / scale, theirs / scale, terms=max(rows, cols))


@pytest.mark.parametrize("rows", [63, 64, 65, 129, 64 * 64 + 1])
def test_layer_norm_gradients_add_up_all_shares(rows, rng):
    grad, x = drawn(rng, np.float64, (rows, 3), (rows, 3))
    _, mean, rstd = layer_norm.layer_norm(x, 3, return_stats=True)
    made = layer_norm_grad.layer_norm_backward(grad, x, mean, rstd)
    for ours, theirs in zip(
        made, layer_norm_grad.layer_norm_backward_reference(grad, x), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("parts", PARTS)
def test_shares_of_rows_hold_each_row_once(parts, rng, poisoned):
    grad, x, mean, rstd = drawn(rng, np.float64, (7, 5), (7, 5), 7, 7)
    sums = poisoned(parts, 5, dtype=np.float64), poisoned(parts, 5, dtype=np.float64)
    variant = layer_norm_grad.VARIANTS[1]
    variant.kernel[variant.grid("test", 5, parts), variant.block](grad, x, mean, rstd, *sums)
    y = (x - mean[:, None]) * rstd[:, None]
    near(sums[0].sum(axis=0), (grad * y).sum(axis=0), terms=7)
    near(sums[1].sum(axis=0), grad.sum(axis=0), terms=7)


def test_layer_norm_gradients_are_the_slopes(rng):
    grad, x, weight, bias = drawn(rng, np.float64, (3, 7), (3, 7), 7, 7)
    _, mean, rstd = layer_norm.layer_norm(x, 7, return_stats=True)
    made = layer_norm_grad.layer_norm_backward(grad, x, mean, rstd, weight)
    given = [x, weight, bias]

    def error():
        return (grad * layer_norm.layer_norm_reference(*given)).sum()

    for array, ours in zip(given, made, strict=True):
        np.testing.assert_allclose(ours, slopes(error, array), rtol=1e-6, atol=1e-7)


def slopes(error, array, step=1e-6):
    """Return how a number changes with each element of an array, by differences."""
    found = np.empty_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + step
        above = error()
        array[place] = kept - step
        found[place] = (above - error()) / (2 * step)
        array[place] = kept
    return found


def test_layer_norm_gradients_of_no_rows_are_zero():
    x, none = np.empty((0, 5)), np.empty(0)
    made = layer_norm_grad.layer_norm_backward(x, x, none, none)
    assert [part.tolist() for part in made] == [[], [0] * 5, [0] * 5]


def test_layer_norm_gradients_have_the_same_bits_every_time(rng):
    grad, x = drawn(rng, np.float32, (1009, 65), (1009, 65))
    _, mean, rstd = layer_norm.layer_norm(x, 65, return_stats=True)
    first, second = (layer_norm_grad.layer_norm_backward(grad, x, mean, rstd) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


# ---- batch norm -----------------------------------------------------------------------------


def flat(x):
    """Return a batch as (N, C, S)."""
    return x.reshape(*x.shape[:2], -1)


def batch(rng, dtype, shape):
    """Return a batch, a gradient of one, running mean and variance, weight and bias."""
    c = shape[1]
    made = drawn(rng, dtype, shape, shape, c, c, c, c)
    return *made[:3], made[3] ** 2 + dtype(0.5), *made[4:]


@batches
@dtypes
@training
def test_batch_norm_matches_the_reference(shape, dtype, training, rng):
    x, _, mean, var, weight, bias = batch(rng, dtype, shape)
    known = batch_norm.batch_stats_reference(flat(x)) if training else (mean, var)
    made = batch_norm.batch_norm(x, mean.copy(), var.copy(), weight, bias, training)
    right = batch_norm.batch_norm_reference(flat(x), *known, weight, bias)
    near(made, right.reshape(shape), terms=x.size // shape[1])


@batches
@dtypes
def test_batch_norm_moves_the_running_statistics(shape, dtype, rng):
    x, _, mean, var, _, _ = batch(rng, dtype, shape)
    count = x.size // shape[1]
    found = batch_norm.batch_stats_reference(flat(x))
    expected = 0.75 * mean + 0.25 * found[0], 0.75 * var + 0.25 * found[1] * count / (count - 1)
    made = batch_norm.batch_norm(x, mean, var, training=True, momentum=0.25, return_stats=True)
    near(mean, expected[0], terms=count)
    near(var, expected[1], terms=count)
    near(made[1], found[0], terms=count)
    near(made[2], found[1], terms=count)


def test_batch_norm_in_inference_leaves_the_running_statistics_alone(rng):
    x, _, mean, var, _, _ = batch(rng, np.float32, (5, 3))
    before = mean.copy(), var.copy()
    made = batch_norm.batch_norm(x, mean, var, return_stats=True)
    np.testing.assert_array_equal((mean, var), before)
    np.testing.assert_array_equal(made[1:], before)


def test_batch_norm_moves_running_statistics_in_a_part_of_an_array(rng):
    x, _, mean, var, _, _ = batch(rng, np.float32, (50, 3))
    whole = np.zeros((2, 6), np.float32)
    whole[:, ::2] = mean, var
    batch_norm.batch_norm(x, whole[0, ::2], whole[1, ::2], training=True)
    batch_norm.batch_norm(x, mean, var, training=True)
    np.testing.assert_array_equal(whole[:, ::2], (mean, var))
    assert (whole[:, 1::2] == 0).all()


def test_batch_norm_trains_without_running_statistics(rng):
    x, *_ = batch(rng, np.float32, (4, 3, 5, 7))
    made = batch_norm.batch_norm(x, None, None, training=True)
    known = batch_norm.batch_stats_reference(flat(x))
    right = batch_norm.batch_norm_reference(flat(x), *known, np.ones(3), np.zeros(3))
    near(made, right.reshape(x.shape), terms=140)


def test_batch_norm_keeps_its_digits_far_from_zero(rng):
    x = (1e5 + 10 * rng.standard_normal((64, 3, 17))).astype(np.float32)
    _, _, var = batch_norm.batch_norm(x, None, None, training=True, return_stats=True)
    near(var, batch_norm.batch_stats_reference(x)[1], terms=100)


@training
def test_batch_norm_of_an_empty_batch_is_empty(training):
    one = np.ones(3, np.float32)
    x = np.empty((0, 3, 5, 7), np.float32)
    assert batch_norm.batch_norm(x, one, one.copy(), training=training).shape == x.shape
    np.testing.assert_array_equal(one, [1, 1, 1])


def test_batch_norm_rejects_inference_without_statistics():
    with pytest.raises(
        ValueError, match=r"^batch_norm: expected running_mean and running_var where"
    ):
        batch_norm.batch_norm(np.ones((2, 3), np.float32), None, None)


def test_batch_norm_rejects_one_element_a_channel_in_training():
    with pytest.raises(
        ValueError, match=r"^batch_norm: expected two elements or more of each chan"
    ):
        batch_norm.batch_norm(np.ones((1, 3), np.float32), None, None, training=True)


def test_batch_norm_rejects_a_vector():
    words = r"^batch_norm: expected input to have axes \(n, c, \.\.\.\), got shape \(3,\)\. Resh"
    with pytest.raises(ValueError, match=words):
        batch_norm.batch_norm(np.ones(3, np.float32), None, None, training=True)


@batches
@dtypes
@training
def test_batch_norm_gradients_match_the_reference(shape, dtype, training, rng):
    x, grad, mean, var, weight, _ = batch(rng, dtype, shape)
    _, *known = batch_norm.batch_norm(x, mean, var, training=training, return_stats=True)
    made = batch_norm_grad.batch_norm_backward(grad, x, *known, weight, training)
    right = batch_norm_grad.batch_norm_backward_reference(
        flat(grad), flat(x), *known, weight, training
    )
    scale = max(1, 1 / known[1].min())
    for ours, theirs in zip(made, right, strict=True):
        near(ours / scale, theirs.reshape(ours.shape) / scale, terms=x.size // shape[1])


def test_batch_norm_gradients_are_the_slopes(rng):
    x, grad, _, _, weight, bias = batch(rng, np.float64, (2, 3, 5))
    _, *known = batch_norm.batch_norm(x, None, None, training=True, return_stats=True)
    made = batch_norm_grad.batch_norm_backward(grad, x, *known, weight)

    def error():
        found = batch_norm.batch_stats_reference(x)
        return (grad * batch_norm.batch_norm_reference(x, *found, weight, bias)).sum()

    for array, ours in zip((x, weight, bias), made, strict=True):
        np.testing.assert_allclose(ours, slopes(error, array), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4, 5)], ids=str)
def test_batch_norm_gradients_of_an_empty_batch_are_zero(shape):
    x, one = np.empty(shape), np.ones(3)
    made = batch_norm_grad.batch_norm_backward(x, x, one, one)
    assert [part.tolist() for part in made[1:]] == [[0, 0, 0]] * 2


# ---- checked --------------------------------------------------------------------------------

ROWS, COLS = 11, 131
N, C, S = 3, 5, 37


def layer_launches(dtype):
    """Yield each variant of layer norm, with its launch, its arguments and its cost."""
    x, row, col = np.ones((ROWS, COLS), dtype), np.ones(ROWS, dtype), np.ones(COLS, dtype)
    for variant in layer_norm.VARIANTS:
        shape = (variant.grid("test", ROWS), variant.block, 0, x.itemsize * COLS)
        given = x, col, col.copy(), dtype(1e-5), row.copy(), row.copy(), x.copy()
        yield variant, shape, given, variant.cost(ROWS, COLS, x.itemsize)
    by_row, by_col = layer_norm_grad.VARIANTS
    given = x, x.copy(), row, row.copy(), col, x.copy()
    shape = (by_row.grid("test", ROWS), by_row.block, 0, 0)
    yield by_row, shape, given, by_row.cost(ROWS, COLS, x.itemsize)
    sums = np.ones((2, COLS), dtype), np.ones((2, COLS), dtype)
    shape = (by_col.grid("test", COLS, 2), by_col.block, 0, 0)
    yield by_col, shape, (*given[:4], *sums), by_col.cost(ROWS, COLS, 2, x.itemsize)


def batch_launches(dtype):
    """Yield each variant of batch norm, with its launch, its arguments and its cost."""
    x, one = np.ones((N, C, S), dtype), np.ones(C, dtype)
    small, ones = dtype(0.1), iter([one.copy() for _ in range(20)])
    stats, norm = batch_norm.VARIANTS
    sums, by_element = batch_norm_grad.VARIANTS
    grad, out = x.copy(), x.copy()
    given = {
        stats: (x, small, *(next(ones) for _ in range(4))),
        norm: (x, next(ones), next(ones), small, next(ones), next(ones), out),
        sums: (grad, x, next(ones), next(ones), small, next(ones), next(ones)),
        by_element: (
            grad,
            x,
            next(ones),
            next(ones),
            small,
            *(next(ones) for _ in range(3)),
            small,
            out,
        ),
    }
    for variant, arguments in given.items():
        sizes = (C,) if variant in (stats, sums) else (S, C, N)
        shape = (variant.grid("test", *sizes), variant.block, 0, 0)
        yield variant, shape, arguments, variant.cost(N, C, S, x.itemsize)


def launches(dtype):
    return [*layer_launches(dtype), *batch_launches(dtype)]


every_kernel = pytest.mark.parametrize("number", range(8))


def test_every_kernel_is_launched():
    groups = (
        layer_norm.VARIANTS,
        layer_norm_grad.VARIANTS,
        batch_norm.VARIANTS,
        batch_norm_grad.VARIANTS,
    )
    assert [variant for variant, *_ in launches(np.float32)] == [
        r for group in groups for r in group
    ]


@pytest.mark.watched
@every_kernel
@dtypes
def test_checked_mode_finds_nothing_wrong(number, dtype):
    variant, shape, given, _ = launches(dtype)[number]
    found = gpukit.check(variant.kernel)[shape](*given).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
@every_kernel
@dtypes
def test_cost_is_what_checked_mode_counts(number, dtype):
    variant, shape, given, cost = launches(dtype)[number]
    counts = gpukit.profile(variant.kernel)[shape](*given).total
    flops = counts["flops_float32"] + counts["flops_float64"]
    assert Cost(counts["global_bytes_asked"], flops) == cost


@pytest.mark.watched
def test_a_row_on_the_chip_is_read_once_where_two_passes_read_it_three_times():
    counted = {
        variant.name: gpukit.profile(variant.kernel)[shape](*given).total["global_load_sectors"]
        for variant, shape, given, _ in list(layer_launches(np.float32))[:2]
    }
    sectors = ROWS * COLS * 4 / 32
    assert counted["two_pass"] - counted["block"] > 1.9 * sectors
