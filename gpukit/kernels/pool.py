"""Max pooling and average pooling of images.

Each channel of each image is pooled by itself, so the kernels see planes. The `padding` pixels
around the image are never the maximum, and 0 for a mean. Gradients are in pool_grad.py.

Legend
    P, plane     channels of all images, and one of them   64 * 32, [0, P)
    H, W         rows and columns of a plane of the image  224, 224
    row, col     a window, a pixel of out                  [0, 112)
    h, w         a pixel of the image                      [0, 224)
    top, left    the first pixel of a window, possibly on the padding [-1, 224)
    T            taps inside the image, of all windows and planes

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator; indices int64;
               the rest int
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(cols, BLOCK_X), ceil_div(rows, BLOCK_Y),
               min(P, 65535)); x = col, y = row, z = plane
    Errors     the host functions reject shapes that do not fit and padding of more than half of a
               window; the kernels assume none of these
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.conv.windows import (
    Pair,
    Shape,
    Windows,
    out_sizes,
    pair,
    place_windows,
    taps_inside,
)
from gpukit.launch import Cost, Variant
from gpukit.results import Result

BLOCK_X = 32
BLOCK_Y = 8
ONE, NONE = (1, 1), (0, 0)
PLACE = 8  # bytes of an index

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def max_pool2d_reference(
    image: npt.ArrayLike, window: Pair, *, stride: Pair, padding: Pair = NONE, dilation: Pair = ONE
) -> Float64:
    """Return the maximum of each window of planes (P, H, W), or NaN if there is one."""
    moves = window, stride, padding, dilation, -np.inf
    largest: Float64 = seen_by(np.asarray(image, np.float64), *moves).max((3, 4))
    return largest


def avg_pool2d_reference(
    image: npt.ArrayLike,
    window: Pair,
    *,
    stride: Pair,
    padding: Pair = NONE,
    count_include_pad: bool = True,
) -> Float64:
    """Return the mean of each window of planes (P, H, W)."""
    image = np.asarray(image, np.float64)
    there = np.full(image.shape, 1.0)
    moves = window, stride, padding, ONE, 0.0
    counts = math.prod(window) if count_include_pad else seen_by(there, *moves).sum((3, 4))
    mean: Float64 = seen_by(image, *moves).sum((3, 4)) / counts
    return mean


def seen_by(
    image: Float64, window: Pair, stride: Pair, padding: Pair, dilation: Pair, outside: float
) -> Float64:
    """Return a view of all windows, (P, rows, cols, KH, KW)."""
    padded = np.pad(image, ((0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=outside)
    reach = reach_of(window, dilation)
    seen = np.lib.stride_tricks.sliding_window_view(padded, reach, (1, 2))
    return seen[:, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def reach_of(window: Pair, dilation: Pair) -> Pair:
    """Return how many pixels a window spans."""
    return dilation[0] * (window[0] - 1) + 1, dilation[1] * (window[1] - 1) + 1


# --- Forward kernels -------------------------------------------------------------------------


@cuda.jit
def max_pool2d_kernel(image, window, stride, padding, dilation, out, indices):
    """Compute the maximum of each window and its index, one window per thread.

    New here   the index is stored with the maximum, because only that pixel gets the gradient. Of
               equal elements the first counts; NaN is larger than every number; the last NaN counts
    Shapes     image (P, H, W), window (2,), stride (2,), padding (2,), dilation (2,),
               out (P, rows, cols), indices (P, rows, cols) or None; any sizes >= 1, C order
    Cost       bytes: itemsize (T + out.size) + 8 indices.size; flops: 0, comparisons are not
               counted; barriers: 0
    Source     Scherer, Müller and Behnke, "Evaluation of Pooling Operations in Convolutional
               Architectures for Object Recognition", 2010
    """
    col, row = cuda.grid(2)
    top, left = stride[0] * row - padding[0], stride[1] * col - padding[1]
    if row < out.shape[1] and col < out.shape[2]:
        for plane in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            best = out.dtype.type(-math.inf)
            best_at = -1
            for h in range(top, top + window[0] * dilation[0], dilation[0]):
                for w in range(left, left + window[1] * dilation[1], dilation[1]):
                    if 0 <= h < image.shape[1] and 0 <= w < image.shape[2]:
                        value = image[plane, h, w]
                        if value > best or value != value or best_at < 0:  # NaN != NaN
                            best = value
                            best_at = h * image.shape[2] + w
            out[plane, row, col] = best
            if indices is not None:
                indices[plane, row, col] = best_at


def max_pool2d_cost(
    image: Shape,
    window: Pair,
    *,
    stride: Pair,
    padding: Pair = NONE,
    dilation: Pair = ONE,
    itemsize: int = 4,
    placesize: int = PLACE,
) -> Cost:
    """One load per element of a window inside the image; a maximum and an index stored."""
    planes, *size = image
    geometry = tuple(size), window, stride, padding, dilation
    stores = math.prod(out_sizes(*geometry))
    loads = itemsize * taps_inside(*geometry)
    return Cost(bytes=planes * (loads + (itemsize + placesize) * stores), flops=0)


@cuda.jit
def avg_pool2d_kernel(image, window, stride, padding, include_pad, out):
    """Compute the mean of each window, one window per thread.

    New here   two divisors: the number of all elements of the window, so that those on the padding
               count as zeros, or the number of those inside the image
    Shapes     image (P, H, W), window (2,), stride (2,), padding (2,), include_pad bool,
               out (P, rows, cols); any sizes >= 1, C order
    Cost       bytes: itemsize (T + out.size); flops: T + out.size; barriers: 0
    Source     LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document
               Recognition", 1998
    """
    col, row = cuda.grid(2)
    if row < out.shape[1] and col < out.shape[2]:
        top, left = stride[0] * row - padding[0], stride[1] * col - padding[1]
        first_h, last_h = max(top, 0), min(top + window[0], image.shape[1])
        first_w, last_w = max(left, 0), min(left + window[1], image.shape[2])
        count = window[0] * window[1] if include_pad else (last_h - first_h) * (last_w - first_w)
        for plane in range(cuda.blockIdx.z, out.shape[0], cuda.gridDim.z):
            acc = out.dtype.type(0)
            for h in range(first_h, last_h):
                for w in range(first_w, last_w):
                    acc += image[plane, h, w]
            out[plane, row, col] = acc / out.dtype.type(count)


def avg_pool2d_cost(
    image: Shape, window: Pair, *, stride: Pair, padding: Pair = NONE, itemsize: int = 4
) -> Cost:
    """One load and one addition per element inside; one division and one store per window."""
    planes, *size = image
    geometry = tuple(size), window, stride, padding, ONE
    places, stores = taps_inside(*geometry), math.prod(out_sizes(*geometry))
    return Cost(bytes=itemsize * planes * (places + stores), flops=planes * (places + stores))


# --- Host functions --------------------------------------------------------------------------


@signature.takes("input: n c h w -> n c rows cols", layout="C")
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    return_indices: bool = False,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the maximum of each window, and on request their indices.

    Input (N, C, H, W), float32 or float64, and kernel_size 2 give (N, C, H // 2, W // 2): the
    stride is the kernel_size by default. Sizes are numbers or pairs (down, across). Indices
    are int64, h W + w, as in PyTorch. NaN is larger than every number.
    """
    window, moves, shape = pooled_shape(
        "max_pool2d", input.shape, kernel_size, stride, padding, dilation
    )
    result = out.of(shape)
    places = Result("max_pool2d", None, shape, np.int64, out.inputs, stream=stream)
    indices = planes(places.flat(), shape) if return_indices else None
    given = window, *moves[:3], planes(result.flat(), shape), indices
    _launch(VARIANTS[0], input, given, shape, stream)
    return (result.get(), places.get()) if return_indices else result.get()


