"""Convolution (conv1d, conv2d and gradients), from one thread per pixel to a matrix product.

`windows` (sizes and padding), `direct` (the formula; weights in constant memory), `tiled` (a tile
with a halo in shared memory), `gradients` (the formulas of the gradients), `im2col` (windows as
columns of a matrix, for the layer and its gradients), `implicit` (implicit GEMM, the product
without the matrix). `conv2d` takes all variants, in `VARIANTS`; `one_d` has `conv1d`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit import launch, signature
from gpukit.kernels import transpose, vector
from gpukit.kernels.backprop import columns
from gpukit.kernels.conv import direct, gradients, im2col, implicit, tiled
from gpukit.kernels.conv.direct import conv2d_reference
from gpukit.kernels.conv.gradients import conv2d_backward_reference
from gpukit.kernels.conv.one_d import conv1d
from gpukit.kernels.conv.windows import Pair, Shape, Windows, place_windows
from gpukit.launch import Variant

VARIANTS = (*direct.VARIANTS, *tiled.VARIANTS, im2col.VARIANTS[0], *implicit.VARIANTS)
BACKWARD_VARIANTS = (
    gradients.VARIANTS[0]._replace(name="direct"),
    im2col.VARIANTS[-1]._replace(name="im2col"),
)
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


# --- Forward ---------------------------------------------------------------------------------


@signature.takes("input: n c h w, weight: o taps kh kw, bias?: o -> n o rows cols")
def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    variant: str = "im2col",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the 2D convolution of a batch of images with zero padding, as torch.conv2d does.

    Input (1, 3, 224, 224), weight (16, 3, 3, 3) and bias (16,) with padding 1 give (1, 16, 224,
    224). All float32 or all float64. stride, padding and dilation are numbers or pairs (down,
    across); padding may be "same" or "valid". The variant constant compiles a kernel for each new
    weight, which it reads on the host; it takes at most 64 KB of them; tiled only windows that fit
    its tile; both fall back to direct. im2col takes at most 65535 elements per column of an image.
    """
    chosen = launch.pick("conv2d", VARIANTS, variant)
    layer = _layer("conv2d", input, weight, stride, padding, dilation, groups)
    result = out.of(layer.out)
    if math.prod(layer.out):
        if not _takes(chosen, layer, weight):
            chosen = launch.pick("conv2d", VARIANTS, chosen.instead)
        bias = launch.zeros(weight.shape[:1], weight.dtype, stream) if bias is None else bias
        if chosen.name == "im2col":
            _by_columns(layer, input, weight, bias, result.flat().reshape(layer.out), stream)
        elif chosen.name == "implicit":
            _implicitly(layer, input, weight, bias, result.flat(), stream)
        else:
            given: tuple[Any, ...] = input, weight, bias, *layer.moves, result.array
            if chosen.name == "constant":  # its weights are compiled in
                kernel = direct.with_filters(launch.to_host(weight, stream))
                chosen, given = chosen._replace(kernel=kernel), (input, *given[2:])
            n, o, rows, cols = layer.out
            _launch("conv2d", chosen, (cols, rows, n * o), stream, *given)
    return result.get()


def _takes(variant: Variant, layer: Layer, weight: Any) -> bool:
    """Return whether a variant supports such a layer; if not, its fallback does."""
    if variant.name == "constant":
        return bool(weight.size * weight.dtype.itemsize <= direct.MOST_CONSTANT)
    if variant.name == "implicit":
        small = max(math.prod(layer.image), math.prod(layer.out)) < implicit.MOST
        return small and weight.dtype == np.float32
    return variant.name != "tiled" or tiled.fits(layer.window, layer.windows)


def _by_columns(layer: Layer, image: Any, weight: Any, bias: Any, out: Any, stream: Any) -> None:
    """Write the convolution to out, a few images at a time: their columns, then the product."""
    groups, m, depth, pixels = layer.product
    a = launch.flatten(layer.function, "weight", weight).reshape(groups, m, depth)
    bias = launch.flatten(layer.function, "bias", bias).reshape(groups, m)
    for part, cols in _columns(layer, image, stream):
        made = out[part].reshape(len(cols), groups, m, pixels)
        _multiply(layer.function, a, cols, bias, made, stream)


