"""Gradients of a 2D convolution by their formulas, as gathers, without atomics.

    grad_image(n, c, h, w)       sum over the windows on the pixel: gradient times weight
    grad_weight(o, i, kh, kw)    sum over all windows: gradient times the pixel under the weight
    grad_bias(o)                 sum over all windows: gradient

Legend
    n, c, h, w     pixel of the images                         [0, 64), ...
    o, i           output channel, input channel of its group  [0, 16), [0, 3)
    row, col       window, a pixel of grad_out                 [0, 224)
    kh, kw         index in the window                         [0, 3)
    P              pixels of one channel of grad_out           50176
    plane          one channel of one image, n * channels + c  [0, 64 * 3)
    at             a weight: o, i, kh and kw as a flat index   [0, weight.size)
    tap            one weight times one pixel
    T              taps inside the images, of all windows and channels
    WARPS          warps per block                             8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator; stride, padding and
               dilation int
    Errors     the host function rejects shapes that do not fit; the kernels assume that they do,
               and a block of (BLOCK_X, BLOCK_Y, 1)
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
# Additions of block_sum: five shuffles per thread, then one per warp but the first.
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
    """Return the gradients of image, weight and bias, one index in the window at a time."""
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
def window_at(distance, stride, count):
    """Return which window begins `distance` pixels after the first; -1 if none of `count` does."""
    if stride == 1:  # a division takes longer than everything else here
        found = distance
    else:
        found = distance // stride if distance % stride == 0 else -1
    return found if 0 <= found < count else -1


@cuda.jit
def conv2d_grad_input_kernel(grad_out, weight, stride, padding, dilation, grad_image):
    """Compute the gradient of the images, one pixel per thread in each plane.

    New here   a scatter turned into a gather. Windows that add to the pixels under them would need
               atomics; a pixel that sums over the windows on it needs none. For each index in the
               window that is one window at most, and none where the stride skips it
    Shapes     grad_out (N, O, rows, cols), weight (O, C / groups, KH, KW), stride (2,),
               padding (2,), dilation (2,), grad_image (N, C, H, W); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y),
               min(N * C, 65535)); x = w, y = h, z = plane
    Cost       bytes: itemsize (2 T + grad_image.size); flops: 2 T; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 9.5
    """
    w, h = cuda.grid(2)
    channels, depth = grad_image.shape[1], weight.shape[1]
    group = weight.shape[0] // (channels // depth)  # output channels per group
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
    image: Shape, weight: Shape, *, itemsize: int = 4, **moves: Pair
) -> Cost:
    """The taps of conv2d_direct_cost, and one store per pixel of the images."""
    flops = conv2d_direct_cost(image, weight, itemsize=itemsize, **moves).flops
    return Cost(bytes=itemsize * (flops + math.prod(image)), flops=flops)


@cuda.jit
def conv2d_grad_weight_kernel(grad_out, image, stride, padding, dilation, grad_weight):
    """Compute the gradient of the weights, one block per weight.

    New here   every window of every image uses a weight, so its gradient is a sum over all of
               them: the block strides over the windows, and its threads' sums are reduced.
               The loops have the same bounds for all threads, so that a CPU can vectorize them,
               and a guard masks off what is out of range
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
    image: Shape, weight: Shape, *, itemsize: int = 4, **moves: Pair
) -> Cost:
    """The taps of conv2d_direct_cost; per weight the sum of a block and one store."""
    flops = conv2d_direct_cost(image, weight, itemsize=itemsize, **moves).flops
    weights = math.prod(weight)
    return Cost(bytes=itemsize * (flops + weights), flops=flops + BLOCK_SUM * weights)


@cuda.jit
def conv2d_grad_bias_kernel(grad_out, grad_bias):
    """Compute the gradient of the bias, one block per output channel.

    New here   the same sum with pixels that are all 1; the order of pixels does not matter, so
               rows and columns are one axis
    Shapes     grad_out (N, O, P), grad_bias (O,); any sizes >= 1, C order
    Launch     block BLOCK, grid O; x = pixel, one block per output channel
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (grad_out.size + O); flops: grad_out.size + BLOCK_SUM O; barriers: 1
    Errors     the host function rejects shapes that do not fit; the kernel assumes a block of BLOCK
    Source     gpukit
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
    """One load and addition per gradient; per channel the sum of a block and one store."""
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
