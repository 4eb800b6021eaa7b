"""Convolutions of 16 bits: the formula on rounded numbers, with sums in float32."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.kernels import conv
from gpukit.kernels.conv import by_columns, mixed
from tests.kernels.convolutions import CASES, absolute, conv_by_formula
from tests.kernels.counts import cost_of

TILE = mixed.TILE
layers = pytest.mark.parametrize("layer", CASES, ids=str)
formats = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


def wide(x):
    """The float64 that 16 bits stand for, without the functions under test."""
    if x.dtype == np.uint16:
        x = (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64)


def arrays(layer, dtype, signed):
    """Image and weight in a format, a bias, and how the window moves, with the groups."""
    (image, weight, *moves) = layer
    x, w = (gpukit.convert(signed(*shape), dtype) for shape in (image, weight))
    return x, w, signed(weight[0]), (*moves, image[1] // weight[1])


@layers
@formats
@pytest.mark.costly
def test_convolution_is_the_formula_on_rounded_numbers(layer, dtype, signed, assert_close):
    x, w, bias, moves = arrays(layer, dtype, signed)
    made = gpukit.mixed_conv2d(x, w, bias, *moves)
    right = conv_by_formula(wide(x), wide(w), bias, *moves[:3])
    magnitude = absolute(wide(x), wide(w), bias, *moves[:3])
    assert_close(made, right, magnitude=magnitude, length=w[0].size)


@layers
@formats
@pytest.mark.parametrize("of_input", [True, False])
@pytest.mark.costly
def test_gradients_are_those_of_rounded_numbers(layer, dtype, of_input, signed, assert_close):
    x, w, bias, moves = arrays(layer, dtype, signed)
    grad = signed(*gpukit.mixed_conv2d(x, w, bias, *moves).shape)
    made = gpukit.mixed_conv2d_backward(grad, x, w, *moves, of_input=of_input)
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=False))
    given = wide(gpukit.convert(grad, dtype)), wide(x), wide(w)
    right = conv.conv2d_backward_reference(*given, **named)
    magnitude = conv.conv2d_backward_reference(*map(np.abs, given), **named)
    assert (made[0] is None) == (not of_input)
    for k in (0, 1) if of_input else (1,):
        assert_close(made[k], right[k], magnitude=magnitude[k], length=grad.size)
    bias_grad = grad.astype(np.float64).sum(axis=(0, 2, 3))  # not of rounded numbers
    assert_close(made[2], bias_grad, magnitude=np.abs(grad).sum(axis=(0, 2, 3)), length=grad.size)


def test_images_are_taken_a_few_at_a_time(monkeypatch, signed):
    x, w, bias, moves = arrays(CASES[2], "bfloat16", signed)
    grad = signed(*gpukit.mixed_conv2d(x, w, bias, *moves).shape)
    whole = gpukit.mixed_conv2d(x, w, bias, *moves)
    grads = gpukit.mixed_conv2d_backward(grad, x, w, *moves)
    monkeypatch.setattr(by_columns, "MOST_COLUMNS", 1)
    np.testing.assert_array_equal(gpukit.mixed_conv2d(x, w, bias, *moves), whole)
    np.testing.assert_array_equal(gpukit.mixed_conv2d_backward(grad, x, w, *moves)[0], grads[0])


def test_device_arrays_give_the_same_bits(signed):
    x, w, bias, moves = arrays(CASES[8], "float16", signed)
    grad = signed(*gpukit.mixed_conv2d(x, w, bias, *moves).shape)
    right = gpukit.mixed_conv2d_backward(grad, x, w, *moves)
    made = gpukit.mixed_conv2d_backward(*map(cuda.to_device, (grad, x, w)), *moves)
    for one, other in zip(made, right, strict=True):
        np.testing.assert_array_equal(one.copy_to_host(), other)


def test_a_gradient_of_another_shape_is_refused(signed):
    x, w, _, moves = arrays(CASES[2], "float16", signed)
    with pytest.raises(ValueError, match=r"mixed_conv2d_backward: expected grad_out\.shape == "):
        gpukit.mixed_conv2d_backward(np.ones((2, 4, 7, 1), np.float32), x, w, *moves)


@pytest.mark.watched
@formats
def test_checker_finds_nothing_and_counts_the_cost(dtype, signed):
    n, groups, m, p, depth, slices = 3, 2, TILE + 1, TILE + 2, TILE + 3, 2
    cols, grad, a = (
        gpukit.convert(signed(*shape), dtype)
        for shape in ((n, groups, depth, p), (n, groups, m, p), (groups, m, depth))
    )
    partial, bias = np.zeros((slices, groups, m, depth), np.float32), signed(groups, m)
    out = cuda.device_array((n, groups, m, p), np.float32)
    product, grad_weight = mixed.VARIANTS
    for variant, covers, given, sizes in (
        (product, (p, m, n * groups), (a, cols, bias, out), (n, groups, m, p, depth)),
        (
            grad_weight,
            (depth, m, slices * groups),
            (grad, cols, partial),
            (n, groups, m, p, depth, slices),
        ),
    ):
        shape = variant.grid("test", *covers), variant.block
        assert gpukit.check(variant.kernel)[shape](*given).findings == []
        assert cost_of(gpukit.profile(variant.kernel)[shape](*given).total) == variant.cost(*sizes)
