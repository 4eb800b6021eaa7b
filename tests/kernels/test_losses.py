"""Losses and their gradients: ignored and invalid classes, large logits, reductions."""

import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import losses
from gpukit.kernels.losses import entropy, mse, totals

WARP, ROWS, BLOCK = entropy.WARP, entropy.ROWS, totals.BLOCK
# (rows, classes): one; around the rows of a block, a warp and a block of totals; primes.
SHAPES = [
    (1, 1),
    (ROWS - 1, WARP - 1),
    (ROWS, WARP),
    (ROWS + 1, WARP + 1),
    (BLOCK + 1, 3),
    (2, 997),
    (37, 613),
]
SIZES = [1, BLOCK - 1, BLOCK, BLOCK + 1, 1009]
DTYPES, PLACES = [np.float32, np.float64], [np.int32, np.int64]

shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
sizes = pytest.mark.parametrize("n", SIZES)
dtypes = pytest.mark.parametrize("dtype", DTYPES)
places = pytest.mark.parametrize("place", PLACES)
reductions = pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
functions = pytest.mark.parametrize(
    "name", ["cross_entropy", "cross_entropy_backward", "cross_entropy_with_grad"]
)


def logits_and_classes(rng, rows, classes, dtype=np.float32, place=np.int32, ignored=-100):
    """Return logits and classes, some of them equal to ignore_index."""
    x = (3 * rng.standard_normal((rows, classes))).astype(dtype)
    target = rng.integers(0, classes, rows).astype(place)
    target[1::5] = ignored
    return x, target


def reduced(each, reduction, counted):
    """Return losses, or gradients of their sum, under a reduction."""
    divisor = counted if reduction == "mean" else 1
    return (each if reduction == "none" else each.sum()) / divisor


# ---- cross-entropy --------------------------------------------------------------------------


@shapes
@dtypes
@places
@reductions
def test_cross_entropy_matches_the_reference(shape, dtype, place, reduction, rng, assert_close):
    x, target = logits_and_classes(rng, *shape, dtype, place)
    each = losses.cross_entropy_reference(x, target)
    out = np.full(each.shape if reduction == "none" else (), np.nan, dtype)
    assert losses.cross_entropy(x, target, reduction, out=out) is out
    expected = reduced(each, reduction, np.count_nonzero(target >= 0))
    tolerance = (np.abs(x).max() + 8) * (shape[0] if reduction == "sum" else 1)
    assert_close(out, np.asarray(expected), magnitude=tolerance, length=sum(shape))


@shapes
@dtypes
@places
@reductions
def test_gradient_of_cross_entropy_matches_the_reference(
    shape, dtype, place, reduction, rng, poisoned, assert_close
):
    x, target = logits_and_classes(rng, *shape, dtype, place)
    scale = 1 / np.count_nonzero(target >= 0) if reduction == "mean" else 1
    out = poisoned(*shape, dtype=dtype)
    assert losses.cross_entropy_backward(x, target, reduction, out=out) is out
    expected = scale * losses.cross_entropy_grad_reference(x, target)
    assert_close(out, expected, magnitude=scale, length=shape[1] + 32)


@shapes
@reductions
def test_fused_loss_and_gradient_equal_separate_calls(shape, reduction, rng):
    x, target = logits_and_classes(rng, *shape)
    loss, grad = losses.cross_entropy_with_grad(x, target, reduction)
    np.testing.assert_array_equal(loss, losses.cross_entropy(x, target, reduction))
    np.testing.assert_array_equal(grad, losses.cross_entropy_backward(x, target, reduction))


def test_cross_entropy_of_two_equal_logits_is_log_2():
    loss = losses.cross_entropy(np.zeros((1, 2), np.float32), np.array([1]))
    assert (loss.shape, loss.dtype) == ((), np.float32)
    np.testing.assert_allclose(loss, math.log(2), rtol=1e-6)


@dtypes
def test_large_logits_have_finite_losses_and_gradients(dtype):
    x = np.array([[1e4, -1e4], [-1e4, 1e4]], dtype)
    loss, grad = losses.cross_entropy_with_grad(x, np.array([1, 1]), "none")
    np.testing.assert_array_equal(loss, [2e4, 0])
    np.testing.assert_array_equal(grad, [[1, -1], [0, 0]])


