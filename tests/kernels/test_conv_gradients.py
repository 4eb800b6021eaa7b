"""Gradients of a convolution: the formulas, the products with columns, and col2im."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import conv
from gpukit.kernels.conv import gradients, im2col, windows
from tests.kernels.convolutions import CASES, conv_by_formula

cases = pytest.mark.parametrize("case", CASES, ids=str)
small = pytest.mark.parametrize("case", [case for case in CASES if case[0][2] < 20], ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
variants = pytest.mark.parametrize("variant", [variant.name for variant in conv.BACKWARD_VARIANTS])
names = ("stride", "padding", "dilation")


def layer(case, signed, dtype=np.float32):
    """Return images, weights, a gradient of the output, and stride, padding and dilation."""
    image, weight, *moves = case
    size = windows.out_sizes(image[2:], weight[2:], *moves)
    grad_out = signed(image[0], weight[0], *size, dtype=dtype)
    inputs = grad_out, signed(*image, dtype=dtype), signed(*weight, dtype=dtype)
    return inputs, dict(zip(names, moves, strict=True))


def finite_difference(grad_out, image, weight, at, array, moves):
    """Return the exact derivative of sum(grad_out * out), which is linear in each element."""
    loss = []
    for step in (0, 1):
        array[at] += step
        out = conv_by_formula(image, weight, np.zeros(len(weight)), *moves.values())
        loss.append((grad_out * out).sum())
    array[at] -= 1
    return loss[1] - loss[0]


@small
@pytest.mark.costly
def test_reference_gradient_is_the_finite_difference_of_the_formula(case, rng):
    image, weight, *moves = case
    moves = dict(zip(names, moves, strict=True))
    size = windows.out_sizes(image[2:], weight[2:], *moves.values())
    arrays = [rng.standard_normal(s) for s in ((image[0], weight[0], *size), image, weight)]
    grad_image, grad_weight, grad_bias = conv.conv2d_backward_reference(*arrays, **moves)
    for which, grad in ((1, grad_image), (2, grad_weight)):
        for _ in range(3):
            at = tuple(int(rng.integers(n)) for n in arrays[which].shape)
            slope = finite_difference(*arrays, at, arrays[which], moves)
            np.testing.assert_allclose(grad[at], slope, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(grad_bias, arrays[0].sum((0, 2, 3)))


@variants
@dtypes
@cases
def test_gradients_match_the_reference(case, dtype, variant, signed, assert_close):
    inputs, moves = layer(case, signed, dtype)
    groups = case[0][1] // case[1][1]
    actual = conv.conv2d_backward(*inputs, **moves, groups=groups, variant=variant)
    expected = conv.conv2d_backward_reference(*inputs, **moves)
    sizes = conv.conv2d_backward_reference(*map(np.abs, inputs), **moves)
    pixels = inputs[0][:, 0].size
    lengths = inputs[2][:, 0].size, pixels, pixels
    for result, reference, size, length in zip(actual, expected, sizes, lengths, strict=True):
        assert result.dtype == dtype
        assert_close(result, reference, magnitude=size, length=length)


@pytest.mark.parametrize("most", [1, 400, 10_000])
def test_number_of_images_per_column_matrix_does_not_change_the_gradients(
    most, monkeypatch, signed
):
    inputs, moves = layer(CASES[2], signed, np.float64)
    expected = conv.conv2d_backward(*inputs, **moves)
    monkeypatch.setattr(conv.by_columns, "MOST_COLUMNS", most)
    for result, reference in zip(conv.conv2d_backward(*inputs, **moves), expected, strict=True):
        np.testing.assert_allclose(result, reference, rtol=1e-10, atol=1e-7)


def test_all_images_are_added_when_there_are_more_than_partial_sums(signed, assert_close):
    inputs = signed(37, 2, 3, 3), signed(37, 1, 4, 4), signed(2, 1, 2, 2)
    _, result, _ = conv.conv2d_backward(*inputs)
    _, expected, _ = conv.conv2d_backward_reference(*inputs)
    _, size, _ = conv.conv2d_backward_reference(*map(np.abs, inputs))
    assert_close(result, expected, magnitude=size, length=37 * 9)


@variants
def test_gradients_with_padding_same_equal_those_of_a_padded_image(variant, signed, assert_close):
    grad_out, image, weight = signed(2, 3, 6, 7), signed(2, 2, 6, 7), signed(3, 2, 3, 4)
    actual = conv.conv2d_backward(grad_out, image, weight, padding="same", variant=variant)
    wider = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 2)))
    expected = list(conv.conv2d_backward_reference(grad_out, wider, weight))
    sizes = list(conv.conv2d_backward_reference(*map(np.abs, (grad_out, wider, weight))))
    for all_of in (expected, sizes):
        all_of[0] = all_of[0][:, :, 1:-1, 1:-2]
    for result, reference, size in zip(actual, expected, sizes, strict=True):
        assert_close(result, reference, magnitude=size, length=100)


@variants
def test_gradients_are_identical_from_run_to_run(variant, signed):
    inputs, moves = layer(CASES[2], signed)
    first, second = (conv.conv2d_backward(*inputs, **moves, variant=variant) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- device arrays, out, empty arrays -------------------------------------------------------


@variants
def test_gradients_of_device_arrays_stay_on_the_device(variant, signed):
    inputs, moves = layer(CASES[2], signed)
    expected = conv.conv2d_backward(*inputs, **moves, variant=variant)
    actual = conv.conv2d_backward(*map(cuda.to_device, inputs), **moves, variant=variant)
    for result, reference in zip(actual, expected, strict=True):
        assert launch.is_device_array(result)
        np.testing.assert_array_equal(result.copy_to_host(), reference)


@variants
def test_gradients_are_written_to_out(variant, signed, poisoned):
    inputs, moves = layer(CASES[2], signed)
    expected = conv.conv2d_backward(*inputs, **moves, variant=variant)
    out = tuple(poisoned(*grad.shape) for grad in expected)
    actual = conv.conv2d_backward(*inputs, **moves, variant=variant, out=out)
    for result, place, reference in zip(actual, out, expected, strict=True):
        assert result is place
        np.testing.assert_array_equal(result, reference)


@variants
@small
def test_omitting_the_input_gradient_leaves_the_others_unchanged(case, variant, signed):
    inputs, moves = layer(case, signed)
    options = moves | {"groups": case[0][1] // case[1][1], "variant": variant}
    _, *expected = conv.conv2d_backward(*inputs, **options)
    none, *actual = conv.conv2d_backward(*inputs, **options, of_input=False)
    assert none is None
    assert [grad.tobytes() for grad in actual] == [grad.tobytes() for grad in expected]


@variants
def test_parameter_gradients_of_an_empty_batch_are_zero(variant):
    empty, grad_out = np.empty((0, 2, 5, 5), np.float32), np.empty((0, 3, 3, 3), np.float32)
    weight = np.ones((3, 2, 3, 3), np.float32)
    grad_input, grad_weight, grad_bias = conv.conv2d_backward(
        grad_out, empty, weight, variant=variant
    )
    assert grad_input.shape == empty.shape
    np.testing.assert_array_equal(grad_weight, np.zeros_like(weight))
    np.testing.assert_array_equal(grad_bias, np.zeros(3, np.float32))


def ones(*shape):
    return np.ones(shape, np.float32)


def test_a_gradient_of_another_shape_is_rejected():
    expected = r"conv2d_backward: expected grad_out\.shape == \(1, 1, 2, 2\), got \(1, 1, 3, 3\)"
    with pytest.raises(ValueError, match=expected):
        conv.conv2d_backward(ones(1, 1, 3, 3), ones(1, 1, 4, 4), ones(1, 1, 3, 3))


def test_out_that_aliases_an_input_is_rejected():
    inputs = ones(1, 1, 2, 2), ones(1, 1, 4, 4), ones(1, 1, 3, 3)
    with pytest.raises(ValueError, match="expected out to lie apart from input"):
        conv.conv2d_backward(*inputs, out=(inputs[1], ones(1, 1, 3, 3), ones(1)))


# ---- columns --------------------------------------------------------------------------------


@cases
@pytest.mark.costly
def test_columns_times_weights_are_the_convolution(case, rng):
    image, weight, *moves = case
    image, weight = rng.standard_normal(image), rng.standard_normal(weight)
    groups = image.shape[1] // weight.shape[1]
    columns = im2col.im2col_reference(
        image, weight.shape[2:], **dict(zip(names, moves, strict=True))
    )
    columns = columns.reshape(len(image), groups, -1, columns[0, 0].size)
    a, bias = weight.reshape(groups, -1, columns.shape[2]), np.zeros(len(weight))
    actual = im2col.product_reference(a, columns, bias.reshape(groups, -1))
    expected = conv_by_formula(image, weight, bias, *moves)
    np.testing.assert_allclose(actual.reshape(expected.shape), expected, atol=1e-9)


@cases
def test_col2im_is_the_transpose_of_im2col(case, rng):
    """Linear maps are transposes of each other if x . col2im(y) == im2col(x) . y."""
    image, weight, *moves = case
    moves = dict(zip(names, moves, strict=True))
    x = rng.standard_normal(image)
    there = im2col.im2col_reference(x, weight[2:], **moves)
    y = rng.standard_normal(there.shape)
    back = im2col.col2im_reference(y, weight[2:], image[2:], **moves)
    np.testing.assert_allclose((x * back).sum(), (there * y).sum(), rtol=1e-9, atol=1e-9)


# ---- costs and findings ---------------------------------------------------------------------


def launches(case, signed, dtype):
    """Yield launches on a layer: variant, sizes, kernel arguments, cost arguments."""
    (grad_out, image, weight), moves = layer(case, signed, dtype)
    n, channels, h, w = image.shape
    groups, window = channels // weight.shape[1], weight.shape[2:]
    m, depth, (rows, cols) = len(weight) // groups, weight[0].size, grad_out.shape[2:]
    pixels, slices = rows * cols, min(n, 2)
    columns = signed(n, groups * depth, rows, cols, dtype=dtype)
    split = columns.reshape(n, groups, depth, pixels)
    back, moved = grad_out.reshape(n, groups, m, pixels), tuple(moves.values())

    def out(*shape):
        return np.zeros(shape, dtype)

    bias = signed(groups, m, dtype=dtype)
    a = weight.reshape(groups, m, depth)
    into, product, grad_weight, onto = im2col.VARIANTS
    by_input, by_weight, by_bias = gradients.VARIANTS
    shapes = image.shape, weight.shape
    yield by_input, (w, h, n * channels), (grad_out, weight, *moved, out(*shapes[0])), shapes, moves
    yield by_weight, (weight.size, 1, 1), (grad_out, image, *moved, out(*shapes[1])), shapes, moves
    flat = grad_out.reshape(n, len(weight), pixels)
    yield by_bias, (len(weight),), (flat, out(len(weight))), flat.shape, {}
    inputs = image, window, *moved, out(*columns.shape)
    yield into, (cols, rows, columns[:, :, 0, 0].size), inputs, (shapes[0], window), moves
    inputs = a, split, bias, out(n, groups, m, pixels)
    yield product, (pixels, m, n * groups), inputs, (n, groups, m, pixels, depth), {}
    inputs = back, split, out(slices, groups, m, depth)
    sizes = n, groups, m, pixels, depth, slices
    yield grad_weight, (depth, m, slices * groups), inputs, sizes, {}
    by_plane = columns.reshape(n * channels, *window, rows, cols)
    inputs = by_plane, *moved, out(n * channels, h, w)
    yield onto, (w, h, n * channels), inputs, (shapes[0], window), moves


@pytest.mark.watched
@dtypes
@small
def test_cost_equals_the_profile_counters_for_every_layer(case, dtype, signed):
    for variant, sizes, inputs, shapes, moves in launches(case, signed, dtype):
        launched = gpukit.profile(variant.kernel)[variant.grid("test", *sizes), variant.block]
        found = launched(*inputs).total
        expected = launch.Cost(found["global_bytes_asked"], found.flops)
        assert variant.cost(*shapes, **moves, itemsize=np.dtype(dtype).itemsize) == expected, (
            variant.name
        )
        assert found["flops_float64"] == (found.flops if dtype == np.float64 else 0), variant.name


@pytest.mark.watched
@dtypes
@small
def test_checker_reports_no_findings(case, dtype, signed):
    for variant, sizes, inputs, _, _ in launches(case, signed, dtype):
        *inputs, out = inputs
        if variant.name == "grad_weight" and variant in im2col.VARIANTS:
            place = cuda.to_device(out)  # the kernel adds to out
        else:
            place = cuda.device_array(out.shape, dtype)
        kernel = gpukit.check(variant.kernel)[variant.grid("test", *sizes), variant.block]
        assert kernel(*inputs, place).findings == [], variant.name
