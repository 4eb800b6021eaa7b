"""Direct 2D convolution by its formula: NCHW, one thread per pixel of out.

    out(n, o, h, w) = bias(o) + sum over i, kh, kw of weight(o, i, kh, kw)
                      * image(n, i, stride_h h + dilation_h kh - pad_h,
                                    stride_w w + dilation_w kw - pad_w)

where image is zero outside its edges. The weights are not flipped: this is cross-correlation,
which deep learning calls convolution. With groups the channels are split into as many parts, and
an output channel uses only the input channels of its group: weight has C / groups of them.

Legend
    n            image of the batch                                 [0, 64)
    o, i         output channel, input channel of its group         [0, 16), [0, 3)
    row, col     pixel of out, h and w in the formula               [0, 224)
    c, h, w      channel and pixel of the image                     [0, 3), [0, 224)
    kh, kw       index in the window of weights                     [0, 3)
    plane        one channel of one image of out, n * channels + o  [0, 64 * 16)
    tap          one weight times one pixel
    T            taps inside the image, of all windows and channels
    FILTERS      the weights that conv2d_constant_kernel is compiled with

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator; stride, padding and
               dilation int
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(cols, BLOCK_X),
               ceil_div(rows, BLOCK_Y), min(N * O, 65535)); x = col, y = row, z = plane
    Errors     the host function rejects shapes that do not fit, stride < 1, padding < 0 and a
               window larger than the padded image; the kernel assumes none of these
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.conv.windows import Geometry, Pair, Shape, out_sizes, taps_inside
from gpukit.launch import Cost, Variant

BLOCK_X = 32
BLOCK_Y = 8
ONE, NONE = (1, 1), (0, 0)
# Edge detectors: the first filter finds vertical edges, the second horizontal ones.
FILTERS = np.array([[[[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]]]])
FILTERS = FILTERS.astype(np.float32)
MOST_CONSTANT = 65536  # bytes of constant memory per kernel


# --- Reference -------------------------------------------------------------------------------


def conv2d_reference(
    image: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    *,
    stride: Pair = ONE,
    padding: Pair = NONE,
    dilation: Pair = ONE,
) -> npt.NDArray[np.float64]:
    """Return the convolution, as one matrix product of channels per index in the window."""
    image, weight = np.asarray(image, np.float64), np.asarray(weight, np.float64)
    batch, channels, *size = image.shape
    channels_out, depth, *window = weight.shape
    groups = channels // depth
    rows, cols = out_sizes(tuple(size), tuple(window), stride, padding, dilation)
    padded = np.pad(image, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    padded = padded.reshape(batch, groups, depth, *padded.shape[2:])
    weight = weight.reshape(groups, channels_out // groups, depth, *window)
    out = np.zeros((batch, groups, channels_out // groups, rows, cols))
    for kh in range(window[0]):
        for kw in range(window[1]):
            seen = padded[..., dilation[0] * kh :: stride[0], dilation[1] * kw :: stride[1]]
            seen = seen[..., :rows, :cols]
            out += np.einsum("ngihw,goi->ngohw", seen, weight[..., kh, kw])
    joined = out.reshape(batch, channels_out, rows, cols)
    return joined + np.asarray(bias, np.float64)[:, None, None]


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def conv2d_direct_kernel(image, weight, bias, stride, padding, dilation, out):
    """Convolve a batch of images, one pixel of out per thread in each plane.

    New here   a third grid axis for the planes, with a loop because the grid is limited to 65535
               along z; padding is a bounds test of the pixel, no zeros are stored
    Shapes     image (N, C, H, W), weight (O, C / groups, KH, KW), bias (O,), stride (2,),
               padding (2,), dilation (2,), out (N, O, rows, cols); any sizes >= 1, C order
    Cost       bytes: itemsize (2 T + 2 out.size); flops: 2 T; barriers: 0. T is at most
               out.size KH KW C / groups
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 7 and 16
    """
    col, row = cuda.grid(2)
    depth, (channels, rows, cols) = weight.shape[1], out.shape[1:]
    group = channels * depth // image.shape[1]  # output channels per group
    if row < rows and col < cols:
        for plane in range(cuda.blockIdx.z, out.shape[0] * channels, cuda.gridDim.z):
            n, o = plane // channels, plane % channels
            acc = bias[o]
            for i in range(depth):
                c = o // group * depth + i
                for kh in range(weight.shape[2]):
                    h = stride[0] * row + dilation[0] * kh - padding[0]
                    for kw in range(weight.shape[3]):
                        w = stride[1] * col + dilation[1] * kw - padding[1]
                        if 0 <= h < image.shape[2] and 0 <= w < image.shape[3]:
                            acc += weight[o, i, kh, kw] * image[n, c, h, w]
            out[n, o, row, col] = acc


def conv2d_direct_cost(image: Shape, weight: Shape, *, itemsize: int = 4, **moves: Pair) -> Cost:
    """Return the cost for these shapes: each tap inside loads a weight and a pixel."""
    (batch, _, *size), (channels, depth, *window) = image, weight
    geometry = Geometry(tuple(size), tuple(window), **moves)
    rows, cols = out_sizes(*geometry)
    taps = batch * channels * depth * taps_inside(*geometry)
    pixels = batch * channels * rows * cols
    return Cost(bytes=itemsize * (2 * taps + 2 * pixels), flops=2 * taps)


@cuda.jit
def conv2d_constant_kernel(image, bias, stride, padding, dilation, out):
    """Convolve a batch of images with weights in constant memory, compiled into the kernel.

    New here   constant memory: 64 KB that no kernel writes, with a cache of their own. All threads
               of a warp read the same weight at a time, which is what this cache is for: one
               access serves 32 threads. In CUDA C++ the host copies new weights to a __constant__
               array before a launch. Numba's constants must be known when the kernel is compiled,
               so there is a kernel per filter (`with_filters`): for a fixed one, such as an
               edge or a blur, not for a layer whose weights change in every training step
    Shapes     image (N, C, H, W), FILTERS (O, C / groups, KH, KW), bias (O,), stride (2,),
               padding (2,), dilation (2,), out (N, O, rows, cols); any sizes >= 1, C order
    Cost       bytes: itemsize (T + 2 out.size), as constant memory is not global memory;
               flops: 2 T; barriers: 0
    Errors     as conv2d_direct_kernel; FILTERS have at most MOST_CONSTANT bytes
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 7.3
    """
    col, row = cuda.grid(2)
    weight = cuda.const.array_like(FILTERS)
    depth, (channels, rows, cols) = weight.shape[1], out.shape[1:]
    group = channels * depth // image.shape[1]  # output channels per group
    if row < rows and col < cols:
        for plane in range(cuda.blockIdx.z, out.shape[0] * channels, cuda.gridDim.z):
            n, o = plane // channels, plane % channels
            acc = bias[o]
            for i in range(depth):
                c = o // group * depth + i
                for kh in range(weight.shape[2]):
                    h = stride[0] * row + dilation[0] * kh - padding[0]
                    for kw in range(weight.shape[3]):
                        w = stride[1] * col + dilation[1] * kw - padding[1]
                        if 0 <= h < image.shape[2] and 0 <= w < image.shape[3]:
                            acc += weight[o, i, kh, kw] * image[n, c, h, w]
            out[n, o, row, col] = acc


def conv2d_constant_cost(
    image: Shape, weight: Shape = FILTERS.shape, *, itemsize: int = 4, **moves: Pair
) -> Cost:
    """The work of conv2d_direct_cost, without the loads of weights."""
    whole = conv2d_direct_cost(image, weight, itemsize=itemsize, **moves)
    return Cost(bytes=whole.bytes - itemsize * (whole.flops // 2), flops=whole.flops)


def with_filters(weight: npt.NDArray[Any]) -> Any:
    """Return conv2d_constant_kernel with these weights as FILTERS, cached by value.

    The first launch of each compiles it, which takes about a second.
    """
    return _kernel_for(weight.tobytes(), weight.shape, weight.dtype.name)


@functools.lru_cache(maxsize=16)
def _kernel_for(values: bytes, shape: Shape, dtype: str) -> Any:
    """Return with_filters of a weight given by hashable values."""
    weight = np.frombuffer(values, dtype).reshape(shape)
    function = conv2d_constant_kernel.py_func
    names = {**function.__globals__, "FILTERS": weight}
    return cuda.jit(types.FunctionType(function.__code__, names, function.__name__))


_variant = functools.partial(
    Variant,
    reference=conv2d_reference,
    block=(BLOCK_X, BLOCK_Y, 1),
    most_blocks=launch.GRID_LIMIT[2],
)
VARIANTS = (
    _variant("direct", conv2d_direct_kernel, conv2d_direct_cost),
    _variant("constant", conv2d_constant_kernel, conv2d_constant_cost, instead="direct"),
)
__all__ = launch.public_names(globals())