@signature.takes("input: n c h w -> n c rows cols", layout="C")
def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    count_include_pad: bool = True,
    *,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the mean of each window, to which elements on the padding contribute zeros.

    Input (N, C, H, W), float32 or float64, and kernel_size 2 give (N, C, H // 2, W // 2): the
    stride is the kernel_size by default. Sizes are numbers or pairs (down, across). Without
    count_include_pad the elements on the padding are not counted.
    """
    window, moves, shape = pooled_shape("avg_pool2d", input.shape, kernel_size, stride, padding, 1)
    result = out.of(shape)
    out_planes = planes(result.flat(), shape)
    given = window, moves.stride, moves.padding, bool(count_include_pad), out_planes
    _launch(VARIANTS[1], input, given, shape, stream)
    return result.get()


def pooled_shape(
    function: str, shape: Shape, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[Pair, Windows, Shape]:
    """Return the windows of images of a shape, and the shape of the result."""
    window = pair(function, "kernel_size", kernel_size, least=1)
    stride = window if stride is None else stride
    padding, dilation = (
        pair(function, name, value, least=least)
        for name, value, least in (("padding", padding, 0), ("dilation", dilation, 1))
    )
    if any(2 * pad > n for pad, n in zip(padding, window, strict=True)):
        raise ValueError(
            f"{function}: expected padding of at most half the window, got {padding} and "
            f"{window}. Pad less: a window could lie outside altogether."
        )
    moves = place_windows(function, shape[2:], window, stride, padding, dilation)
    return window, moves, (*shape[:2], *moves.size)


def planes(flat: Any, shape: Shape) -> Any:
    """Return images (N, C, H, W), given as a flat array, as planes (N C, H, W)."""
    return flat.reshape(shape[0] * shape[1], *shape[2:])


def _launch(variant: Variant, input: Any, given: Any, shape: Shape, stream: Any) -> None:
    """Launch a kernel with one thread per window, unless there is none."""
    if math.prod(shape):
        grid = variant.grid(variant.name, shape[3], shape[2], shape[0] * shape[1])
        variant.kernel[grid, variant.block, stream](planes(input, input.shape), *given)


# A variant with one thread per element of a plane, also for the gradients.
plane_variant = functools.partial(
    Variant, block=(BLOCK_X, BLOCK_Y, 1), most_blocks=launch.GRID_LIMIT[2]
)
VARIANTS = (
    plane_variant("max_pool2d", max_pool2d_kernel, max_pool2d_cost, max_pool2d_reference),
    plane_variant("avg_pool2d", avg_pool2d_kernel, avg_pool2d_cost, avg_pool2d_reference),
)
__all__ = launch.public_names(globals())
