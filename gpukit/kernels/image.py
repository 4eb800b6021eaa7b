"""Image kernels: negative, greyscale and box blur, on a two-dimensional grid, one thread per pixel.

Legend
    rows, cols   height and width of the image         427, 640
    row, col     the pixel that this thread writes     range [0, rows), [0, cols)
    radius       pixels in a blur window to each side  2, a window of 5 x 5
    BLOCK_X      threads per block along a row         32, so a warp reads 32 neighbours
    BLOCK_Y      threads per block along a column      8

All kernels, unless stated otherwise
    Launch     block (BLOCK_X, BLOCK_Y), grid (ceil_div(cols, BLOCK_X), ceil_div(rows, BLOCK_Y));
               x = col, y = row
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant

BLOCK_X = 32
BLOCK_Y = 8
COLOURS = (np.uint8, np.float32)
# The brightness of red, green and blue to the eye: ITU-R BT.601.
RED, GREEN, BLUE = 0.299, 0.587, 0.114

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def invert_reference(image: npt.ArrayLike, white: float = 255) -> Float64:
    """Return white - image."""
    return white - np.asarray(image, np.float64)


def grey_reference(image: npt.ArrayLike) -> Float64:
    """Return the brightness of each pixel, on the scale of the image."""
    return np.tensordot(np.asarray(image, np.float64), [RED, GREEN, BLUE], axes=1)


def box_blur_reference(image: npt.ArrayLike, radius: int) -> Float64:
    """Return the mean over each window, from a summed-area table."""
    image = np.asarray(image, np.float64)
    table = np.pad(image.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    row, col = np.arange(image.shape[0]), np.arange(image.shape[1])
    top, bottom = np.maximum(row - radius, 0), np.minimum(row + radius + 1, len(row))
    left, right = np.maximum(col - radius, 0), np.minimum(col + radius + 1, len(col))
    bands = table[bottom] - table[top]
    total: Float64 = bands[:, right] - bands[:, left]
    return total / np.outer(bottom - top, right - left)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def invert_kernel(image, white, out):
    """Compute the negative of an image, one thread per pixel.

    New here   two axes: x is the column and y the row, so that neighbouring threads touch
               neighbouring pixels; a guard on each axis
    Shapes     image (rows, cols), white scalar, out (rows, cols); any sizes >= 1, C order
    Dtypes     uint8 in and out, or float32 in and out; white has the same dtype
    Cost       bytes: 2 rows cols itemsize; flops: rows cols for float32, 0 for uint8; barriers: 0
    Errors     the host function rejects other dtypes; a uint8 wraps around if white < image
    Source     gpukit
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = white - image[row, col]


def invert_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load and one store per pixel; the subtraction counts where it is floating point."""
    return Cost(bytes=2 * rows * cols * itemsize, flops=rows * cols if itemsize == 4 else 0)


@cuda.jit
def grey_kernel(image, out):
    """Convert a colour image to greyscale, one thread per pixel.

    New here   a third axis that is not a thread axis: each thread reads its three channels
    Shapes     image (rows, cols, 3), out (rows, cols); any sizes >= 1, C order
    Dtypes     uint8 or float32 in, float32 out, float32 arithmetic
    Cost       bytes: rows cols (3 itemsize + 4); flops: 5 rows cols; barriers: 0
    Errors     the host function rejects a last axis other than 3; the kernel reads three
    Source     gpukit; weights from ITU-R BT.601
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        red = np.float32(image[row, col, 0])
        green = np.float32(image[row, col, 1])
        blue = np.float32(image[row, col, 2])
        out[row, col] = np.float32(RED) * red + np.float32(GREEN) * green + np.float32(BLUE) * blue


def grey_cost(rows: int, cols: int, itemsize: int = 1) -> Cost:
    """Three loads and a float32 store per pixel; three multiplications and two additions."""
    return Cost(bytes=rows * cols * (3 * itemsize + 4), flops=5 * rows * cols)


