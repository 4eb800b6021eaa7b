"""Errors of conv2d."""

import numpy as np
import pytest

from gpukit.kernels import conv


def ones(*shape):
    return np.ones(shape, np.float32)


def refused(expected, *arrays, error=ValueError, **options):
    with pytest.raises(error, match=expected):
        conv.conv2d(*arrays, **options)


def test_conv2d_rejects_unequal_channels():
    expected = r"conv2d: expected input\.shape\[1\] == weight\.shape\[1\].*Axis 1 of both"
    refused(expected, ones(1, 2, 4, 4), ones(1, 3, 2, 2))


def test_conv2d_rejects_channels_that_do_not_fit_the_groups():
    expected = r"conv2d: expected input\.shape\[1\] == 2 \* weight\.shape\[1\].*got \(1, 2, 4, 4\)"
    refused(expected, ones(1, 2, 4, 4), ones(2, 2, 2, 2), groups=2)


def test_conv2d_rejects_output_channels_that_groups_do_not_divide():
    expected = r"conv2d: expected weight\.shape\[0\] to be a multiple of groups, got 3 and 2"
    refused(expected, ones(1, 2, 4, 4), ones(3, 1, 2, 2), groups=2)


def test_conv2d_rejects_zero_groups():
    refused("conv2d: expected groups >= 1, got 0", ones(1, 2, 4, 4), ones(3, 1, 2, 2), groups=0)


def test_conv2d_rejects_a_bias_of_another_length():
    expected = r"conv2d: expected bias\.shape == \(2,\), got \(3,\)"
    refused(expected, ones(1, 1, 4, 4), ones(2, 1, 2, 2), ones(3))


def test_conv2d_rejects_a_window_larger_than_the_image():
    expected = (
        r"conv2d: expected a window no larger than the padded image, got \(5, 1\) and \(4, 4\)"
    )
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 5, 1))


def test_conv2d_rejects_a_dilated_window_larger_than_the_image():
    expected = r"no larger than the padded image, got \(5, 1\) and \(4, 4\)"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 3, 1), dilation=2)


def test_conv2d_rejects_a_window_that_misses_by_less_than_the_stride():
    expected = "expected a window no larger than the padded image"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 1, 5), stride=(1, 9))


def test_conv2d_rejects_an_empty_window():
    refused("a window of at least 1 x 1", ones(1, 1, 4, 4), ones(1, 1, 0, 1))


@pytest.mark.parametrize("name", ["stride", "dilation"])
def test_conv2d_rejects_zero(name):
    expected = rf"conv2d: expected {name} >= 1, got 0\. Pass"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 2, 2), **{name: (1, 0)})


def test_conv2d_rejects_negative_padding():
    expected = r"conv2d: expected padding >= 0, got -1\. Pass"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 2, 2), padding=(-1, 0))


def test_conv2d_rejects_a_stride_of_three_numbers():
    expected = r"conv2d: expected stride to be a number or a pair .*, got \(1, 1, 1\)\. Pass"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 2, 2), stride=(1, 1, 1))


def test_conv2d_rejects_a_fractional_stride():
    expected = r"conv2d: expected stride to be an int, got float"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 2, 2), stride=1.5, error=TypeError)


def test_conv2d_rejects_unknown_padding():
    expected = r"conv2d: expected padding to be numbers, 'same' or 'valid', got 'full'"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 2, 2), padding="full")


def test_conv2d_rejects_padding_same_with_a_stride():
    expected = r"conv2d: expected stride 1 with padding='same', got \(2, 2\)"
    refused(expected, ones(1, 1, 4, 4), ones(1, 1, 2, 2), padding="same", stride=2)
