"""Direct convolution: NCHW, stride, zero padding, bias."""

import itertools

import numpy as np
import pytest

from gpukit import launch
from gpukit.kernels import conv

# (image, weight, stride, padding)
CASES = [
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0)),
    ((1, 1, 3, 3), (1, 1, 3, 3), (1, 1), (0, 0)),
    ((2, 3, 7, 11), (4, 3, 3, 3), (1, 1), (1, 1)),
    ((1, 2, 9, 35), (3, 2, 3, 2), (1, 1), (0, 0)),
    ((1, 2, 10, 6), (2, 2, 2, 3), (2, 1), (0, 2)),
    ((2, 1, 5, 13), (1, 1, 4, 1), (3, 2), (3, 0)),
    ((1, 1, 2, 2), (1, 1, 1, 1), (1, 1), (2, 2)),
    ((1, 1, 1, 1), (2, 1, 5, 5), (1, 2), (2, 3)),
]
cases = pytest.mark.parametrize(("image", "weight", "stride", "padding"), CASES, ids=str)


def by_the_formula(image, weight, bias, stride, padding):
    """Output(n, o, h, w), word for word as the formula in the module says it."""
    rows, cols = (
        (image.shape[axis] + 2 * padding[axis - 2] - weight.shape[axis]) // stride[axis - 2] + 1
        for axis in (2, 3)
    )
    out = np.empty((image.shape[0], weight.shape[0], rows, cols))
    for n, o, h, w in itertools.product(*map(range, out.shape)):
        out[n, o, h, w] = bias[o]
        for i, kh, kw in itertools.product(*map(range, weight.shape[1:])):
            r, c = stride[0] * h + kh - padding[0], stride[1] * w + kw - padding[1]
            if r in range(image.shape[2]) and c in range(image.shape[3]):
                out[n, o, h, w] += float(weight[o, i, kh, kw]) * float(image[n, i, r, c])
    return out


def block_and_grid(shape):
    block = (conv.BLOCK_X, conv.BLOCK_Y, 1)
    return (*launch.grid_2d("test", shape[3], shape[2], block), shape[0] * shape[1]), block


@cases
def test_conv2d_reference_is_the_formula(image, weight, stride, padding, signed):
    image, weight, bias = signed(*image), signed(*weight), signed(weight[0])
    expected = by_the_formula(image, weight, bias, stride, padding)
    actual = conv.conv2d_reference(image, weight, bias, stride=stride, padding=padding)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-9)


@cases
def test_conv2d_direct_kernel_matches_the_formula(
    image, weight, stride, padding, signed, poisoned, assert_close
):
    image, weight, bias = signed(*image), signed(*weight), signed(weight[0])
    expected = by_the_formula(image, weight, bias, stride, padding)
    size = by_the_formula(np.abs(image), np.abs(weight), np.abs(bias), stride, padding)
    out = poisoned(*expected.shape)
    grid, block = block_and_grid(out.shape)
    conv.conv2d_direct_kernel[grid, block](image, weight, bias, stride, padding, out)
    assert_close(out, expected, magnitude=size, length=weight[0].size + 1)


@pytest.mark.parametrize("planes", [1, 4, 6])
def test_conv2d_direct_kernel_visits_every_plane_with_fewer_blocks(planes, signed, poisoned):
    image, weight, bias, out = (
        signed(2, 1, 4, 5),
        signed(3, 1, 1, 1),
        signed(3),
        poisoned(2, 3, 4, 5),
    )
    grid, block = block_and_grid(out.shape)
    conv.conv2d_direct_kernel[(*grid[:2], planes), block](image, weight, bias, (1, 1), (0, 0), out)
    assert not np.isnan(out).any()


@cases
def test_conv2d_matches_the_reference_in_float64(
    image, weight, stride, padding, signed, assert_close
):
    arrays = [signed(*shape, dtype=np.float64) for shape in (image, weight, weight[:1])]
    out = conv.conv2d(*arrays, stride=stride, padding=padding)
    expected = conv.conv2d_reference(*arrays, stride=stride, padding=padding)
    size = conv.conv2d_reference(*map(np.abs, arrays), stride=stride, padding=padding)
    assert_close(out, expected, magnitude=size, length=4 * np.prod(weight[1:]))


def test_conv2d_does_not_flip_the_weights():
    image = np.array([[[[1, 2, 3]]]], np.float32)
    weight = np.array([[[[10, 1]]]], np.float32)
    assert conv.conv2d(image, weight, np.zeros(1, np.float32)).tolist() == [[[[12.0, 23.0]]]]


