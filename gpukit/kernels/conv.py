"""Convolution of images in layers: NCHW, with stride, zero padding and bias.

    out(n, o, h, w) = bias(o) + sum over i, kh, kw of weight(o, i, kh, kw)
                      * image(n, i, stride_h h + kh - pad_h, stride_w w + kw - pad_w)

where image is zero outside its edges. The weights are not flipped: it is a cross-correlation,
and deep learning calls it convolution.

Legend
    n, batch     image of the batch, how many                      [0, 64), 64
    o, i         output channel, input channel                     [0, 16), [0, 3)
    h, w         pixel of out; kernels call them row and col       [0, 224)
    kh, kw       place in the window of weights                    [0, 3)
    plane        one channel of one image of out, n * channels + o [0, 64 * 16)
    tap          one weight times one pixel
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.launch import Cost, Rung

BLOCK_X = 32
BLOCK_Y = 8

Pair = tuple[int, int]
Shape = tuple[int, ...]


def out_size(size: int, window: int, stride: int, padding: int) -> int:
    """Return how often a window fits along one axis of the padded image.

    >>> out_size(224, 3, 1, 1), out_size(7, 3, 2, 0)
    (224, 3)
    """
    return (size + 2 * padding - window) // stride + 1


# --- Reference -------------------------------------------------------------------------------


def conv2d_reference(
    image: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    *,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
) -> npt.NDArray[np.float64]:
    """Return the convolution, one matrix product of channels for each place in the window."""
    image, weight = np.asarray(image, np.float64), np.asarray(weight, np.float64)
    rows = out_size(image.shape[2], weight.shape[2], stride[0], padding[0])
    cols = out_size(image.shape[3], weight.shape[3], stride[1], padding[1])
    padded = np.pad(image, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    out = np.zeros((image.shape[0], weight.shape[0], rows, cols))
    for kh in range(weight.shape[2]):
        for kw in range(weight.shape[3]):
            seen = padded[:, :, kh :: stride[0], kw :: stride[1]][:, :, :rows, :cols]
            out += np.einsum("nihw,oi->nohw", seen, weight[:, :, kh, kw])
    return out + np.asarray(bias, np.float64)[:, None, None]


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def conv2d_direct_kernel(image, weight, bias, stride, padding, out):
    """Convolve a batch of images, one thread for one pixel of out in each plane it visits.

    New here   a third grid axis for the planes, walked in a loop because z holds 65535 blocks
               at most; padding is a test of the place in the image, no zero is ever stored
    Shapes     image (N, I, H, W), weight (O, I, KH, KW), bias (O,), stride (2,), padding (2,),
               out (N, O, out_size(H, ...), out_size(W, ...)); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays and the accumulator; stride, padding int
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(cols, BLOCK_X),
               ceil_div(rows, BLOCK_Y), min(N * O, 65535)); x = col, y = row, z = plane
    Cost       bytes: itemsize (2 T + 2 out.size); flops: 2 T, where T counts the taps that lie
               inside the image, at most N O I KH KW rows cols; barriers: 0
    Errors     the host function rejects shapes that do not fit, stride < 1, padding < 0 and a
               window larger than the padded image; the kernel assumes all of that
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., ch. 7 and 16
    """
    col, row, first_plane = cuda.grid(3)
    channels, rows, cols = out.shape[1], out.shape[2], out.shape[3]
    if row < rows and col < cols:
        for plane in range(first_plane, out.shape[0] * channels, cuda.gridDim.z):
            n, o = plane // channels, plane % channels
            acc = bias[o]
            for i in range(weight.shape[1]):
                for kh in range(weight.shape[2]):
                    h = stride[0] * row + kh - padding[0]
                    for kw in range(weight.shape[3]):
                        w = stride[1] * col + kw - padding[1]
                        if 0 <= h < image.shape[2] and 0 <= w < image.shape[3]:
                            acc += weight[o, i, kh, kw] * image[n, i, h, w]
            out[n, o, row, col] = acc


def conv2d_direct_cost(
    image: Shape,
    weight: Shape,
    *,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    itemsize: int = 4,
) -> Cost:
    """Cost for these two shapes: each tap inside the image loads a weight and a pixel."""
    batch, channels_in, *size = image
    channels, _, *window = weight
    axes = list(zip(size, window, stride, padding, strict=True))
    rows, cols = (out_size(*axis) for axis in axes)
    taps_h, taps_w = (_taps_inside(*axis) for axis in axes)
    taps = batch * channels * channels_in * taps_h * taps_w
    stores = batch * channels * rows * cols
    return Cost(bytes=itemsize * (2 * taps + 2 * stores), flops=2 * taps)


def _taps_inside(size: int, window: int, stride: int, padding: int) -> int:
    """Count along one axis the places of all windows that lie inside the image."""
    starts = (stride * i - padding for i in range(out_size(size, window, stride, padding)))
    return int(np.sum([max(min(s + window, size) - max(s, 0), 0) for s in starts], dtype=np.int64))


# --- Host function ---------------------------------------------------------------------------


def conv2d(
    image: Any,
    weight: Any,
    bias: Any,
    *,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    rung: str = "direct",
) -> npt.NDArray[Any]:
    """Return the convolution of a batch of images with zero padding.

    Image (1, 3, 224, 224), weight (16, 3, 3, 3) and bias (16,) with padding (1, 1) give (1, 16,
    224, 224). All float32 or all float64.
    """
    chosen = launch.pick("conv2d", LADDER, rung)
    _check_operands(image, weight, bias)
    stride = _check_pair("stride", stride, least=1)
    padding = _check_pair("padding", padding, least=0)
    shape = _out_shape(tuple(image.shape), tuple(weight.shape), stride, padding)
    if 0 in shape:
        return np.empty(shape, image.dtype)
    grid = chosen.grid("conv2d", shape[3], shape[2], shape[0] * shape[1])
    out = launch.empty(shape, image.dtype)
    inputs = (launch.to_device(array) for array in (image, weight, bias))
    chosen.kernel[grid, chosen.block](*inputs, stride, padding, out)
    return launch.to_host(out)


def _check_operands(image: Any, weight: Any, bias: Any) -> None:
    """Raise unless dtypes and channels of the three arrays agree."""
    for name, array, ndim in (("image", image, 4), ("weight", weight, 4), ("bias", bias, 1)):
        dtypes = (np.float32, np.float64)
        launch.check_array("conv2d", name, array, ndim=ndim, dtypes=dtypes)
    launch.check_same_dtype("conv2d", image=image, weight=weight, bias=bias)
    advice = "There is one bias for each output channel."
    launch.check_shape("conv2d", "bias", bias, (weight.shape[0],), advice)
    if image.shape[1] != weight.shape[1] or 0 in weight.shape[1:]:
        raise ValueError(
            "conv2d: expected image.shape[1] == weight.shape[1] and a window of at least 1 x 1, "
            f"got {tuple(image.shape)} and {tuple(weight.shape)}. "
            "Axis 1 of both is the input channel."
        )


def _check_pair(name: str, pair: Any, *, least: int) -> Pair:
    """Return `pair` as two ints of at least `least`."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(
            f"conv2d: expected {name} to be a tuple (down, across), got {pair!r}. "
            f"Pass for example {name}=(1, 1)."
        )
    down, across = (launch.check_int("conv2d", name, value, least=least) for value in pair)
    return down, across


def _out_shape(image: Shape, weight: Shape, stride: Pair, padding: Pair) -> Shape:
    """Return the shape of the result; raise ValueError where the window does not fit."""
    rows = out_size(image[2], weight[2], stride[0], padding[0])
    cols = out_size(image[3], weight[3], stride[1], padding[1])
    if rows < 1 or cols < 1:
        raise ValueError(
            f"conv2d: expected a window no larger than the padded image, got {weight[2:]} and "
            f"{(image[2] + 2 * padding[0], image[3] + 2 * padding[1])}. Pad more."
        )
    return image[0], weight[0], rows, cols


LADDER = (
    Rung(
        "direct", conv2d_direct_kernel, conv2d_direct_cost, conv2d_reference,
        (BLOCK_X, BLOCK_Y, 1), most_blocks=launch.GRID_LIMIT[2],
    ),
)  # fmt: skip
__all__ = launch.public_names(globals())
