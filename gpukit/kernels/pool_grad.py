"""Gradients of max pooling and average pooling, without atomics.

Where windows do not overlap, each may write to its own pixels (a scatter). Where they do, each
pixel sums over the windows on it (a gather): the bits are the same in every run.

Legend
    at           a pixel of a plane as a flat index, h W + w        [0, H W)
    more_h       windows below the first that can span a pixel too  1
    last_h       the row after the last that a window spans
    reach        pixels that a window spans: dilation (n - 1) + 1
    T            pixels inside the image that windows span, of all windows and planes
    the others   as in pool.py, with grad_out for out

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator; indices int64;
               the rest int
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y),
               min(P, 65535)); x = w, y = h, z = plane of grad
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
from gpukit.kernels import pool, vector
from gpukit.kernels.conv.windows import Pair, Shape, taps_inside
from gpukit.launch import Cost, Variant

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def max_pool2d_backward_reference(
    grad_out: npt.ArrayLike, indices: npt.NDArray[Any], size: Pair
) -> Float64:
    """Return planes of `size` with each gradient added at the index of its window's maximum."""
    grad_out = np.asarray(grad_out, np.float64)
    grad = np.zeros((len(grad_out), math.prod(size)))
    planes = np.arange(len(grad_out))[:, None]
    found = indices.reshape(len(grad_out), -1)
    np.add.at(grad, (planes, found), grad_out.reshape(len(grad_out), -1))
    return grad.reshape(-1, *size)