def test_class_of_probability_zero_has_infinite_loss_and_a_finite_gradient():
    x = np.array([[0, -np.inf, 0]], np.float32)
    loss, grad = losses.cross_entropy_with_grad(x, np.array([1]))
    assert loss == np.inf
    np.testing.assert_array_equal(grad, [[0.5, -1, 0.5]])


@pytest.mark.parametrize("at", [0, WARP - 1, WARP, 2 * WARP])
def test_every_class_can_be_the_target(at):
    x = np.zeros((3, 2 * WARP + 1), np.float32)
    x[:, at] = 300
    loss = losses.cross_entropy(x, np.array([at, 1, at]), "none")
    np.testing.assert_array_equal(loss, [0, 300, 0])


@reductions
def test_ignored_rows_have_no_loss_and_no_gradient(reduction, rng):
    x, target = logits_and_classes(rng, 11, 5, ignored=3)
    seen = target != 3
    options = {"reduction": reduction, "ignore_index": 3}
    loss, grad = losses.cross_entropy_with_grad(x, target, **options)
    alone, grad_alone = losses.cross_entropy_with_grad(x[seen], target[seen], reduction)
    np.testing.assert_array_equal(loss[seen] if reduction == "none" else loss, alone)
    np.testing.assert_array_equal(grad[seen], grad_alone)
    assert (grad[~seen] == 0).all()


def test_mean_over_only_ignored_rows_is_nan_with_zero_gradient():
    x, target = np.ones((2, 3), np.float32), np.array([-100, -100])
    loss, grad = losses.cross_entropy_with_grad(x, target)
    assert np.isnan(loss)
    np.testing.assert_array_equal(grad, np.zeros((2, 3)))


@pytest.mark.parametrize(("reduction", "expected"), [("mean", np.nan), ("sum", 0.0)])
def test_empty_batch_has_the_loss_of_an_empty_reduction(reduction, expected):
    x, target = np.ones((0, 3), np.float32), np.ones(0, np.int64)
    loss, grad = losses.cross_entropy_with_grad(x, target, reduction)
    np.testing.assert_array_equal(loss, expected)
    np.testing.assert_array_equal(losses.cross_entropy(x, target, reduction), expected)
    assert grad.shape == (0, 3)


def test_nan_stays_in_its_row(rng):
    x = np.zeros((11, 70), np.float32)
    x[4, 65] = np.nan
    loss, grad = losses.cross_entropy_with_grad(x, np.arange(11), "none")
    np.testing.assert_array_equal(np.isnan(loss), np.arange(11) == 4)
    np.testing.assert_array_equal(np.isnan(grad).all(axis=1), np.arange(11) == 4)


@functions
@pytest.mark.parametrize("wrong", [-1, 5, 2**31 - 1])
def test_out_of_range_class_is_rejected_on_the_host(name, wrong):
    target = np.array([0, wrong, 2])
    with pytest.raises(ValueError, match=rf"{name}: expected classes in \[0, 5\) .* got {wrong}\."):
        getattr(losses, name)(np.ones((3, 5), np.float32), target)


@pytest.mark.parametrize("wrong", [-1, 5, 2**31 - 1, -(2**31)])
@places
def test_out_of_range_class_on_the_device_makes_its_row_nan(wrong, place):
    x, target = np.ones((3, 5), np.float32), np.array([0, wrong, 2], place)
    arrays = cuda.to_device(x), cuda.to_device(target)
    loss, grad = losses.cross_entropy_with_grad(*arrays, "none")
    np.testing.assert_array_equal(np.isnan(loss.copy_to_host()), [False, True, False])
    found = np.isnan(grad.copy_to_host())
    np.testing.assert_array_equal(found, [[False] * 5, [True] * 5, [False] * 5])
    assert np.isnan(losses.cross_entropy(*arrays).copy_to_host())


