"""Gradients of a convolution: the formulas, the products with columns, and col2im."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import conv
from gpukit.kernels.conv import gradients, im2col, windows
from tests.kernels.convolutions import CASES, by_the_formula

cases = pytest.mark.parametrize("case", CASES, ids=str)
small = pytest.mark.parametrize("case", [case for case in CASES if case[0][2] < 20], ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
variants = pytest.mark.parametrize("variant", [variant.name for variant in conv.BACKWARD_VARIANTS])
names = ("stride", "padding", "dilation")


def layer(case, signed, dtype=np.float32):
    """Images, weights, a gradient of what comes out, and how windows move."""
    image, weight, *moves = case
    size = windows.out_sizes(image[2:], weight[2:], *moves)
    grad_out = signed(image[0], weight[0], *size, dtype=dtype)
    given = grad_out, signed(*image, dtype=dtype), signed(*weight, dtype=dtype)
    return given, dict(zip(names, moves, strict=True))


def by_differences(grad_out, image, weight, at, array, moves):
    """The slope of sum(grad_out * out) along one element; out is linear in it, so it is exact."""
    loss = []
    for step in (0, 1):
        array[at] += step
        out = by_the_formula(image, weight, np.zeros(len(weight)), *moves.values())
        loss.append((grad_out * out).sum())
    array[at] -= 1
    return loss[1] - loss[0]


@small
@pytest.mark.costly
def test_reference_is_the_slope_of_the_formula(case, rng):
    image, weight, *moves = case
    moves = dict(zip(names, moves, strict=True))
    size = windows.out_sizes(image[2:], weight[2:], *moves.values())
    arrays = [rng.standard_normal(s) for s in ((image[0], weight[0], *size), image, weight)]
    grad_image, grad_weight, grad_bias = conv.conv2d_backward_reference(*arrays, **moves)
    for which, grad in ((1, grad_image), (2, grad_weight)):
        for _ in range(3):
            at = tuple(int(rng.integers(n)) for n in arrays[which].shape)
            slope = by_differences(*arrays, at, arrays[which], moves)
            np.testing.assert_allclose(grad[at], slope, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(grad_bias, arrays[0].sum((0, 2, 3)))


@variants
@dtypes
@cases
def test_gradients_match_the_reference(case, dtype, variant, signed, assert_close):
    given, moves = layer(case, signed, dtype)
    groups = case[0][1] // case[1][1]
    made = conv.conv2d_backward(*given, **moves, groups=groups, variant=variant)
    expected = conv.conv2d_backward_reference(*given, **moves)
    sizes = conv.conv2d_backward_reference(*map(np.abs, given), **moves)
    pixels = given[0][:, 0].size
    lengths = given[2][:, 0].size, pixels, pixels
    for ours, theirs, size, length in zip(made, expected, sizes, lengths, strict=True):
        assert ours.dtype == dtype
        assert_close(ours, theirs, magnitude=size, length=length)


@pytest.mark.parametrize("most", [1, 400, 10_000])
def test_columns_of_any_number_of_images_give_the_same_gradients(most, monkeypatch, signed):
    given, moves = layer(CASES[2], signed, np.float64)
    expected = conv.conv2d_backward(*given, **moves)
    monkeypatch.setattr(conv, "MOST_COLUMNS", most)
    for ours, theirs in zip(conv.conv2d_backward(*given, **moves), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-7)


def test_more_images_than_sums_are_all_added(signed, assert_close):
    given = signed(37, 2, 3, 3), signed(37, 1, 4, 4), signed(2, 1, 2, 2)
    _, ours, _ = conv.conv2d_backward(*given)
    _, expected, _ = conv.conv2d_backward_reference(*given)
    _, size, _ = conv.conv2d_backward_reference(*map(np.abs, given))
    assert_close(ours, expected, magnitude=size, length=37 * 9)


@variants
def test_gradients_of_padding_same_are_those_of_a_padded_image(variant, signed, assert_close):
    grad_out, image, weight = signed(2, 3, 6, 7), signed(2, 2, 6, 7), signed(3, 2, 3, 4)
    made = conv.conv2d_backward(grad_out, image, weight, padding="same", variant=variant)
    wider = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 2)))
    expected = list(conv.conv2d_backward_reference(grad_out, wider, weight))
    sizes = list(conv.conv2d_backward_reference(*map(np.abs, (grad_out, wider, weight))))
    for all_of in (expected, sizes):
        all_of[0] = all_of[0][:, :, 1:-1, 1:-2]
    for ours, theirs, size in zip(made, expected, sizes, strict=True):
        assert_close(ours, theirs, magnitude=size, length=100)


@variants
def test_gradients_are_the_same_in_every_run(variant, signed):
    given, moves = layer(CASES[2], signed)
    first, second = (conv.conv2d_backward(*given, **moves, variant=variant) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- where arrays lie, and empty ones -------------------------------------------------------


@variants
def test_gradients_of_device_arrays_stay_on_the_device(variant, signed):
    given, moves = layer(CASES[2], signed)
    expected = conv.conv2d_backward(*given, **moves, variant=variant)
    made = conv.conv2d_backward(*map(cuda.to_device, given), **moves, variant=variant)
    for ours, theirs in zip(made, expected, strict=True):
        assert launch.is_device_array(ours)
        np.testing.assert_array_equal(ours.copy_to_host(), theirs)


@variants
def test_gradients_are_written_to_out(variant, signed, poisoned):
    given, moves = layer(CASES[2], signed)
    expected = conv.conv2d_backward(*given, **moves, variant=variant)
    out = tuple(poisoned(*grad.shape) for grad in expected)
    made = conv.conv2d_backward(*given, **moves, variant=variant, out=out)
    for ours, place, theirs in zip(made, out, expected, strict=True):
        assert ours is place
        np.testing.assert_array_equal(ours, theirs)


@variants
@small
def test_gradients_without_that_of_the_input_are_the_same(case, variant, signed):
    given, moves = layer(case, signed)
    options = moves | {"groups": case[0][1] // case[1][1], "variant": variant}
    _, *expected = conv.conv2d_backward(*given, **options)
    none, *made = conv.conv2d_backward(*given, **options, of_input=False)
    assert none is None
    assert [grad.tobytes() for grad in made] == [grad.tobytes() for grad in expected]


@variants
def test_gradients_of_no_images_are_zeros(variant):
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


def test_a_gradient_of_another_shape_is_refused():
    expected = r"conv2d_backward: expected grad_out\.shape == \(1, 1, 2, 2\), got \(1, 1, 3, 3\)"
    with pytest.raises(ValueError, match=expected):
        conv.conv2d_backward(ones(1, 1, 3, 3), ones(1, 1, 4, 4), ones(1, 1, 3, 3))


def test_an_out_on_an_input_is_refused():
    given = ones(1, 1, 2, 2), ones(1, 1, 4, 4), ones(1, 1, 3, 3)
    with pytest.raises(ValueError, match="expected out to lie apart from input"):
        conv.conv2d_backward(*given, out=(given[1], ones(1, 1, 3, 3), ones(1)))


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
    made = im2col.product_reference(a, columns, bias.reshape(groups, -1))
    expected = by_the_formula(image, weight, bias, *moves)
    np.testing.assert_allclose(made.reshape(expected.shape), expected, atol=1e-9)


@cases
def test_col2im_is_the_transpose_of_im2col(case, rng):
    """For linear maps: x . back(y) is there(x) . y."""
    image, weight, *moves = case
    moves = dict(zip(names, moves, strict=True))
    x = rng.standard_normal(image)
    there = im2col.im2col_reference(x, weight[2:], **moves)
    y = rng.standard_normal(there.shape)
    back = im2col.col2im_reference(y, weight[2:], image[2:], **moves)
    np.testing.assert_allclose((x * back).sum(), (there * y).sum(), rtol=1e-9, atol=1e-9)


# ---- costs and findings ---------------------------------------------------------------------


def launches(case, signed, dtype):
    """Yield kernels with a launch on a layer: variant, sizes, arguments, arguments of its cost."""
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
    given = image, window, *moved, out(*columns.shape)
    yield into, (cols, rows, columns[:, :, 0, 0].size), given, (shapes[0], window), moves
    given = a, split, bias, out(n, groups, m, pixels)
    yield product, (pixels, m, n * groups), given, (n, groups, m, pixels, depth), {}
    given = back, split, out(slices, groups, m, depth)
    sizes = n, groups, m, pixels, depth, slices
    yield grad_weight, (depth, m, slices * groups), given, sizes, {}
    by_plane = columns.reshape(n * channels, *window, rows, cols)
    given = by_plane, *moved, out(n * channels, h, w)
    yield onto, (w, h, n * channels), given, (shapes[0], window), moves


@pytest.mark.watched
@dtypes
@small
def test_costs_are_what_is_counted(case, dtype, signed):
    for variant, sizes, given, shapes, moves in launches(case, signed, dtype):
        launched = gpukit.profile(variant.kernel)[variant.grid("test", *sizes), variant.block]
        found = launched(*given).total
        right = launch.Cost(found["global_bytes_asked"], found.flops)
        assert variant.cost(*shapes, **moves, itemsize=np.dtype(dtype).itemsize) == right, (
            variant.name
        )
        assert found["flops_float64"] == (found.flops if dtype == np.float64 else 0), variant.name


@pytest.mark.watched
@dtypes
@small
def test_checker_finds_nothing_wrong(case, dtype, signed):
    for variant, sizes, given, _, _ in launches(case, signed, dtype):
        *given, out = given
        if variant.name == "grad_weight" and variant in im2col.VARIANTS:
            place = cuda.to_device(out)  # it adds to what is there
        else:
            place = cuda.device_array(out.shape, dtype)
        kernel = gpukit.check(variant.kernel)[variant.grid("test", *sizes), variant.block]
        assert kernel(*given, place).findings == [], variant.name
