"""One-dimensional convolution: direct, and from a tile with a halo."""

import itertools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels.conv import one_d

BLOCK = one_d.BLOCK
# (signal, weight, stride, padding, dilation)
CASES = [
    ((1, 1, 1), (1, 1, 1), 1, 0, 1),
    ((2, 3, 11), (4, 3, 3), 1, 1, 1),
    ((1, 2, BLOCK), (1, 2, 2), 1, 0, 1),
    ((2, 1, BLOCK - 1), (3, 1, 5), 1, 2, 1),
    ((1, 4, BLOCK + 1), (6, 2, 4), 1, 3, 3),
    ((3, 3, 2 * BLOCK + 7), (3, 1, 3), 2, 0, 1),
    ((1, 1, 3), (2, 1, 5), 3, 4, 2),
]
cases = pytest.mark.parametrize(("signal", "weight", "stride", "padding", "dilation"), CASES)
variants = pytest.mark.parametrize("variant", one_d.VARIANTS, ids=lambda variant: variant.name)


def conv_by_formula(signal, weight, bias, stride, padding, dilation):
    """Return output(n, o, x) by the formula in the docstring of the module."""
    places = (signal.shape[2] + 2 * padding - dilation * (weight.shape[2] - 1) - 1) // stride + 1
    depth = weight.shape[1]
    group = weight.shape[0] * depth // signal.shape[1]
    out = np.empty((signal.shape[0], weight.shape[0], places))
    for n, o, x in itertools.product(*map(range, out.shape)):
        out[n, o, x] = bias[o]
        for i, k in itertools.product(*map(range, weight.shape[1:])):
            at = stride * x + dilation * k - padding
            if at in range(signal.shape[2]):
                seen = signal[n, o // group * depth + i, at]
                out[n, o, x] += float(weight[o, i, k]) * float(seen)
    return out


@cases
def test_reference_is_the_formula(signal, weight, stride, padding, dilation, signed):
    arrays = signed(*signal), signed(*weight), signed(weight[0])
    moves = {"stride": stride, "padding": padding, "dilation": dilation}
    expected = conv_by_formula(*arrays, *moves.values())
    np.testing.assert_allclose(one_d.conv1d_reference(*arrays, **moves), expected, atol=1e-8)


@variants
@cases
def test_kernel_matches_the_formula(
    variant, signal, weight, stride, padding, dilation, signed, poisoned, assert_close
):
    arrays, moves = (
        (signed(*signal), signed(*weight), signed(weight[0])),
        (stride, padding, dilation),
    )
    expected = conv_by_formula(*arrays, *moves)
    size = conv_by_formula(*map(np.abs, arrays), *moves)
    out = poisoned(*expected.shape)
    grid = variant.grid("test", out.shape[2], min(2, out.shape[0] * out.shape[1]))
    variant.kernel[grid, variant.block](*arrays, *moves, out)
    assert_close(out, expected, magnitude=size, length=arrays[1][0].size + 1)


@variants
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@cases
def test_conv1d_matches_the_reference(
    variant, dtype, signal, weight, stride, padding, dilation, signed, assert_close
):
    arrays = [signed(*shape, dtype=dtype) for shape in (signal, weight, weight[:1])]
    groups = signal[1] // weight[1]
    out = one_d.conv1d(*arrays, stride, padding, dilation, groups, variant=variant.name)
    moves = {"stride": stride, "padding": padding, "dilation": dilation}
    size = one_d.conv1d_reference(*map(np.abs, arrays), **moves)
    expected = one_d.conv1d_reference(*arrays, **moves)
    assert_close(out, expected, magnitude=size, length=2 * arrays[1][0].size + 2)


@variants
def test_conv1d_does_not_flip_the_weights(variant):
    signal, weight = np.array([[[1, 2, 3]]], np.float32), np.array([[[10, 1]]], np.float32)
    assert one_d.conv1d(signal, weight, variant=variant.name).tolist() == [[[12.0, 23.0]]]


@pytest.mark.parametrize("more", [0, 1])
def test_windows_as_wide_as_the_tile_and_one_wider_are_convolved(more, signed, assert_close):
    width = one_d.TILE - BLOCK + 1 + more
    signal, weight = signed(1, 1, 1100), signed(1, 1, width)
    out = one_d.conv1d(signal, weight, variant="tiled")
    expected = one_d.conv1d_reference(signal, weight, [0])
    size = one_d.conv1d_reference(np.abs(signal), np.abs(weight), [0])
    assert_close(out, expected, magnitude=size, length=width)


@variants
def test_conv1d_of_no_signals_is_empty(variant):
    signal, weight = np.empty((0, 2, 5), np.float32), np.ones((3, 2, 3), np.float32)
    assert one_d.conv1d(signal, weight, variant=variant.name).shape == (0, 3, 3)


def ones(*shape):
    return np.ones(shape, np.float32)


def test_conv1d_rejects_channels_that_do_not_fit():
    expected = r"conv1d: expected input\.shape\[1\] == groups \* weight\.shape\[1\]"
    with pytest.raises(ValueError, match=expected):
        one_d.conv1d(ones(1, 2, 4), ones(1, 3, 2))


def test_conv1d_rejects_a_window_larger_than_the_signal():
    expected = "conv1d: expected a window no larger than the padded signal, got 5 and 4"
    with pytest.raises(ValueError, match=expected):
        one_d.conv1d(ones(1, 1, 4), ones(1, 1, 3), dilation=2)


def test_conv1d_rejects_stride_zero():
    with pytest.raises(ValueError, match="conv1d: expected stride >= 1, got 0"):
        one_d.conv1d(ones(1, 1, 4), ones(1, 1, 2), stride=0)


@pytest.mark.watched
@variants
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cost_equals_the_profile_counters_and_checker_reports_no_findings(
    variant, dtype, case, signed
):
    signal, weight, *moves = case
    arrays = [signed(*shape, dtype=dtype) for shape in (signal, weight, weight[:1])]
    shape = conv_by_formula(*arrays, *moves).shape
    grid = variant.grid("test", shape[2], shape[0] * shape[1])
    out = cuda.device_array(shape, dtype)
    found = gpukit.profile(variant.kernel)[grid, variant.block](*arrays, *moves, out).total
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=True))
    expected = launch.Cost(found["global_bytes_asked"], found.flops)
    assert variant.cost(signal, weight, **named, itemsize=np.dtype(dtype).itemsize) == expected
    assert found["flops_float64"] == (found.flops if dtype == np.float64 else 0)
    out = cuda.device_array(shape, dtype)
    assert gpukit.check(variant.kernel)[grid, variant.block](*arrays, *moves, out).findings == []