@functions
def test_an_unknown_reduction_is_rejected(name):
    expected = f"{name}: expected reduction to be one of 'mean', 'sum', 'none', got 'max'. Pick one"
    with pytest.raises(ValueError, match=expected):
        getattr(losses, name)(np.ones((1, 2), np.float32), np.array([0]), "max")


@functions
def test_targets_of_another_length_are_rejected(name):
    with pytest.raises(ValueError, match=rf"{name}: expected target\.shape == \(3,\), got \(2,\)"):
        getattr(losses, name)(np.ones((3, 5), np.float32), np.array([0, 1]))


# ---- grad_out -------------------------------------------------------------------------------


def backwards(name, reduction, rng):
    """Return a function of grad_out that computes a gradient, and the shape of the losses."""
    x, target = logits_and_classes(rng, 7, 5)
    if name == "mse_loss":
        return lambda **o: losses.mse_loss_backward(x, x[::-1], reduction, **o), x.shape
    return lambda **o: losses.cross_entropy_backward(x, target, reduction, **o), (7,)


both = pytest.mark.parametrize("name", ["cross_entropy", "mse_loss"])


@both
@reductions
@pytest.mark.parametrize(
    "convert", [float, np.float32, np.array, lambda v: np.array([v], np.float32)]
)
def test_gradient_is_multiplied_by_grad_out(name, reduction, convert, rng):
    backward, _ = backwards(name, reduction, rng)
    inputs = convert(4.0)
    inputs = inputs.astype(np.float32) if isinstance(inputs, np.ndarray) else inputs
    np.testing.assert_array_equal(backward(grad_out=inputs), 4 * backward())


@both
def test_each_loss_has_its_own_grad_out(name, rng):
    backward, shape = backwards(name, "none", rng)
    above = np.exp2(rng.integers(-3, 3, shape)).astype(np.float32)
    scaled = above if name == "mse_loss" else above[:, None]
    np.testing.assert_array_equal(backward(grad_out=above), scaled * backward())


@both
def test_grad_out_may_be_a_device_array(name, rng):
    backward, _ = backwards(name, "mean", rng)
    actual = backward(grad_out=cuda.to_device(np.full(1, 4, np.float32)))
    np.testing.assert_array_equal(actual, 4 * backward())


@both
@pytest.mark.parametrize(("reduction", "length"), [("none", 3), ("mean", 7)])
def test_grad_out_of_another_shape_is_rejected(name, reduction, length, rng):
    backward, _ = backwards(name, reduction, rng)
    with pytest.raises(ValueError, match=rf"{name}_backward: expected grad_out\.shape == "):
        backward(grad_out=np.ones(length, np.float32))


# ---- mean squared error ---------------------------------------------------------------------


@sizes
@dtypes
@reductions
def test_mse_loss_matches_the_reference(n, dtype, reduction, signed, assert_close):
    x, target = signed(n, dtype=dtype), signed(n, dtype=dtype)[::-1]
    each = losses.mse_terms_reference(x, target)
    out = np.full(each.shape if reduction == "none" else (), np.nan, dtype)
    assert losses.mse_loss(x, target, reduction, out=out) is out
    expected = np.asarray(reduced(each, reduction, n))
    tolerance = (np.abs(x) + np.abs(target)).astype(np.float64) ** 2
    magnitude = reduced(tolerance, reduction, n)
    assert_close(out, expected, magnitude=magnitude, length=4 if reduction == "none" else n + 4)


@sizes
@dtypes
@reductions
def test_gradient_of_mse_loss_matches_the_reference(n, dtype, reduction, signed, assert_close):
    x, target = signed(n, dtype=dtype), signed(n, dtype=dtype)[::-1]
    slope = 2 / n if reduction == "mean" else 2
    expected = mse.mse_grad_reference(x, target, 1, slope)
    out = losses.mse_loss_backward(x, target, reduction)
    tolerance = slope * (np.abs(x) + np.abs(target))
    assert_close(out, expected, magnitude=tolerance, length=4)


def test_mse_loss_of_more_elements_than_threads_counts_each_once():
    n = launch.resident_blocks(mse.BLOCK) * mse.BLOCK + 3
    x = np.ones(n, np.float32)
    assert losses.mse_loss(x, np.zeros(n, np.float32), "sum") == n
    assert losses.mse_loss(x, np.zeros(n, np.float32)) == 1


