"""Pooling and its gradients, against loops over windows: ties, NaN, overlapping windows."""

import itertools
import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import pool, pool_grad

# (image, window, stride, padding, dilation)
CASES = [
    ((1, 1, 1, 1), (1, 1), (1, 1), (0, 0), (1, 1)),
    ((2, 3, 8, 10), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((2, 1, 7, 9), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((1, 2, 11, 35), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((1, 1, 9, 66), (3, 2), (1, 1), (0, 1), (1, 1)),
    ((3, 2, 5, 6), (1, 3), (3, 4), (0, 1), (1, 1)),
    ((1, 2, 13, 12), (2, 3), (2, 1), (1, 1), (2, 3)),
    ((2, 2, 10, 7), (4, 1), (5, 2), (2, 0), (1, 1)),
]
PLAIN = [case for case in CASES if case[4] == (1, 1)]
cases = pytest.mark.parametrize("case", CASES, ids=str)
plain = pytest.mark.parametrize("case", PLAIN, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
pads = pytest.mark.parametrize("include", [True, False], ids=["with_padding", "without"])
names = ("stride", "padding", "dilation")


def windows_of(case):
    """Yield each window and its pixels inside the image, in order."""
    (n, channels, *size), window, stride, padding, dilation = case
    rows, cols = (
        (size[k] + 2 * padding[k] - dilation[k] * (window[k] - 1) - 1) // stride[k] + 1
        for k in (0, 1)
    )
    for at in itertools.product(range(n), range(channels), range(rows), range(cols)):
        places = [
            [stride[k] * at[2 + k] + dilation[k] * place - padding[k] for place in range(window[k])]
            for k in (0, 1)
        ]
        yield (
            at,
            [
                (h, w)
                for h in places[0]
                if h in range(size[0])
                for w in places[1]
                if w in range(size[1])
            ],
        )


def shape_of(case):
    at = max(at for at, _ in windows_of(case))
    return tuple(k + 1 for k in at)


def largest(case, image):
    """Return maxima and indices by a loop: the first of equal elements, the last NaN."""
    out, indices = np.empty(shape_of(case), image.dtype), np.empty(shape_of(case), np.int64)
    for at, seen in windows_of(case):
        values = [float(image[at[0], at[1], h, w]) for h, w in seen]
        best = values.index(max(values)) if not any(map(math.isnan, values)) else None
        if best is None:
            best = max(k for k, value in enumerate(values) if math.isnan(value))
        h, w = seen[best]
        out[at], indices[at] = values[best], h * image.shape[3] + w
    return out, indices


def options(case):
    return dict(zip(("kernel_size", *names), case[1:], strict=True))


@dtypes
@cases
def test_max_pool2d_returns_the_maximum_and_its_index(case, dtype, signed):
    image = signed(*case[0], dtype=dtype)
    expected, places = largest(case, image)
    out, indices = pool.max_pool2d(image, **options(case), return_indices=True)
    assert (out.dtype, indices.dtype) == (dtype, np.int64)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(indices, places)


@cases
def test_max_pool2d_without_indices_is_the_same(case, signed):
    image = signed(*case[0])
    expected, _ = pool.max_pool2d(image, **options(case), return_indices=True)
    np.testing.assert_array_equal(pool.max_pool2d(image, **options(case)), expected)


@cases
def test_max_pool2d_takes_the_first_of_equal_elements(case):
    image = np.zeros(case[0], np.float32)
    _, indices = pool.max_pool2d(image, **options(case), return_indices=True)
    np.testing.assert_array_equal(indices, largest(case, image)[1])


@cases
def test_max_pool2d_propagates_nan(case, rng):
    image = rng.standard_normal(case[0]).astype(np.float32)
    image[rng.random(case[0]) < 0.2] = np.nan
    image[rng.random(case[0]) < 0.1] = np.inf
    out, indices = pool.max_pool2d(image, **options(case), return_indices=True)
    expected, places = largest(case, image)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(indices, places)


def test_max_pool2d_pads_with_minus_infinity():
    image = np.full((1, 1, 2, 2), -np.inf, np.float32)
    out, indices = pool.max_pool2d(image, 2, 1, 1, return_indices=True)
    assert (out == -np.inf).all()
    assert indices.ravel().tolist() == [0, 0, 1, 0, 0, 1, 2, 2, 3]


@dtypes
@pads
@plain
def test_avg_pool2d_is_the_mean_of_each_window(case, include, dtype, signed, assert_close):
    image = signed(*case[0], dtype=dtype)
    expected, size = np.empty(shape_of(case)), np.empty(shape_of(case))
    for at, seen in windows_of(case):
        values = np.array([image[at[0], at[1], h, w] for h, w in seen], np.float64)
        count = math.prod(case[1]) if include else len(seen)
        expected[at], size[at] = values.sum() / count, np.abs(values).sum() / count
    out = pool.avg_pool2d(image, *case[1:4], include)
    assert out.dtype == dtype
    assert_close(out, expected, magnitude=size, length=math.prod(case[1]) + 1)


@cases
def test_max_pool2d_reference_is_the_loop(case, signed):
    image = signed(*case[0])
    moves = dict(zip(names, case[2:], strict=True))
    actual = pool.max_pool2d_reference(image.reshape(-1, *image.shape[2:]), case[1], **moves)
    np.testing.assert_array_equal(actual.reshape(shape_of(case)), largest(case, image)[0])


# ---- gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["scatter", "gather"])
@dtypes
@cases
def test_max_pool2d_gradient_goes_to_the_maximum(case, dtype, variant, signed, assert_close):
    image, grad_out = signed(*case[0], dtype=dtype), signed(*shape_of(case), dtype=dtype)
    _, indices = pool.max_pool2d(image, **options(case), return_indices=True)
    expected, size = np.zeros(case[0]), np.zeros(case[0])
    for at in np.ndindex(*indices.shape):
        h, w = divmod(int(indices[at]), case[0][3])
        expected[at[0], at[1], h, w] += grad_out[at]
        size[at[0], at[1], h, w] += abs(grad_out[at])
    actual = pool_grad.max_pool2d_backward(
        grad_out, indices, case[0], **options(case), variant=variant
    )
    assert actual.dtype == dtype
    assert_close(actual, expected, magnitude=size, length=math.prod(case[1]))


@dtypes
@pads
@plain
def test_avg_pool2d_gradient_is_distributed_over_the_window(
    case, include, dtype, signed, assert_close
):
    grad_out = signed(*shape_of(case), dtype=dtype)
    expected, size = np.zeros(case[0]), np.zeros(case[0])
    for at, seen in windows_of(case):
        count = math.prod(case[1]) if include else len(seen)
        for h, w in seen:
            expected[at[0], at[1], h, w] += float(grad_out[at]) / count
            size[at[0], at[1], h, w] += abs(float(grad_out[at])) / count
    actual = pool_grad.avg_pool2d_backward(grad_out, case[0], *case[1:4], include)
    assert actual.dtype == dtype
    assert_close(actual, expected, magnitude=size, length=math.prod(case[1]) + 1)


@cases
def test_backward_references_match_the_host_functions(case, rng):
    size, moves = case[0][2:], dict(zip(names[:2], case[2:4], strict=True))
    grad_out = rng.standard_normal(shape_of(case))
    planes = grad_out.reshape(-1, *grad_out.shape[2:])
    image = rng.standard_normal(case[0])
    _, indices = pool.max_pool2d(image, **options(case), return_indices=True)
    actual = pool_grad.max_pool2d_backward(grad_out, indices, case[0], **options(case))
    reference = pool_grad.max_pool2d_backward_reference(planes, indices.reshape(planes.shape), size)
    np.testing.assert_allclose(reference.reshape(case[0]), actual, atol=1e-12)
    if case in PLAIN:
        actual = pool_grad.avg_pool2d_backward(grad_out, case[0], *case[1:4])
        reference = pool_grad.avg_pool2d_backward_reference(planes, size, case[1], **moves)
        np.testing.assert_allclose(reference.reshape(case[0]), actual, atol=1e-12)


def test_overlapping_windows_never_use_the_scatter_kernel(monkeypatch):
    monkeypatch.setattr(pool_grad, "vector", None)  # the scatter kernel needs it
    grad_out, indices = np.ones((1, 1, 2, 2), np.float32), np.full((1, 1, 2, 2), 4)
    grad = pool_grad.max_pool2d_backward(grad_out, indices, (1, 1, 3, 3), 2, 1)
    assert grad.ravel().tolist() == [0, 0, 0, 0, 4, 0, 0, 0, 0]


# ---- errors and empty arrays ----------------------------------------------------------------


def ones(*shape):
    return np.ones(shape, np.float32)


def test_stride_defaults_to_the_window(signed):
    image = signed(1, 2, 9, 12)
    np.testing.assert_array_equal(
        pool.max_pool2d(image, (3, 4)), pool.max_pool2d(image, (3, 4), (3, 4))
    )


@pytest.mark.parametrize("function", [pool.max_pool2d, pool.avg_pool2d])
def test_pooling_of_no_images_is_empty(function):
    assert function(np.empty((0, 2, 4, 6), np.float32), 2).shape == (0, 2, 2, 3)


@pytest.mark.parametrize("variant", ["scatter", "gather"])
def test_gradients_of_no_images_are_empty(variant):
    grad_out, indices = np.empty((0, 2, 2, 3), np.float32), np.empty((0, 2, 2, 3), np.int64)
    actual = pool_grad.max_pool2d_backward(grad_out, indices, (0, 2, 4, 6), 2, variant=variant)
    assert actual.shape == (0, 2, 4, 6)
    assert pool_grad.avg_pool2d_backward(grad_out, (0, 2, 4, 6), 2).shape == (0, 2, 4, 6)


def test_padding_of_more_than_half_a_window_is_rejected():
    expected = r"max_pool2d: expected padding of at most half the window, got \(2, 2\) and \(3, 3\)"
    with pytest.raises(ValueError, match=expected):
        pool.max_pool2d(ones(1, 1, 5, 5), 3, padding=2)


def test_a_window_larger_than_the_image_is_rejected():
    expected = "avg_pool2d: expected a window no larger than the padded image"
    with pytest.raises(ValueError, match=expected):
        pool.avg_pool2d(ones(1, 1, 2, 5), 3)


def test_an_invalid_size_is_rejected():
    expected = r"avg_pool2d_backward: expected input_size to be the shape \(N, C, H, W\)"
    with pytest.raises(TypeError, match=expected):
        pool_grad.avg_pool2d_backward(ones(1, 1, 2, 2), 4, 2)


def test_indices_of_another_dtype_are_rejected():
    expected = "max_pool2d_backward: expected indices to be a int64 array, got int32"
    indices = np.zeros((1, 1, 2, 2), np.int32)
    with pytest.raises(TypeError, match=expected):
        pool_grad.max_pool2d_backward(ones(1, 1, 2, 2), indices, (1, 1, 4, 4), 2)


def test_a_gradient_of_another_shape_is_rejected():
    expected = (
        r"avg_pool2d_backward: expected grad_out\.shape == \(1, 1, 2, 2\), got \(1, 1, 3, 3\)"
    )
    with pytest.raises(ValueError, match=expected):
        pool_grad.avg_pool2d_backward(ones(1, 1, 3, 3), (1, 1, 4, 4), 2)


# ---- costs and findings ---------------------------------------------------------------------


def launches(case, signed, dtype):
    """Yield launches: variant, sizes, arguments without out, outs, cost arguments."""
    image = signed(*case[0], dtype=dtype)
    window, stride, padding, dilation = case[1:]
    planes, size, out = math.prod(case[0][:2]), case[0][2:], shape_of(case)[2:]
    x, grad_out = image.reshape(planes, *size), signed(planes, *out, dtype=dtype)
    indices = np.ascontiguousarray(largest(case, image)[1].reshape(planes, *out))
    down, back = (out[1], out[0], planes), (size[1], size[0], planes)
    named = {"stride": stride, "padding": padding}
    wide, full = (planes, *out), (planes, *size)
    inputs = x, window, stride, padding, dilation
    outs = (wide, dtype), (wide, np.int64)
    yield pool.VARIANTS[0], down, inputs, outs, (full, window), named | {"dilation": dilation}
    reach = pool.reach_of(window, dilation)
    scatter, gather, mean = pool_grad.VARIANTS
    inputs = grad_out, indices, reach, stride, padding
    yield gather, back, inputs, ((full, dtype),), (full, reach), named
    if all(step >= span for step, span in zip(stride, reach, strict=True)):
        flat = planes, math.prod(size)
        yield scatter, down, (grad_out, indices), ((flat, dtype),), wide, {}
    if dilation == (1, 1):
        for include in (True, False):
            inputs = window, stride, padding, include
            yield pool.VARIANTS[1], down, (x, *inputs), ((wide, dtype),), (full, window), named
            yield mean, back, (grad_out, *inputs), ((full, dtype),), (full, window), named


@pytest.mark.watched
@dtypes
@cases
def test_cost_equals_the_profile_counters_and_checker_reports_no_findings(case, dtype, signed):
    for variant, sizes, inputs, outs, shapes, moves in launches(case, signed, dtype):
        grid, name = variant.grid("test", *sizes), variant.name
        actual = [cuda.device_array(*out) for out in outs]
        found = gpukit.profile(variant.kernel)[grid, variant.block](*inputs, *actual).total
        expected = launch.Cost(found["global_bytes_asked"], found.flops)
        assert variant.cost(*shapes, **moves, itemsize=np.dtype(dtype).itemsize) == expected, name
        assert found["flops_float64"] == (found.flops if dtype == np.float64 else 0), name
        if name == "scatter":  # it relies on zeros in out
            actual = [cuda.to_device(np.zeros(*out)) for out in outs]
        else:
            actual = [cuda.device_array(*out) for out in outs]
        assert gpukit.check(variant.kernel)[grid, variant.block](*inputs, *actual).findings == [], (
            name
        )
