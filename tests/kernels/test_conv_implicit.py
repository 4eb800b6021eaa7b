"""Implicit-GEMM convolution: the matrix product without a materialized im2col."""

import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import conv
from gpukit.kernels.conv import implicit, windows
from tests.kernels.convolutions import CASES

(VARIANT,) = implicit.VARIANTS
cases = pytest.mark.parametrize("case", CASES, ids=str)


def launch_of(case, signed):
    """Return sizes, arguments without out, and the shape of out for a layer."""
    image, weight, *moves = case
    arrays = signed(*image), signed(*weight), signed(weight[0])
    stride, padding, dilation = moves
    rows, cols = windows.out_sizes(image[2:], weight[2:], *moves)
    groups, pixels = image[1] // weight[1], rows * cols
    taps = implicit.taps_of(weight[2:], weight[1], image[2:], dilation)
    flat, a, bias = arrays[0].ravel(), arrays[1].reshape(weight[0], -1), arrays[2]
    inputs = flat, a, bias, taps, stride, padding, image[2:], cols
    sizes = image[0] * pixels, weight[0] // groups, groups
    return arrays, sizes, inputs, (image[0], weight[0], pixels)


@cases
def test_kernel_matches_the_reference(case, signed, poisoned, assert_close):
    arrays, sizes, inputs, shape = launch_of(case, signed)
    named = dict(zip(("stride", "padding", "dilation"), case[2:], strict=True))
    out = poisoned(*shape)
    VARIANT.kernel[VARIANT.grid("test", *sizes), VARIANT.block](*inputs, out)
    expected = conv.conv2d_reference(*arrays, **named).reshape(shape)
    size = conv.conv2d_reference(*map(np.abs, arrays), **named).reshape(shape)
    assert_close(out, expected, magnitude=size, length=arrays[1][0].size + 1)


@pytest.mark.parametrize("channels", [63, 64, 65, 130])
def test_any_number_of_output_channels_is_computed(channels, signed, assert_close):
    arrays = signed(2, 3, 9, 8), signed(channels, 3, 2, 2), signed(channels)
    out = conv.conv2d(*arrays, variant="implicit")
    size = conv.conv2d_reference(*map(np.abs, arrays))
    assert_close(out, conv.conv2d_reference(*arrays), magnitude=size, length=13)


@pytest.mark.parametrize("depth", [15, 16, 17])
def test_any_number_of_terms_is_summed(depth, signed, assert_close):
    arrays = signed(1, depth, 5, 6), signed(2, depth, 1, 1), signed(2)
    out = conv.conv2d(*arrays, variant="implicit")
    size = conv.conv2d_reference(*map(np.abs, arrays))
    assert_close(out, conv.conv2d_reference(*arrays), magnitude=size, length=depth + 1)


def test_taps_are_the_offsets_of_window_elements_in_the_image():
    taps = implicit.taps_of((2, 3), 4, (10, 20), (3, 2))
    assert taps.shape == (2 * implicit.DEPTH, 3)
    assert taps.dtype == np.int32
    image = np.arange(4 * 10 * 20).reshape(4, 10, 20)
    seen = image[:, 0:4:3, 0:5:2].reshape(-1)  # the window at the first pixel
    np.testing.assert_array_equal(image.ravel()[taps[:24, 0]], seen)
    assert (taps[24:, 1] < -(10**6)).all()


def test_sizes_beyond_32_bit_indices_use_the_column_variant(monkeypatch, signed):
    arrays = signed(1, 2, 5, 5), signed(3, 2, 2, 2), signed(3)
    expected = conv.conv2d(*arrays, variant="im2col")
    monkeypatch.setattr(implicit, "MOST", 49)  # one less than this layer needs
    monkeypatch.setattr(conv, "_implicitly", None)
    np.testing.assert_array_equal(conv.conv2d(*arrays, variant="implicit"), expected)


@pytest.mark.watched
@cases
def test_cost_equals_the_profile_counters_and_checker_reports_no_findings(case, signed):
    _, sizes, inputs, shape = launch_of(case, signed)
    grid = VARIANT.grid("test", *sizes)
    found = gpukit.profile(VARIANT.kernel)[grid, VARIANT.block](
        *inputs, np.empty(shape, "f4")
    ).total
    named = dict(zip(("stride", "padding", "dilation"), case[2:], strict=True))
    expected = launch.Cost(found["global_bytes_asked"], found.flops)
    assert VARIANT.cost(*case[:2], **named) == expected
    assert found["flops_float64"] == 0
    out = cuda.device_array(shape, np.float32)
    assert gpukit.check(VARIANT.kernel)[grid, VARIANT.block](*inputs, out).findings == []


def test_a_block_computes_as_many_elements_as_its_threads_accumulate():
    assert implicit.CHANNELS * implicit.PIXELS == implicit.BLOCK * implicit.WIDTH * implicit.OWN
    assert VARIANT.tile == (implicit.PIXELS, implicit.CHANNELS, 1)
    assert math.prod(VARIANT.block) == implicit.BLOCK
