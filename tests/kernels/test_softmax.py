"""Softmax and log-softmax, forward and backward: variants, axes, rows of all lengths."""

import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import softmax
from gpukit.kernels.softmax import backward, groups, log, threads

WARP, BLOCK, ROWS, KEPT = groups.WARP, groups.BLOCK, groups.ROWS, groups.KEPT
# (rows, cols): one; around a warp, a block and the rows of a block; primes; one row or column.
SHAPES = [
    (1, 1),
    (ROWS - 1, WARP - 1),
    (ROWS, WARP),
    (ROWS + 1, WARP + 1),
    (3, BLOCK - 1),
    (2, BLOCK),
    (5, BLOCK + 1),
    (257, 1),
    (1, 997),
    (37, 613),
]
# (outer, n, inner): one less and one more than a block of threads, and axes of one.
CUBES = [(1, 1, 2), (3, 5, 7), (1, 37, 255), (4, 1, 257), (7, 11, 1)]
ALL = {variant.name: variant for variant in softmax.VARIANTS}
BACKWARD = ["softmax", "log_softmax"]
INF, NAN = np.inf, np.nan

variants = pytest.mark.parametrize("variant", ALL)
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
cubes = pytest.mark.parametrize("cube", CUBES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
functions = pytest.mark.parametrize("name", BACKWARD)


@pytest.fixture
def assert_right(poisoned, assert_close):
    """Return a function that compares a result, in a poisoned out, with a float64 reference."""

    def compare(function, reference, *arrays, dim=-1, magnitude=1.0, length=None, **options):
        dtype = arrays[0].dtype.type
        out = poisoned(*arrays[0].shape, dtype=dtype)
        assert function(*arrays, dim, out=out, **options) is out
        length = length or arrays[0].shape[dim] + 64  # 64: exponents magnify rounding errors
        assert_close(out, reference(*arrays, dim), magnitude=magnitude, length=length)

    return compare


def logits(rng, *shape, dtype=np.float32):
    """Return logits, some of them far apart."""
    return (rng.standard_normal(shape) * rng.choice([1, 10], shape)).astype(dtype)


# ---- results --------------------------------------------------------------------------------


@variants
@shapes
def test_softmax_matches_the_reference(variant, shape, rng, assert_right):
    assert_right(softmax.softmax, softmax.softmax_reference, logits(rng, *shape), variant=variant)


@variants
@pytest.mark.costly
def test_softmax_is_accurate_to_float64(variant, rng, assert_right):
    x = logits(rng, ROWS + 1, BLOCK + 5, dtype=np.float64)
    assert_right(softmax.softmax, softmax.softmax_reference, x, variant=variant)


@variants
@pytest.mark.parametrize("cols", [KEPT - 1, KEPT, KEPT + 1, 100_000])
def test_softmax_of_long_rows_matches_the_reference(variant, cols, rng, assert_right):
    assert_right(softmax.softmax, softmax.softmax_reference, logits(rng, 2, cols), variant=variant)


@variants
def test_rows_sum_to_one(variant, rng):
    y = softmax.softmax(logits(rng, 11, 301), variant=variant)
    np.testing.assert_allclose(y.sum(axis=1, dtype=np.float64), 1, rtol=1e-6)


@variants
def test_softmax_of_large_numbers_does_not_overflow(variant):
    y = softmax.softmax(np.array([[1000, 1001]], np.float32), variant=variant)
    below = 1 / (1 + math.e)
    np.testing.assert_allclose(y, [[below, 1 - below]], rtol=1e-6)


@variants
@pytest.mark.parametrize("at", [0, 1, WARP - 1, WARP, BLOCK - 1, BLOCK, BLOCK + 2])
def test_the_maximum_is_found_in_every_lane(variant, at):
    x = np.zeros((3, BLOCK + 3), np.float32)
    x[1, at] = 200  # e^-200 is 0, and e^200 is inf
    expected = np.full((3, BLOCK + 3), 1 / (BLOCK + 3))
    expected[1] = np.arange(BLOCK + 3) == at
    np.testing.assert_allclose(softmax.softmax(x, variant=variant), expected, rtol=1e-6)


@variants
@pytest.mark.parametrize("row", [[NAN, 1, 2], [INF, 1, 2], [INF, INF, -INF], [-INF, -INF, -INF]])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_undefined_row_is_nan_and_no_other_row_is(variant, row, turn):
    x = np.array([[0, 1, 2], np.roll(row, turn), [2, 1, 0]], np.float32)
    actual = np.isnan(softmax.softmax(x, variant=variant))
    np.testing.assert_array_equal(actual, [[False] * 3, [True] * 3, [False] * 3])


@variants
@dtypes
def test_minus_infinity_beside_a_finite_number_gets_zero(variant, dtype):
    x = np.full((1, 2 * BLOCK), -INF, dtype)
    x[0, BLOCK + 3] = -7
    actual = softmax.softmax(x, variant=variant)
    np.testing.assert_array_equal(actual[0], np.arange(2 * BLOCK) == BLOCK + 3)


@variants
@dtypes
def test_extreme_finite_numbers_are_accepted(variant, dtype):
    most = np.finfo(dtype).max
    x = np.array([[-most, -most], [most, most], [-most, most]], dtype)
    with np.errstate(over="ignore"):
        actual = softmax.softmax(x, variant=variant)
    np.testing.assert_array_equal(actual, [[0.5, 0.5], [0.5, 0.5], [0, 1]])


@variants
def test_result_is_bit_identical_from_run_to_run(variant, rng):
    x = logits(rng, 9, 301)
    first, second = softmax.softmax(x, variant=variant), softmax.softmax(x, variant=variant)
    np.testing.assert_array_equal(first.view(np.uint32), second.view(np.uint32))


@shapes
def test_log_softmax_matches_the_reference(shape, rng, assert_right):
    x = logits(rng, *shape)
    tolerance = np.abs(x).max() + math.log(shape[1])
    assert_right(softmax.log_softmax, softmax.log_softmax_reference, x, magnitude=tolerance)


def test_log_softmax_represents_probabilities_that_underflow_in_softmax():
    actual = softmax.log_softmax(np.array([[0, 1000]], np.float32))
    np.testing.assert_array_equal(actual, [[-1000, 0]])


def pair(name, rng, *shape, dim=-1, dtype=np.float32):
    """Return a gradient and the output of a forward pass."""
    grad = rng.standard_normal(shape).astype(dtype)
    return grad, getattr(softmax, f"{name}_reference")(logits(rng, *shape), dim).astype(dtype)


@functions
@shapes
@dtypes
def test_gradient_matches_the_reference(name, shape, dtype, rng, assert_right):
    grad, y = pair(name, rng, *shape, dtype=dtype)
    backwards = getattr(softmax, f"{name}_backward")
    reference = getattr(softmax, f"{name}_backward_reference")
    assert_right(backwards, reference, grad, y, magnitude=np.abs(grad).sum(axis=-1).max())


@functions
@pytest.mark.slow
def test_gradient_matches_finite_differences_of_the_forward_pass(name, rng):
    forward, backwards = getattr(softmax, name), getattr(softmax, f"{name}_backward")
    x, grad, step = *rng.standard_normal((2, 3, 7)), 1e-6
    slopes = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        away = np.zeros_like(x)
        away[at] = step
        slopes[at] = (grad * (forward(x + away) - forward(x - away))).sum() / (2 * step)
    np.testing.assert_allclose(backwards(grad, forward(x)), slopes, rtol=1e-7, atol=1e-8)


# ---- axes -----------------------------------------------------------------------------------


@cubes
@dtypes
def test_softmax_along_a_middle_axis_matches_the_reference(cube, dtype, rng, assert_right):
    x = logits(rng, *cube, dtype=dtype)
    assert_right(softmax.softmax, softmax.softmax_reference, x, dim=1)


@cubes
def test_log_softmax_along_a_middle_axis_matches_the_reference(cube, rng, assert_right):
    x = logits(rng, *cube)
    tolerance = np.abs(x).max() + math.log(cube[1])
    assert_right(softmax.log_softmax, softmax.log_softmax_reference, x, dim=1, magnitude=tolerance)


@functions
@cubes
def test_gradient_along_a_middle_axis_matches_the_reference(name, cube, rng, assert_right):
    grad, y = pair(name, rng, *cube, dim=1)
    backwards = getattr(softmax, f"{name}_backward")
    reference = getattr(softmax, f"{name}_backward_reference")
    tolerance = np.abs(grad).sum(axis=1).max()
    assert_right(backwards, reference, grad, y, dim=1, magnitude=tolerance)


@pytest.mark.parametrize("dim", range(-4, 4))
def test_softmax_accepts_every_axis_of_a_4d_array(dim, rng, assert_right):
    x = logits(rng, 3, 4, 5, 2)
    assert_right(softmax.softmax, softmax.softmax_reference, x, dim=dim)


def test_column_kernel_is_right_with_few_blocks_along_the_outer_axis(rng, poisoned, assert_close):
    x, out = logits(rng, 9, 5, 3), poisoned(9, 5, 3)
    threads.softmax_inner_kernel[(1, 2), threads.BLOCK](x, out)
    assert_close(out, softmax.softmax_reference(x, 1), magnitude=1, length=64)


def test_device_arrays_are_not_copied_for_any_axis(rng):
    x = logits(rng, 3, 4, 5)
    for dim in range(3):
        actual = softmax.softmax(cuda.to_device(x), dim)
        assert launch.is_device_array(actual)
        np.testing.assert_array_equal(actual.copy_to_host(), softmax.softmax(x, dim))


def test_scalar_is_a_row_of_length_one():
    actual = softmax.softmax(np.array(3.0))
    assert (actual.shape, float(actual)) == ((), 1.0)


# ---- errors of the host functions -----------------------------------------------------------


@pytest.mark.parametrize("dim", [2, -3, 7])
def test_out_of_range_axis_is_rejected(dim):
    with pytest.raises(ValueError, match=r"softmax: expected dim (<|>=) -?2, got "):
        softmax.softmax(np.ones((2, 3), np.float32), dim)


def test_non_integer_axis_is_rejected():
    with pytest.raises(TypeError, match="softmax: expected dim to be an int, got str"):
        softmax.softmax(np.ones((2, 3), np.float32), "rows")


def test_gradient_of_another_shape_is_rejected():
    expected = r"softmax_backward: expected output\.shape == \(2, 3\), got \(3, 2\)"
    with pytest.raises(ValueError, match=expected):
        softmax.softmax_backward(np.ones((2, 3)), np.ones((3, 2)))


# ---- checker findings and profile counters --------------------------------------------------

# Kernels by variant, with the number of input arrays.
ROW_KERNELS = [
    *((variant, 1) for variant in (*groups.VARIANTS, threads.VARIANTS[3], log.VARIANTS[0])),
    *((variant, 2) for variant in backward.VARIANTS[:2]),
]
COLUMN_KERNELS = [
    *((variant, 1) for variant in (threads.VARIANTS[4], log.VARIANTS[1])),
    *((variant, 2) for variant in backward.VARIANTS[2:]),
]
LAUNCHES = [
    *((variant, inputs, shape) for variant, inputs in ROW_KERNELS for shape in [(1, 1), (9, 161)]),
    *((variant, inputs, (2, 5, 37)) for variant, inputs in COLUMN_KERNELS),
]


def prepared(variant, inputs, shape, dtype=np.float32):
    """Return launch configuration and arrays of a variant."""
    arrays = [np.random.default_rng(k).standard_normal(shape).astype(dtype) for k in range(inputs)]
    sizes = shape[:1] if len(shape) == 2 else (shape[2], shape[0])
    return (variant.grid("test", *sizes), variant.block), [*arrays, np.full(shape, np.nan, dtype)]


def passes(dtype=np.float32):
    """Yield the three launches of the first variant in order."""
    x = np.random.default_rng(5).standard_normal((9, 161)).astype(dtype)
    arrays = [x, np.full(9, np.nan, dtype), np.full(9, np.nan, dtype), np.full_like(x, np.nan)]
    for variant, last in zip(threads.VARIANTS, (2, 3, 4), strict=False):
        yield variant, (variant.grid("test", 9), variant.block), arrays[:last]


launches = pytest.mark.parametrize(
    ("variant", "inputs", "shape"), LAUNCHES, ids=lambda value: getattr(value, "name", str(value))
)


@pytest.mark.watched
@launches
def test_checker_reports_no_findings(variant, inputs, shape):
    where, arrays = prepared(variant, inputs, shape)
    assert gpukit.check(variant.kernel)[where](*arrays).findings == []


@pytest.mark.watched
@launches
@dtypes
def test_cost_equals_the_profile_counters(variant, inputs, shape, dtype):
    where, arrays = prepared(variant, inputs, shape, dtype)
    found = gpukit.profile(variant.kernel)[where](*arrays).total
    cost = variant.cost(*shape, itemsize=arrays[0].itemsize)
    assert cost == launch.Cost(found["global_bytes_asked"], found.flops)
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops


@pytest.mark.watched
def test_checker_reports_no_findings_in_three_launches():
    for variant, where, arrays in passes():
        assert gpukit.check(variant.kernel)[where](*arrays).findings == []


@pytest.mark.watched
@dtypes
def test_cost_of_three_launches_equals_the_profile_counters(dtype):
    for variant, where, arrays in passes(dtype):
        found = gpukit.profile(variant.kernel)[where](*arrays).total
        cost = variant.cost(9, 161, itemsize=arrays[0].itemsize)
        assert cost == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
def test_thread_a_row_touches_32_sectors_per_load_and_the_column_kernel_4():
    sectors = {}
    for at, shape in ((3, (256, 64)), (4, (1, 64, 256))):
        where, arrays = prepared(threads.VARIANTS[at], 1, shape)
        found = gpukit.profile(threads.VARIANTS[at].kernel)[where](*arrays).total
        sectors[at] = found["global_load_sectors"] / found["global_load_requests"]
    assert sectors == {3: 32, 4: 4}
