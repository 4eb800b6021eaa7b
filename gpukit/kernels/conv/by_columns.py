"""Convolution by columns: the launches of the layer and of its gradients, a few images at a time.

`conv2d` and `mixed_conv2d` share them: the dtype of the weights decides which kernels multiply.
Host code only, no kernels.

Legend
    groups      groups of channels                              1
    m           output channels of a group                      16
    depth       weights per output channel, the rows of cols    27
    pixels      pixels of one channel of out                    50176
    part        a slice of the batch
    cols        the columns of its images, (n, groups, depth, pixels)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit import launch
from gpukit.kernels import transpose, vector
from gpukit.kernels.backprop import columns as add_up
from gpukit.kernels.conv import gradients, im2col, mixed
from gpukit.kernels.conv.windows import Pair, Shape, Windows, place_windows
from gpukit.kernels.convert import SMALL
from gpukit.launch import Variant

# Elements of columns at a time: few enough to stay in a cache until they are multiplied.
MOST_COLUMNS = 1 << 21
# Partial sums of a gradient of weights: enough blocks for a GPU.
SLICES = 16


class Layer(NamedTuple):
    """The shapes of a convolution: images (N, C, H, W), weights (O, C / groups, KH, KW)."""

    function: str
    image: Shape
    weight: Shape
    groups: int
    windows: Windows

    @property
    def out(self) -> Shape:
        """The shape of the result, (N, O, rows, cols)."""
        return self.image[0], self.weight[0], *self.windows.size

    @property
    def window(self) -> Pair:
        """Rows and columns of the window."""
        return self.weight[2], self.weight[3]

    @property
    def moves(self) -> tuple[Pair, Pair, Pair]:
        """Stride, padding and dilation, as kernels take them."""
        return self.windows[:3]

    @property
    def product(self) -> tuple[int, int, int, int]:
        """Groups, output channels per group, weights per output channel, and pixels of out."""
        places = math.prod(self.weight[1:])
        return self.groups, self.weight[0] // self.groups, places, math.prod(self.windows.size)


def convolve(layer: Layer, image: Any, weight: Any, bias: Any, out: Any, stream: Any) -> None:
    """Write the convolution to out, a few images at a time: their columns, then the product."""
    groups, m, depth, pixels = layer.product
    a = launch.flatten(layer.function, "weight", weight).reshape(groups, m, depth)
    bias = launch.flatten(layer.function, "bias", bias).reshape(groups, m)
    for part, cols in columns_of(layer, image, stream):
        made = out[part].reshape(len(cols), groups, m, pixels)
        multiply(layer.function, a, cols, bias, made, stream)


def columns_of(layer: Layer, image: Any, stream: Any) -> Any:
    """Yield slices of a batch, and their columns (n, G, K, P), always in one buffer."""
    groups, _, depth, pixels = layer.product
    batch, places = layer.image[0], groups * depth
    fitting = min(MOST_COLUMNS // (places * pixels), launch.GRID_LIMIT[2] // places)
    step = min(batch, max(fitting, 1))
    rows, cols = layer.windows.size
    buffer = launch.empty((step, places, rows, cols), image.dtype)
    for first in range(0, batch, step):
        part = slice(first, min(first + step, batch))
        n = part.stop - first
        sizes = cols, rows, n * places
        given = image[part], layer.window, *layer.moves, buffer[:n]
        start(layer.function, im2col.VARIANTS[0], sizes, stream, *given)
        yield part, buffer[:n].reshape(n, groups, depth, pixels)


def multiply(function: str, a: Any, cols: Any, bias: Any, out: Any, stream: Any) -> None:
    """Write the product of weights and columns, plus the bias, to out."""
    n, groups, m, pixels = out.shape
    product, _ = _products(a)
    start(function, product, (pixels, m, n * groups), stream, a, cols, bias, out)


def _products(weight: Any) -> tuple[Variant, Variant]:
    """Return the kernels that multiply columns: by weights, and for the gradient of weights."""
    _, product, grad_weight, _ = im2col.VARIANTS
    return mixed.VARIANTS if weight.dtype in SMALL else (product, grad_weight)


def start(
    function: str, variant: Variant, sizes: tuple[int, ...], stream: Any, *arguments: Any
) -> None:
    """Launch a kernel on a grid that covers so many elements."""
    variant.kernel[variant.grid(function, *sizes), variant.block, stream](*arguments)


def convolve_back(layer: Layer, given: Sequence[Any], made: Sequence[Any], stream: Any) -> None:
    """Compute gradients as products: of weights with columns; of columns, then col2im.

    The arrays given are the gradient, the images, the weights, and the gradient of which the
    bias is the sum; in mixed precision that one is not rounded.
    """
    (grad_out, image, weight, exact), (grad_image, grad_weight, grad_bias) = given, made
    function, dtype = layer.function, grad_bias.dtype
    groups, m, depth, pixels = layer.product
    slices = min(layer.image[0], SLICES)
    partial = launch.empty((slices, groups, m, depth), dtype)
    zero(partial, stream)
    if grad_image.size:
        turned = _turned(layer, weight, stream)
        nothing = launch.to_device(np.zeros((groups, depth), dtype), stream)
    by_weight, by_image, wide = _products(weight)[1], im2col.VARIANTS[3], None
    grad_out = launch.flatten(function, "grad_out", grad_out)
    grad_out = grad_out.reshape(layer.image[0], groups, m, pixels)
    for part, cols in columns_of(layer, image, stream):
        grad = grad_out[part]
        start(function, by_weight, (depth, m, slices * groups), stream, grad, cols, partial)
        if not grad_image.size:
            continue
        if wide is None:
            # The columns are no longer needed: their gradient overwrites them, if it fits there.
            wide = cols if cols.dtype == dtype else launch.empty(cols.shape, dtype)
        multiply(function, turned, grad, nothing, wide[: len(cols)], stream)
        n, c, h, w = len(cols), *layer.image[1:]
        back = wide[:n].reshape(n * c, *layer.window, *layer.windows.size)
        rest = back, *layer.moves, grad_image[part].reshape(n * c, h, w)
        start(function, by_image, (w, h, n * c), stream, *rest)
    if n := grad_weight.size:
        add_up.add_columns(function, partial.reshape(slices, n), grad_weight.reshape(n), stream)
    add_pixels(layer, exact, grad_bias, stream)


def add_pixels(layer: Layer, grad_out: Any, grad_bias: Any, stream: Any) -> None:
    """Write the gradient of the bias: the sum of each channel's pixels."""
    flat = launch.flatten(layer.function, "grad_out", grad_out)
    given = flat.reshape(*layer.out[:2], layer.product[3]), grad_bias
    start(layer.function, gradients.VARIANTS[2], (grad_bias.size,), stream, *given)