def test_conv2d_of_padding_alone_is_the_bias():
    image, weight = np.full((1, 1, 1, 1), np.nan, np.float32), np.ones((1, 1, 1, 1), np.float32)
    out = conv.conv2d(image, weight, np.full(1, 5, np.float32), padding=(1, 1))
    expected = np.full((3, 3), 5, np.float32)
    expected[1, 1] = np.nan
    np.testing.assert_array_equal(out[0, 0], expected)


def test_conv2d_of_the_example_layer_keeps_the_size_of_the_image():
    shape = conv._out_shape((1, 3, 224, 224), (16, 3, 3, 3), (1, 1), (1, 1))
    assert shape == (1, 16, 224, 224)


def test_conv2d_takes_device_arrays(signed):
    from gpukit import cuda

    arrays = signed(1, 1, 3, 3), signed(1, 1, 2, 2), signed(1)
    expected = conv.conv2d(*arrays)
    np.testing.assert_array_equal(conv.conv2d(*map(cuda.to_device, arrays)), expected)


def test_conv2d_of_no_images_is_empty():
    out = conv.conv2d(np.empty((0, 2, 5, 5), "f4"), np.ones((3, 2, 3, 3), "f4"), np.ones(3, "f4"))
    assert out.shape == (0, 3, 3, 3)


def ones(*shape):
    return np.ones(shape, np.float32)


def test_conv2d_rejects_unequal_channels():
    expected = r"conv2d: expected image\.shape\[1\] == weight\.shape\[1\].*Axis 1 of both"
    with pytest.raises(ValueError, match=expected):
        conv.conv2d(ones(1, 2, 4, 4), ones(1, 3, 2, 2), ones(1))


def test_conv2d_rejects_a_bias_of_another_length():
    with pytest.raises(ValueError, match=r"conv2d: expected bias\.shape == \(2,\), got \(3,\)"):
        conv.conv2d(ones(1, 1, 4, 4), ones(2, 1, 2, 2), ones(3))


def test_conv2d_rejects_a_window_larger_than_the_image():
    expected = (
        r"conv2d: expected a window no larger than the padded image, got \(5, 1\) and \(4, 4\)"
    )
    with pytest.raises(ValueError, match=expected):
        conv.conv2d(ones(1, 1, 4, 4), ones(1, 1, 5, 1), ones(1))


def test_conv2d_rejects_a_window_that_misses_by_less_than_the_stride():
    with pytest.raises(ValueError, match="expected a window no larger than the padded image"):
        conv.conv2d(ones(1, 1, 4, 4), ones(1, 1, 1, 5), ones(1), stride=(1, 9))


def test_conv2d_rejects_a_window_of_no_size():
    with pytest.raises(ValueError, match="a window of at least 1 x 1"):
        conv.conv2d(ones(1, 1, 4, 4), ones(1, 1, 0, 1), ones(1))


def test_conv2d_rejects_stride_zero():
    with pytest.raises(ValueError, match=r"conv2d: expected stride >= 1, got 0\. Pass"):
        conv.conv2d(ones(1, 1, 4, 4), ones(1, 1, 2, 2), ones(1), stride=(1, 0))


def test_conv2d_rejects_negative_padding():
    with pytest.raises(ValueError, match=r"conv2d: expected padding >= 0, got -1\. Pass"):
        conv.conv2d(ones(1, 1, 4, 4), ones(1, 1, 2, 2), ones(1), padding=(-1, 0))


def test_conv2d_rejects_a_single_number_as_stride():
    with pytest.raises(TypeError, match=r"conv2d: expected stride to be a tuple .*, got 2\. Pass"):
        conv.conv2d(ones(1, 1, 4, 4), ones(1, 1, 2, 2), ones(1), stride=2)


def test_cost_without_padding_counts_every_tap():
    # 2 images, 3 in and 4 out channels, 2 x 3 weights, 3 x 3 pixels out: 1296 taps; 72 stores.
    cost = conv.conv2d_direct_cost((2, 3, 4, 5), (4, 3, 2, 3))
    assert cost == launch.Cost(bytes=4 * (2 * 1296 + 2 * 72), flops=2 * 1296)


def test_cost_leaves_out_the_taps_that_fall_on_padding():
    # 3 x 3 window on 3 x 3 pixels, padded by 1: along each axis 2 + 3 + 2 taps lie inside.
    cost = conv.conv2d_direct_cost((1, 1, 3, 3), (1, 1, 3, 3), padding=(1, 1))
    assert cost == launch.Cost(bytes=4 * (2 * 49 + 2 * 9), flops=98)


def test_cost_with_stride_counts_the_windows_that_are_used():
    # Along 7 pixels a window of 3 stands at 0, 2, 4; float64.
    cost = conv.conv2d_direct_cost((1, 1, 1, 7), (1, 1, 1, 3), stride=(1, 2), itemsize=8)
    assert cost == launch.Cost(bytes=8 * (2 * 9 + 2 * 3), flops=18)