@cuda.jit
def box_blur_kernel(image, radius, out):
    """Blur an image with a box filter: the mean of the window around each pixel.

    New here   a thread reads its neighbours' pixels; the window is clipped at the edges and
               the sum divided by the number of pixels inside
    Shapes     image (rows, cols), radius scalar >= 0, out (rows, cols); any sizes >= 1, C order
    Dtypes     float32 in, float32 out, float32 accumulator
    Cost       bytes: 4 (W + rows cols); flops: W + rows cols, where W is the sum of all window
               sizes, (2 radius + 1)^2 rows cols less what the edges clip; barriers: 0
    Errors     the host function rejects radius < 0; the kernel would divide by zero
    Source     gpukit
    """
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row < rows and col < cols:
        top, bottom = max(row - radius, 0), min(row + radius + 1, rows)
        left, right = max(col - radius, 0), min(col + radius + 1, cols)
        acc = np.float32(0)
        for r in range(top, bottom):
            for c in range(left, right):
                acc += image[r, c]
        out[row, col] = acc / np.float32((bottom - top) * (right - left))


def box_blur_cost(rows: int, cols: int, radius: int) -> Cost:
    """One load and one addition per pixel of each window; one division and one store."""
    window = _windows(rows, radius) * _windows(cols, radius)
    return Cost(bytes=4 * (window + rows * cols), flops=window + rows * cols)


def _windows(n: int, radius: int) -> int:
    """Return the sum of the lengths of n windows along one axis, clipped at both ends.

    Each of the n windows has 2 r + 1 elements; each end clips r + (r - 1) + ... + 1 of them.
    """
    r = min(radius, max(n - 1, 0))  # a larger radius reaches no further pixel
    return n * (2 * r + 1) - r * (r + 1)


# --- Host functions --------------------------------------------------------------------------


def invert(image: Any, *, white: float = 255) -> npt.NDArray[Any]:
    """Return the negative of a grey or colour image, white - image.

    A uint8 or float32 image (rows, cols) or (rows, cols, channels) gives one of the same shape and
    dtype.
    """
    is_colour = getattr(image, "ndim", 2) == 3
    launch.check_array("invert", "image", image, ndim=2 + is_colour, dtypes=COLOURS)
    shape = tuple(image.shape)
    if 0 in shape:
        return np.empty(shape, image.dtype)
    # Channels are contiguous: a colour image is a grey one three times as wide.
    flat = launch.to_device(image).reshape(shape[0], shape[1] * shape[2]) if is_colour else image
    out = launch.empty(flat.shape, image.dtype)
    white = image.dtype.type(white)
    _launch("invert", out, launch.to_device(flat), white)
    return launch.to_host(out).reshape(shape)


@signature.takes("image: rows cols 3", dtypes=COLOURS)
def grey(image: Any) -> npt.NDArray[np.float32]:
    """Return the brightness of a colour image, in the range of the image.

    A uint8 or float32 image (rows, cols, 3) gives float32 (rows, cols).
    """
    rows, cols, _ = image.shape
    out = launch.empty((rows, cols), np.float32)
    if rows and cols:
        _launch("grey", out, image)
    return launch.to_host(out)


@signature.takes("image: rows cols", dtypes=(np.float32,))
def box_blur(image: Any, radius: int) -> npt.NDArray[np.float32]:
    """Return the mean of the (2 radius + 1)^2 window around each pixel, clipped at the edges.

    A float32 image (rows, cols) gives float32 (rows, cols); `[[0. 3.]]` with radius 1 gives `[[1.5
    1.5]]`.
    """
    radius = launch.check_int("box_blur", "radius", radius, least=0)
    out = launch.empty(tuple(image.shape), np.float32)
    if out.size:
        _launch("box_blur", out, image, radius)
    return launch.to_host(out)


def _launch(function: str, out: Any, *inputs: Any) -> None:
    """Launch an image kernel with one thread per pixel of `out`."""
    variant = launch.pick(function, VARIANTS, function)
    grid = variant.grid(function, *out.shape[::-1])
    variant.kernel[grid, variant.block](*inputs, out)


_variant = functools.partial(Variant, block=(BLOCK_X, BLOCK_Y), dtypes=COLOURS)
VARIANTS = (
    _variant("invert", invert_kernel, invert_cost, invert_reference),
    _variant("grey", grey_kernel, grey_cost, grey_reference),
    _variant("box_blur", box_blur_kernel, box_blur_cost, box_blur_reference, dtypes=COLOURS[1:]),
)
__all__ = launch.public_names(globals())
