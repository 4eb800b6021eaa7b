"""Convolution (conv1d, conv2d and gradients), from one thread per pixel to a matrix product.

`windows` (sizes and padding), `direct` (the formula; weights in constant memory), `tiled` (a tile
with a halo in shared memory), `gradients` (the formulas of the gradients), `im2col` (windows as
columns of a matrix, for the layer and its gradients), `implicit` (implicit GEMM, the product
without the matrix). `conv2d` takes all variants, in `VARIANTS`; `one_d` has `conv1d`. `mixed` has
the products for `mixed_conv2d`, and `by_columns` the launches that it shares with `conv2d`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpukit import launch, signature
from gpukit.kernels.conv import direct, gradients, im2col, implicit, tiled
from gpukit.kernels.conv.by_columns import (
    Layer,
    add_pixels,
    convolve,
    convolve_back,
    layer_of,
    start,
    zero,
)
from gpukit.kernels.conv.direct import conv2d_reference
from gpukit.kernels.conv.gradients import conv2d_backward_reference
from gpukit.kernels.conv.one_d import conv1d
from gpukit.kernels.convert import SMALL, convert
from gpukit.launch import Variant

VARIANTS = (*direct.VARIANTS, *tiled.VARIANTS, im2col.VARIANTS[0], *implicit.VARIANTS)
BACKWARD_VARIANTS = (
    gradients.VARIANTS[0]._replace(name="direct"),
    im2col.VARIANTS[-1]._replace(name="im2col"),
)


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
    layer = layer_of("conv2d", input, weight, stride, padding, dilation, groups)
    result = out.of(layer.out)
    if math.prod(layer.out):
        if not _takes(chosen, layer, weight):
            chosen = launch.pick("conv2d", VARIANTS, chosen.instead)
        bias = launch.zeros(weight.shape[:1], weight.dtype, stream) if bias is None else bias
        if chosen.name == "im2col":
            convolve(layer, input, weight, bias, result.flat().reshape(layer.out), stream)
        elif chosen.name == "implicit":
            _implicitly(layer, input, weight, bias, result.flat(), stream)
        else:
            given: tuple[Any, ...] = input, weight, bias, *layer.moves, result.array
            if chosen.name == "constant":  # its weights are compiled in
                kernel = direct.with_filters(launch.to_host(weight, stream))
                chosen, given = chosen._replace(kernel=kernel), (input, *given[2:])
            n, o, rows, cols = layer.out
            start("conv2d", chosen, (cols, rows, n * o), stream, *given)
    return result.get()


def _takes(variant: Variant, layer: Layer, weight: Any) -> bool:
    """Return whether a variant supports such a layer; if not, its fallback does."""
    if variant.name == "constant":
        return bool(weight.size * weight.dtype.itemsize <= direct.MOST_CONSTANT)
    if variant.name == "implicit":
        small = max(math.prod(layer.image), math.prod(layer.out)) < implicit.MOST
        return small and weight.dtype == np.float32
    return variant.name != "tiled" or tiled.fits(layer.window, layer.windows)


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
    start(layer.function, implicit.VARIANTS[0], sizes, stream, *given, *moved)


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
    layer = layer_of(function, input, weight, stride, padding, dilation, groups)
    made = _made(layer, grad_out, out, of_input, input.dtype)
    if 0 in (*layer.image, *layer.weight):  # empty sums
        for array in made:
            zero(array, stream)
    elif chosen.name == "direct":
        _back_directly(layer, (grad_out, input, weight), made, stream)
    else:
        convolve_back(layer, (grad_out, input, weight, grad_out), made, stream)
    of_image, of_weight, of_bias = out
    return of_image.get() if of_input else None, of_weight.get(), of_bias.get()


def _back_directly(layer: Layer, given: Sequence[Any], made: Sequence[Any], stream: Any) -> None:
    """Compute gradients by their formulas, one kernel each."""
    (grad_out, image, weight), (grad_image, grad_weight, grad_bias) = given, made
    by_input, by_weight, _ = gradients.VARIANTS
    n, c, h, w = layer.image
    if grad_image.size:
        rest = weight, *layer.moves, grad_image
        start(layer.function, by_input, (w, h, n * c), stream, grad_out, *rest)
    rest = image, *layer.moves, grad_weight
    start(layer.function, by_weight, (grad_weight.size, 1, 1), stream, grad_out, *rest)
    add_pixels(layer, grad_out, grad_bias, stream)


# --- Mixed precision -------------------------------------------------------------------------


_SMALL = {"dtypes": SMALL, "dtype": np.float32}


@signature.takes(
    "input: n c h w, weight: o taps kh kw, bias?: o -> n o rows cols", bias=(np.float32,), **_SMALL
)
def mixed_conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the 2D convolution of images and weights of 16 bits, in float32.

    As `conv2d`, for input and weight of float16, or of bfloat16, which is held as its bits in
    uint16: `convert` makes both. The bias is float32. Products are summed in float32.
    """
    layer = layer_of("mixed_conv2d", input, weight, stride, padding, dilation, groups)
    result = out.of(layer.out)
    if math.prod(layer.out):
        bias = launch.zeros(weight.shape[:1], np.float32, stream) if bias is None else bias
        convolve(layer, input, weight, bias, result.flat().reshape(layer.out), stream)
    return result.get()


@signature.takes(
    "input: n c h w, weight: o taps kh kw, grad_out: n o rows cols -> n c h w, o taps kh kw, o",
    grad_out=(np.float32,),
    **_SMALL,
)
def mixed_conv2d_backward(
    grad_out: Any,
    input: Any,
    weight: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    of_input: bool = True,
    out: Any = None,
    stream: Any = 0,
) -> tuple[Any, Any, Any]:
    """Return the gradients of input, weight and bias of `mixed_conv2d`, in float32.

    grad_out is float32 and rounded to the 16 bits of input and weight before it is multiplied; the
    gradient of the bias, a sum, is not of rounded numbers. Without `of_input` the first is None.
    """
    function = "mixed_conv2d_backward"
    layer = layer_of(function, input, weight, stride, padding, dilation, groups)
    made = _made(layer, grad_out, out, of_input, np.float32)
    if 0 in (*layer.image, *layer.weight):  # empty sums
        for array in made:
            zero(array, stream)
    else:
        dtype = "float16" if weight.dtype == np.float16 else "bfloat16"
        rounded = launch.empty(grad_out.shape, weight.dtype)
        convert(grad_out, dtype, out=rounded, stream=stream)
        convolve_back(layer, (rounded, input, weight, grad_out), made, stream)
    of_image, of_weight, of_bias = out
    return of_image.get() if of_input else None, of_weight.get(), of_bias.get()


def _made(layer: Layer, grad_out: Any, out: Any, of_input: bool, dtype: Any) -> list[Any]:
    """Return the arrays of three gradients, the first empty without `of_input`."""
    advice = "It has the shape of the result of conv2d."
    launch.check_shape(layer.function, "grad_out", grad_out, layer.out, advice)
    made = [result.flat().reshape(result.shape) for result in (out if of_input else out[1:])]
    return made if of_input else [launch.empty((0, 0, 0, 0), dtype), *made]


__all__ = [
    "BACKWARD_VARIANTS",
    "VARIANTS",
    "conv1d",
    "conv2d",
    "conv2d_backward",
    "conv2d_backward_reference",
    "conv2d_reference",
    "mixed_conv2d",
    "mixed_conv2d_backward",
]