def zero(array: Any, stream: Any) -> None:
    """Set all elements of an array to 0."""
    flat = array.reshape(array.size)
    vector.fill(array.size, 0, dtype=array.dtype, out=flat, stream=stream)


def _turned(layer: Layer, weight: Any, stream: Any) -> Any:
    """Return weights transposed within each group, (G, weights per channel, channels).

    Those of 16 bits, for which there is no kernel that transposes, are a view.
    """
    groups, m, places, _ = layer.product
    flat = launch.flatten(layer.function, "weight", weight)
    if m == 1:
        return flat.reshape(groups, places, 1)
    flat = flat.reshape(groups, m, places)
    if weight.dtype in SMALL:
        return launch.permuted(flat, (0, 2, 1))
    turned = launch.empty((groups, places, m), weight.dtype)
    for g in range(groups):
        transpose.transpose(flat[g], out=turned[g], stream=stream)
    return turned


def layer_of(
    function: str, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Layer:
    """Return the shapes of a layer; raise unless arrays, channels, groups and windows fit."""
    groups = launch.check_int(function, "groups", groups, least=1)
    channels, channels_out = input.shape[1], weight.shape[0]
    if channels != groups * weight.shape[1] or 0 in weight.shape[1:]:
        times = "" if groups == 1 else f"{groups} * "
        raise ValueError(
            f"{function}: expected input.shape[1] == {times}weight.shape[1] and a window of at "
            f"least 1 x 1, got {tuple(input.shape)} and {tuple(weight.shape)}. "
            "Axis 1 of both is the input channel."
        )
    if channels_out % groups:
        raise ValueError(
            f"{function}: expected weight.shape[0] to be a multiple of groups, got {channels_out} "
            f"and {groups}. Each group has as many output channels."
        )
    moves = place_windows(function, input.shape[2:], weight.shape[2:], stride, padding, dilation)
    return Layer(function, tuple(input.shape), tuple(weight.shape), groups, moves)


VARIANTS: tuple[Variant, ...] = ()
__all__ = launch.public_names(globals())