def _implicitly(layer: Layer, image: Any, weight: Any, bias: Any, out: Any, stream: Any) -> None:
    """Write the convolution to out, all pixels of all images in one product."""
    groups, m, depth, pixels = layer.product
    n, channels, *size = layer.image
    moves = layer.windows
    taps = implicit.taps_of(layer.window, channels // groups, (size[0], size[1]), moves.dilation)
    image, weight = (
        launch.flatten(layer.function, name, array)
        for name, array in (("input", image), ("weight", weight))
    )
    given = image, weight.reshape(groups * m, depth), bias, launch.to_device(taps, stream)
    sizes = n * pixels, m, groups
    out = out.reshape(n, groups * m, pixels)
    moved = moves.stride, moves.padding, (size[0], size[1]), moves.size[1], out
    _launch(layer.function, implicit.VARIANTS[0], sizes, stream, *given, *moved)


def _columns(layer: Layer, image: Any, stream: Any) -> Any:
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
        _launch(layer.function, im2col.VARIANTS[0], sizes, stream, *given)
        yield part, buffer[:n].reshape(n, groups, depth, pixels)


def _multiply(function: str, a: Any, cols: Any, bias: Any, out: Any, stream: Any) -> None:
    n, groups, m, pixels = out.shape
    sizes = pixels, m, n * groups
    _launch(function, im2col.VARIANTS[1], sizes, stream, a, cols, bias, out)


def _launch(
    function: str, variant: Variant, sizes: tuple[int, ...], stream: Any, *arguments: Any
) -> None:
    variant.kernel[variant.grid(function, *sizes), variant.block, stream](*arguments)


# --- Backward --------------------------------------------------------------------------------


@signature.takes(
    "input: n c h w, weight: o taps kh kw, grad_out: n o rows cols -> n c h w, o taps kh kw, o"
)
def conv2d_backward(
    grad_out: Any,
    input: Any,
    weight: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    of_input: bool = True,
    variant: str = "im2col",
    out: Any = None,
    stream: Any = 0,
) -> tuple[Any, Any, Any]:
    """Return the gradients of input, weight and bias of a convolution.

    Input (N, C, H, W), weight (O, C / groups, KH, KW) and grad_out, the gradient of the result of
    conv2d, give arrays of the shapes of input and weight, and (O,). All float32 or all
    float64. The variant direct evaluates the formulas as they are, im2col as matrix products.
    Without `of_input` the first is None: the first layer of a network does not need it, and it is
    half of the work.
    """
    function = "conv2d_backward"
    chosen = launch.pick(function, BACKWARD_VARIANTS, variant)
    layer = _layer(function, input, weight, stride, padding, dilation, groups)
    advice = "It has the shape of the result of conv2d."
    launch.check_shape(function, "grad_out", grad_out, layer.out, advice)
    made = [result.flat().reshape(result.shape) for result in (out if of_input else out[1:])]
    if not of_input:
        made.insert(0, launch.empty((0, 0, 0, 0), input.dtype))
    given = grad_out, input, weight
    if 0 in (*layer.image, *layer.weight):  # empty sums
        for array in made:
            _zero(array, stream)
    elif chosen.name == "direct":
        _back_directly(layer, given, made, stream)
    else:
        _back_by_columns(layer, given, made, stream)
    of_image, of_weight, of_bias = out
    return of_image.get() if of_input else None, of_weight.get(), of_bias.get()


def _back_directly(layer: Layer, given: Sequence[Any], made: Sequence[Any], stream: Any) -> None:
    """Compute gradients by their formulas, one kernel each."""
    (grad_out, image, weight), (grad_image, grad_weight, grad_bias) = given, made
    by_input, by_weight, _ = gradients.VARIANTS
    n, c, h, w = layer.image
    if grad_image.size:
        rest = weight, *layer.moves, grad_image
        _launch(layer.function, by_input, (w, h, n * c), stream, grad_out, *rest)
    rest = image, *layer.moves, grad_weight
    _launch(layer.function, by_weight, (grad_weight.size, 1, 1), stream, grad_out, *rest)
    _add_pixels(layer, grad_out, grad_bias, stream)


def _back_by_columns(layer: Layer, given: Sequence[Any], made: Sequence[Any], stream: Any) -> None:
    """Compute gradients as products: of weights with columns; of columns, then col2im."""
    (grad_out, image, weight), (grad_image, grad_weight, grad_bias) = given, made
    function, dtype = layer.function, image.dtype
    groups, m, depth, pixels = layer.product
    slices = min(layer.image[0], SLICES)
    partial = launch.empty((slices, groups, m, depth), dtype)
    _zero(partial, stream)
    if grad_image.size:
        transposed = _transposed(function, weight, groups, stream)
        nothing = launch.to_device(np.zeros((groups, depth), dtype), stream)
    _, by_weight, by_image = im2col.VARIANTS[1:]
    grad_out = launch.flatten(function, "grad_out", grad_out)
    grad_out = grad_out.reshape(layer.image[0], groups, m, pixels)
    for part, cols in _columns(layer, image, stream):
        grad = grad_out[part]
        _launch(function, by_weight, (depth, m, slices * groups), stream, grad, cols, partial)
        if not grad_image.size:
            continue
        # The columns are no longer needed: their gradient overwrites them.
        _multiply(function, transposed, grad, nothing, cols, stream)
        n, c, h, w = len(cols), *layer.image[1:]
        back = cols.reshape(n * c, *layer.window, *layer.windows.size)
        rest = back, *layer.moves, grad_image[part].reshape(n * c, h, w)
        _launch(function, by_image, (w, h, n * c), stream, *rest)
    if n := grad_weight.size:
        columns.add_columns(function, partial.reshape(slices, n), grad_weight.reshape(n), stream)
    _add_pixels(layer, grad_out, grad_bias, stream)


def _add_pixels(layer: Layer, grad_out: Any, grad_bias: Any, stream: Any) -> None:
    """Write the gradient of the bias: the sum of each channel's pixels."""
    flat = launch.flatten(layer.function, "grad_out", grad_out)
    given = flat.reshape(*layer.out[:2], layer.product[3]), grad_bias
    _launch(layer.function, gradients.VARIANTS[2], (grad_bias.size,), stream, *given)


def _zero(array: Any, stream: Any) -> None:
    flat = array.reshape(array.size)
    vector.fill(array.size, 0, dtype=array.dtype, out=flat, stream=stream)


def _transposed(function: str, weight: Any, groups: int, stream: Any) -> Any:
    """Return weights transposed within each group, (G, weights per channel, channels)."""
    m = weight.shape[0] // groups
    places = weight.size // (groups * m)
    flat = launch.flatten(function, "weight", weight)
    if m == 1:
        return flat.reshape(groups, places, 1)
    flat = flat.reshape(groups, m, places)
    transposed = launch.empty((groups, places, m), weight.dtype)
    for g in range(groups):
        transpose.transpose(flat[g], out=transposed[g], stream=stream)
    return transposed


# --- Checks ----------------------------------------------------------------------------------


def _layer(
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


__all__ = [
    "BACKWARD_VARIANTS",
    "VARIANTS",
    "conv1d",
    "conv2d",
    "conv2d_backward",
    "conv2d_backward_reference",
    "conv2d_reference",
]