@pytest.mark.parametrize(("reduction", "expected"), [("mean", np.nan), ("sum", 0.0)])
def test_mse_loss_of_empty_arrays_is_that_of_an_empty_reduction(reduction, expected):
    x = np.ones((0, 3), np.float32)
    np.testing.assert_array_equal(losses.mse_loss(x, x, reduction), expected)
    assert losses.mse_loss_backward(x, x, reduction).shape == (0, 3)


def test_mse_loss_accepts_any_shape():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert losses.mse_loss(x, x + 2) == 4
    assert losses.mse_loss(x, x + 2, "none").shape == (2, 3, 4)


def test_mse_loss_rejects_shapes_that_would_broadcast():
    with pytest.raises(ValueError, match=r"mse_loss: expected target\.shape == \(3, 1\), got"):
        losses.mse_loss(np.ones((3, 1)), np.ones(3))


# ---- checker findings and profile counters --------------------------------------------------


def loss_launch(variant, dtype, place):
    rows, classes = ROWS + 1, 71
    rng = np.random.default_rng(3)
    x, target = rng.standard_normal((rows, classes)).astype(dtype), rng.integers(0, 71, rows)
    arguments = [x, target.astype(place), -100]
    if variant is entropy.GRAD:
        arguments += [np.ones(1, dtype), np.ones(1, dtype)]
    arguments.append(np.full(rows, np.nan, dtype))
    if variant is entropy.GRAD:
        arguments.append(np.full((rows, classes), np.nan, dtype))
    return (rows, classes), (rows,), arguments


def total_launch(variant, dtype, place):
    inputs = {
        totals.TOTAL: (np.ones(500, dtype), np.ones(1, dtype)),
        totals.COUNT: (np.arange(500, dtype=place), 7),
    }[variant]
    return (500,), (500,), [*inputs, np.full(1, np.nan, dtype)]


def mse_launch(variant, dtype, place):
    more = [np.ones(1, dtype), dtype(2)] if variant is mse.GRAD else []
    blocks = variant.grid("test", 700) if variant is mse.SUM else (700,)
    arrays = [np.ones(700, dtype), np.zeros(700, dtype), *more, np.full(blocks, np.nan, dtype)]
    return (700,), (700,), arrays


LAUNCHES = [
    *((variant, loss_launch) for variant in entropy.VARIANTS),
    *((variant, total_launch) for variant in totals.VARIANTS),
    *((variant, mse_launch) for variant in mse.VARIANTS),
]
kernels = pytest.mark.parametrize(
    ("variant", "make"), LAUNCHES, ids=lambda value: getattr(value, "name", "")
)


@pytest.mark.watched
@kernels
def test_checker_reports_no_findings(variant, make):
    _, covered, arguments = make(variant, np.float32, np.int32)
    where = variant.grid("test", *covered), variant.block
    assert gpukit.check(variant.kernel)[where](*arguments).findings == []


@pytest.mark.watched
@pytest.mark.parametrize("variant", entropy.VARIANTS, ids=lambda variant: variant.name)
def test_checker_finds_no_read_out_of_bounds_when_classes_do_not_exist(variant):
    _, covered, arguments = loss_launch(variant, np.float32, np.int32)
    arguments[1][:4] = [-1, 71, 2**31 - 1, -(2**31)]
    where = variant.grid("test", *covered), variant.block
    assert gpukit.check(variant.kernel)[where](*arguments).findings == []


@pytest.mark.watched
@kernels
@dtypes
def test_cost_equals_the_profile_counters(variant, make, dtype):
    named, covered, arguments = make(variant, dtype, np.int64)
    where = variant.grid("test", *covered), variant.block
    found = gpukit.profile(variant.kernel)[where](*arguments).total
    targets = {"targetsize": 8} if make is loss_launch or variant is totals.COUNT else {}
    cost = variant.cost(*named, itemsize=np.dtype(dtype).itemsize, **targets)
    assert cost == launch.Cost(found["global_bytes_asked"], found.flops)
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops
