"""Gradients of a convolution as their formulas say them: who saw what, added up without atomics.

    grad_image(n, c, h, w)       each window that saw the pixel, times the weight it saw it with
    grad_weight(o, i, kh, kw)    each window's gradient, times the pixel that the weight met
    grad_bias(o)                 the gradients of all windows

Legend
    n, c, h, w     pixel of the images                                     [0, 64), ...
    o, i           output channel, input channel of its group              [0, 16), [0, 3)
    row, col       window, a pixel of grad_out                             [0, 224)
    kh, kw         place in the window                                     [0, 3)
    P              pixels of one channel of grad_out                       50176
    plane          one channel of one image, n * channels + c              [0, 64 * 3)
    at             a weight: o, i, kh and kw in one number                 [0, weight.size)
    tap            one weight times one pixel
    T              taps inside the images, of all windows and channels
    WARPS          warps in a block                                        8

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for all arrays and the accumulator; stride, padding and
               dilation int
    Errors     the host function rejects shapes that do not fit; the kernels assume that they do,
               and their block to be (BLOCK_X, BLOCK_Y, 1)
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import WARP, block_sum
from gpukit.kernels.conv.direct import BLOCK_X, BLOCK_Y, NONE, ONE, conv2d_direct_cost
from gpukit.kernels.conv.windows import Pair, Shape
from gpukit.launch import Cost, Variant

BLOCK = BLOCK_X * BLOCK_Y
WARPS = BLOCK // WARP
# Additions of block_sum: five shuffles of each thread, then one for each warp but the first.
BLOCK_SUM = 5 * BLOCK + WARPS - 1

Float64 = npt.NDArray[np.float64]


# --- Reference -------------------------------------------------------------------------------


def conv2d_backward_reference(
    grad_out: npt.ArrayLike,
    image: npt.ArrayLike,
    weight: npt.ArrayLike,
    *,
    stride: Pair = ONE,
    padding: Pair = NONE,
    dilation: Pair = ONE,
) -> tuple[Float64, Float64, Float64]:
    """Return the gradients of image, weight and bias, place by place in the window."""
    grad_out, image, weight = (np.asarray(a, np.float64) for a in (grad_out, image, weight))
    batch, channels, *size = image.shape
    _, depth, *window = weight.shape
    groups, (rows, cols) = channels // depth, grad_out.shape[2:]
    padded = np.pad(image, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    grad_padded = np.zeros_like(padded)
    grad = grad_out.reshape(batch, groups, -1, rows, cols)
    parts = weight.reshape(groups, -1, depth, *window)
    grad_weight = np.zeros_like(parts)
    for kh, kw in np.ndindex(*window):
        at = np.s_[:, :, dilation[0] * kh :: stride[0], dilation[1] * kw :: stride[1]]
        seen = padded[at][:, :, :rows, :cols].reshape(batch, groups, depth, rows, cols)
        grad_weight[..., kh, kw] = np.einsum("ngohw,ngihw->goi", grad, seen)
        back = np.einsum("ngohw,goi->ngihw", grad, parts[..., kh, kw])
        grad_padded[at][:, :, :rows, :cols] += back.reshape(batch, channels, rows, cols)
    down, across = (slice(before, before + n) for before, n in zip(padding, size, strict=True))
    return (
        grad_padded[:, :, down, across],
        grad_weight.reshape(weight.shape),
        grad.sum((0, 3, 4)).ravel(),
    )


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit(device=True)
def window_at(place, stride, count):
    """Return which window begins `place` pixels behind the first; -1 if none of `count` does."""
    if stride == 1:  # a division takes longer than all the rest
        found = place
    else:
        found = place // stride if place % stride == 0 else -1
    return found if 0 <= found < count else -1


@cuda.jit
def conv2d_grad_input_kernel(grad_out, weight, stride, padding, dilation, grad_image):
    """Compute the gradient of the images, one thread for one pixel in each plane it visits.

    New here   the formula turned around. A window adding to the pixels that it saw would need
               atomics; a pixel asking which windows saw it needs none. For a place in the window
               that is one window at most, and none where the stride passed over
    Shapes     grad_out (N, O, rows, cols), weight (O, C / groups, KH, KW), stride (2,),
               padding (2,), dilation (2,), grad_image (N, C, H, W); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y),
               min(N * C, 65535)); x = w, y = h, z = plane
    Cost       bytes: itemsize (2 T + grad_image.size); flops: 2 T; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 9.5
    """
    w, h = cuda.grid(2)
    channels, depth = grad_image.shape[1], weight.shape[1]
    group = weight.shape[0] // (channels // depth)  # output channels of a group
    if h < grad_image.shape[2] and w < grad_image.shape[3]:
        for plane in range(cuda.blockIdx.z, grad_image.shape[0] * channels, cuda.gridDim.z):
            n, c = plane // channels, plane % channels
            first, i = c // depth * group, c % depth
            acc = grad_image.dtype.type(0)
            for kh in range(weight.shape[2]):
                row = window_at(h + padding[0] - dilation[0] * kh, stride[0], grad_out.shape[2])
                for kw in range(weight.shape[3]):
                    col = window_at(w + padding[1] - dilation[1] * kw, stride[1], grad_out.shape[3])
                    if row >= 0 and col >= 0:
                        for o in range(first, first + group):
                            acc += weight[o, i, kh, kw] * grad_out[n, o, row, col]
            grad_image[n, c, h, w] = acc


def conv2d_grad_input_cost(
    image: Shape,
    weight: Shape,
    *,
    stride: Pair = ONE,
    padding: Pair = NONE,
    dilation: Pair = ONE,
    itemsize: int = 4,
) -> Cost:
    """The taps of conv2d_direct_cost, and one store for each pixel of the images."""
    flops = conv2d_direct_cost(
        image, weight, stride=stride, padding=padding, dilation=dilation
    ).flops
    return Cost(bytes=itemsize * (flops + math.prod(image)), flops=flops)


@cuda.jit
def conv2d_grad_weight_kernel(grad_out, image, stride, padding, dilation, grad_weight):
    """Compute the gradient of the weights, one block for one weight.

    New here   a weight serves every window of every image, so its gradient is a sum over all of
               them: the block strides over the windows, and its threads add up what each has.
               The loops are the same for all threads, which a CPU can run side by side, and a
               guard leaves out what lies beyond
    Shapes     grad_out (N, O, rows, cols), image (N, C, H, W), stride (2,), padding (2,),
               dilation (2,), grad_weight (O, C / groups, KH, KW); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (grad_weight.size, 1, 1); x = weight
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (2 T + grad_weight.size); flops: 2 T + BLOCK_SUM grad_weight.size;
               barriers: 1
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 9.5
    """
    tx, ty, at = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    totals = cuda.shared.array(WARPS, grad_weight.dtype)
    channels, depth, window_h, window_w = grad_weight.shape
    rows, cols = grad_out.shape[2], grad_out.shape[3]
    o, i = at // (depth * window_h * window_w), at // (window_h * window_w) % depth
    kh, kw = at // window_w % window_h, at % window_w
    c = o // (channels * depth // image.shape[1]) * depth + i
    acc = grad_weight.dtype.type(0)
    for n in range(image.shape[0]):
        for top in range(0, rows, BLOCK_Y):
            row = top + ty
            h = stride[0] * row + dilation[0] * kh - padding[0]
            for left in range(0, cols, BLOCK_X):
                col = left + tx
                w = stride[1] * col + dilation[1] * kw - padding[1]
                inside = 0 <= h < image.shape[2] and 0 <= w < image.shape[3]
                if row < rows and col < cols and inside:
                    acc += grad_out[n, o, row, col] * image[n, c, h, w]
    total = block_sum(acc, totals, ty * BLOCK_X + tx, WARPS)
    if tx == 0 and ty == 0:
        grad_weight[o, i, kh, kw] = total


def conv2d_grad_weight_cost(
    image: Shape,
    weight: Shape,
    *,
    stride: Pair = ONE,
    padding: Pair = NONE,
    dilation: Pair = ONE,
    itemsize: int = 4,
) -> Cost:
    """The taps of conv2d_direct_cost; for each weight the sum of a block and one store."""
    flops = conv2d_direct_cost(
        image, weight, stride=stride, padding=padding, dilation=dilation
    ).flops
    weights = math.prod(weight)
    return Cost(bytes=itemsize * (flops + weights), flops=flops + BLOCK_SUM * weights)


@cuda.jit
def conv2d_grad_bias_kernel(grad_out, grad_bias):
    """Compute the gradient of the bias, one block for one output channel.

    New here   the same sum with a weight that meets a pixel of 1 everywhere; the order of pixels
               does not matter, so rows and columns are one axis
    Shapes     grad_out (N, O, P), grad_bias (O,); any sizes >= 1, C order
    Launch     block BLOCK, grid O; x = pixel, a block for each output channel
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (grad_out.size + O); flops: grad_out.size + BLOCK_SUM O; barriers: 1
    Errors     the host function rejects shapes that do not fit; the kernel assumes a block of BLOCK
    Source     ours
    """
    tid, o, pixels = cuda.threadIdx.x, cuda.blockIdx.x, grad_out.shape[2]
    totals = cuda.shared.array(WARPS, grad_bias.dtype)
    acc = grad_bias.dtype.type(0)
    for n in range(grad_out.shape[0]):
        for first in range(0, pixels, BLOCK):
            if first + tid < pixels:
                acc += grad_out[n, o, first + tid]
    total = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        grad_bias[o] = total


def conv2d_grad_bias_cost(n: int, o: int, p: int, itemsize: int = 4) -> Cost:
    """Each gradient loaded and added; for each channel the sum of a block and one store."""
    return Cost(bytes=itemsize * (n * o * p + o), flops=n * o * p + BLOCK_SUM * o)


_variant = functools.partial(
    Variant, reference=conv2d_backward_reference, block=(BLOCK_X, BLOCK_Y, 1), tile=(1, 1, 1)
)
VARIANTS = (
    _variant(
        "grad_input",
        conv2d_grad_input_kernel,
        conv2d_grad_input_cost,
        tile=None,
        most_blocks=launch.GRID_LIMIT[2],
    ),
    _variant("grad_weight", conv2d_grad_weight_kernel, conv2d_grad_weight_cost),
    _variant("grad_bias", conv2d_grad_bias_kernel, conv2d_grad_bias_cost, block=BLOCK, tile=1),
)
__all__ = launch.public_names(globals())