def avg_pool2d_backward_reference(
    grad_out: npt.ArrayLike,
    size: Pair,
    window: Pair,
    *,
    stride: Pair,
    padding: Pair = pool.NONE,
    count_include_pad: bool = True,
) -> Float64:
    """Return planes of `size` with each gradient distributed over the pixels of its window."""
    grad_out = np.asarray(grad_out, np.float64)
    moves = window, stride, padding, pool.ONE, 0.0
    counts = math.prod(window)
    if not count_include_pad:
        counts = pool.seen_by(np.full((1, *size), 1.0), *moves).sum((3, 4))
    each = grad_out / counts
    padded = np.zeros((len(each), size[0] + 2 * padding[0], size[1] + 2 * padding[1]))
    for kh, kw in np.ndindex(*window):
        reached = padded[:, kh :: stride[0], kw :: stride[1]]
        reached[:, : each.shape[1], : each.shape[2]] += each
    return padded[:, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


# --- Backward kernels ------------------------------------------------------------------------


@cuda.jit
def max_pool2d_scatter_kernel(grad_out, indices, grad):
    """Store each gradient at the index of its window's maximum, one window per thread.

    New here   a scatter without atomics, for windows that do not overlap: no two of them have the
               same maximum. All other pixels are 0 before the launch
    Shapes     grad_out (P, rows, cols), indices (P, rows, cols), grad (P, H W), which is 0; any
               sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(cols, BLOCK_X),
               ceil_div(rows, BLOCK_Y), min(P, 65535)); x = col, y = row, z = plane of grad_out
    Cost       bytes: (2 itemsize + 8) grad_out.size; flops: 0; barriers: 0
    Errors     as the others; an index outside the plane is ignored
    Source     gpukit
    """
    col, row = cuda.grid(2)
    if row < grad_out.shape[1] and col < grad_out.shape[2]:
        for plane in range(cuda.blockIdx.z, grad_out.shape[0], cuda.gridDim.z):
            at = indices[plane, row, col]
            if 0 <= at < grad.shape[1]:
                grad[plane, at] = grad_out[plane, row, col]


def max_pool2d_scatter_cost(p: int, rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One gradient and one index loaded, one gradient stored per window."""
    return Cost(bytes=(2 * itemsize + pool.PLACE) * p * rows * cols, flops=0)


@cuda.jit
def max_pool2d_gather_kernel(grad_out, indices, reach, stride, padding, grad):
    """Sum the gradients of all windows whose maximum is a pixel, one pixel per thread.

    New here   a gather, for windows that overlap: a pixel looks up, among the windows on it, those
               whose maximum it is. With 3 x 3 and stride 2 there are at most four. Each thread
               tests that many, also where fewer are on its pixel, so the loops of a warp are equal
    Shapes     grad_out (P, rows, cols), indices (P, rows, cols), reach (2,), stride (2,),
               padding (2,), grad (P, H, W); any sizes >= 1, C order
    Cost       bytes: (itemsize + 8) T + itemsize grad.size; flops: T, with reach for the window;
               barriers: 0
    Source     gpukit
    """
    w, h = cuda.grid(2)
    _, rows, cols = grad_out.shape
    (reach_h, reach_w), (stride_h, stride_w), (pad_h, pad_w) = reach, stride, padding
    more_h, more_w = (reach_h - 1) // stride_h, (reach_w - 1) // stride_w
    if h < grad.shape[1] and w < grad.shape[2]:
        at = h * grad.shape[2] + w
        first_row, first_col = (h + pad_h) // stride_h - more_h, (w + pad_w) // stride_w - more_w
        for plane in range(cuda.blockIdx.z, grad.shape[0], cuda.gridDim.z):
            acc = grad.dtype.type(0)
            for i in range(more_h + 1):
                row = first_row + i
                last_h = stride_h * row - pad_h + reach_h
                for j in range(more_w + 1):
                    col = first_col + j
                    last_w = stride_w * col - pad_w + reach_w
                    if 0 <= row < rows and 0 <= col < cols and h < last_h and w < last_w:
                        value = grad_out[plane, row, col]
                        acc += value if indices[plane, row, col] == at else grad.dtype.type(0)
            grad[plane, h, w] = acc


def max_pool2d_gather_cost(
    image: Shape, reach: Pair, *, stride: Pair, padding: Pair = pool.NONE, itemsize: int = 4
) -> Cost:
    """Per window on each pixel a gradient and an index, and one addition."""
    planes, *size = image
    pairs = taps_inside(tuple(size), reach, stride, padding, pool.ONE)
    moved = (itemsize + pool.PLACE) * pairs + itemsize * math.prod(size)
    return Cost(bytes=planes * moved, flops=planes * pairs)


@cuda.jit
def avg_pool2d_backward_kernel(grad_out, window, stride, padding, include_pad, grad):
    """Sum the contributions of all windows on a pixel, one pixel per thread.

    New here   every pixel of a window gets the same fraction of its gradient, by the divisor of the
               mean, which may be smaller for a window at an edge
    Shapes     grad_out (P, rows, cols), window (2,), stride (2,), padding (2,), include_pad bool,
               grad (P, H, W); any sizes >= 1, C order
    Cost       bytes: itemsize (T + grad.size); flops: 2 T; barriers: 0
    Source     gpukit
    """
    w, h = cuda.grid(2)
    _, rows, cols = grad_out.shape
    (window_h, window_w), (stride_h, stride_w), (pad_h, pad_w) = window, stride, padding
    more_h, more_w = (window_h - 1) // stride_h, (window_w - 1) // stride_w
    if h < grad.shape[1] and w < grad.shape[2]:
        first_row, first_col = (h + pad_h) // stride_h - more_h, (w + pad_w) // stride_w - more_w
        for plane in range(cuda.blockIdx.z, grad.shape[0], cuda.gridDim.z):
            acc = grad.dtype.type(0)
            for i in range(more_h + 1):
                row = first_row + i
                top, last_h = stride_h * row - pad_h, stride_h * row - pad_h + window_h
                height = min(last_h, grad.shape[1]) - max(top, 0)
                for j in range(more_w + 1):
                    col = first_col + j
                    left, last_w = stride_w * col - pad_w, stride_w * col - pad_w + window_w
                    width = min(last_w, grad.shape[2]) - max(left, 0)
                    count = window_h * window_w if include_pad else height * width
                    if 0 <= row < rows and 0 <= col < cols and h < last_h and w < last_w:
                        acc += grad_out[plane, row, col] / grad.dtype.type(count)
            grad[plane, h, w] = acc


def avg_pool2d_backward_cost(
    image: Shape, window: Pair, *, stride: Pair, padding: Pair = pool.NONE, itemsize: int = 4
) -> Cost:
    """Per window on each pixel a load, a division and an addition; one store per pixel."""
    planes, *size = image
    pairs = taps_inside(tuple(size), window, stride, padding, pool.ONE)
    return Cost(bytes=itemsize * planes * (pairs + math.prod(size)), flops=2 * planes * pairs)


# --- Host functions --------------------------------------------------------------------------


@signature.takes(
    "grad_out: n c rows cols, indices: n c rows cols -> n c h w", layout="C", indices=(np.int64,)
)
def max_pool2d_backward(
    grad_out: Any,
    indices: Any,
    input_size: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    variant: str = "scatter",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradient of the input of max_pool2d, of shape `input_size`.

    grad_out and the int64 indices that max_pool2d returned, both (N, C, rows, cols), and
    input_size (N, C, H, W) give (N, C, H, W). The variant scatter takes windows that do not
    overlap and falls back to gather, which adds where several windows have the same maximum.
    """
    function = "max_pool2d_backward"
    chosen = launch.pick(function, MAX_VARIANTS, variant)
    shape = _shape(function, input_size)
    window, moves, size = pool.pooled_shape(function, shape, kernel_size, stride, padding, dilation)
    reach = pool.reach_of(window, moves.dilation)
    if any(step < span for step, span in zip(moves.stride, reach, strict=True)):
        chosen = launch.pick(function, MAX_VARIANTS, chosen.instead or chosen.name)
    given = () if chosen.name == "scatter" else (reach, moves.stride, moves.padding)
    return _back(function, chosen, (grad_out, indices), given, shape, size, out, stream)


@signature.takes("grad_out: n c rows cols -> n c h w", layout="C")
def avg_pool2d_backward(
    grad_out: Any,
    input_size: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    count_include_pad: bool = True,
    *,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradient of the input of avg_pool2d, of shape `input_size`.

    grad_out (N, C, rows, cols) and input_size (N, C, H, W) give (N, C, H, W).
    """
    function = "avg_pool2d_backward"
    shape = _shape(function, input_size)
    window, moves, size = pool.pooled_shape(function, shape, kernel_size, stride, padding, 1)
    given = window, moves.stride, moves.padding, bool(count_include_pad)
    return _back(function, VARIANTS[2], (grad_out,), given, shape, size, out, stream)


def _shape(function: str, input_size: Any) -> Shape:
    """Return input_size as four ints."""
    if not isinstance(input_size, tuple | list) or len(input_size) != 4:
        raise TypeError(
            f"{function}: expected input_size to be the shape (N, C, H, W) of the input, got "
            f"{input_size!r}. Pass input.shape."
        )
    return tuple(launch.check_int(function, "input_size", n, least=0) for n in input_size)


def _back(
    function: str,
    variant: Variant,
    arrays: tuple[Any, ...],
    given: tuple[Any, ...],
    shape: Shape,
    size: Shape,
    out: Any,
    stream: Any,
) -> Any:
    """Launch a kernel on grad_out, the first of `arrays`, and return gradients of a shape."""
    grad_out = arrays[0]
    launch.check_shape(function, "grad_out", grad_out, size, "It has the shape of what was pooled.")
    result = out.of(shape)
    if math.prod(shape):
        moved = [pool.planes(array, size) for array in arrays]
        grad = pool.planes(result.flat(), shape)
        across = shape
        if variant.name == "scatter":  # pixels that are no maximum stay 0
            vector.fill(grad.size, 0, dtype=grad.dtype, out=result.flat(), stream=stream)
            grad = grad.reshape(grad.shape[0], shape[2] * shape[3])
            across = size
        grid = variant.grid(function, across[3], across[2], shape[0] * shape[1])
        variant.kernel[grid, variant.block, stream](*moved, *given, grad)
    return result.get()


_max = functools.partial(pool.plane_variant, reference=max_pool2d_backward_reference)
MAX_VARIANTS = (
    _max("scatter", max_pool2d_scatter_kernel, max_pool2d_scatter_cost, instead="gather"),
    _max("gather", max_pool2d_gather_kernel, max_pool2d_gather_cost),
)
VARIANTS = (
    *MAX_VARIANTS,
    pool.plane_variant(
        "avg_pool2d_backward",
        avg_pool2d_backward_kernel,
        avg_pool2d_backward_cost,
        avg_pool2d_backward_reference,
    ),
)
__all__ = launch.public_names(globals())
