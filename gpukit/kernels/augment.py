"""Data augmentation: shift and flip images at random.

    out[n, c, row, col] = image[n, c, row + down, col + right], `fill` where that lies outside

`image` is x or, depending on the third random number, x flipped horizontally. The shifts down and
right are drawn per image from -most to most.

Legend
    N, C, H, W  images, channels, rows, columns           64, 3, 32, 32
    chance      three random numbers in [0, 1) per image  (64, 3)
    most        the maximum shift in pixels               4
    fill        the value of pixels from outside          0
    BLOCK       threads per block                         256
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels import philox
from gpukit.launch import Cost, Variant

BLOCK = 256
HALF = np.float32(0.5)

# --- Reference -------------------------------------------------------------------------------


def augment_reference(
    x: npt.ArrayLike, chance: npt.ArrayLike, most: int, flip: bool, fill: float = 0.0
) -> npt.NDArray[np.float64]:
    """Return images shifted, and flipped, by the random numbers of each."""
    x = np.asarray(x, np.float64)
    height, width = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (most, most), (most, most)), constant_values=fill)
    made = np.empty_like(x)
    for image, (first, second, third) in enumerate(np.asarray(chance, np.float32)):
        row, col = (int(draw * np.float32(2 * most + 1)) for draw in (first, second))
        whole = padded[image, :, :, ::-1] if flip and third < 0.5 else padded[image]
        made[image] = whole[:, row : row + height, col : col + width]
    return made


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit
def augment_kernel(x, chance, most, flip, fill, out):
    """Shift and flip images, one pixel of out per thread.

    New here   a gather: each thread computes where its pixel comes from, so every pixel of out is
               written once, including those from outside
    Shapes     x, out (N, C, H, W), chance (N, 3); any sizes >= 1
    Dtypes     float32 or float64 for x, fill and out; float32 chance, int most, bool flip
    Launch     block BLOCK, grid ceil_div(N C H W, BLOCK); x = pixel
    Cost       bytes: N C H W (2 itemsize + 12); flops: 2 N C H W; barriers: 0
    Errors     the kernel assumes that out has the shape of x
    Source     Simard, Steinkraus and Platt, "Best Practices for Convolutional Neural Networks",
               ICDAR 2003
    """
    i = cuda.grid(1)
    if i < out.size:
        channels, height, width = out.shape[1], out.shape[2], out.shape[3]
        col = i % width
        row = i // width % height
        channel = i // (width * height) % channels
        image = i // (width * height * channels)
        choices = np.float32(2 * most + 1)
        from_row = row + int(chance[image, 0] * choices) - most
        from_col = col + int(chance[image, 1] * choices) - most
        if flip and chance[image, 2] < HALF:
            from_col = width - 1 - from_col
        inside = 0 <= from_row < height and 0 <= from_col < width
        out[image, channel, row, col] = x[image, channel, from_row, from_col] if inside else fill


def augment_cost(n: int, itemsize: int = 4) -> Cost:
    """A load and a store per pixel of n, three random numbers, and two products with them."""
    return Cost(bytes=n * (2 * itemsize + 12), flops=2 * n)


# --- Host function ---------------------------------------------------------------------------


@signature.takes("x: n c h w -> n c h w")
def augment(
    x: Any,
    most: int = 1,
    flip: bool = False,
    fill: float = 0.0,
    *,
    seed: int,
    offset: int = 0,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return images (N, C, H, W), each shifted at random by up to `most` pixels down and across.

    With `flip` an image is flipped horizontally with probability 1/2. `fill` is the value of pixels
    from outside. float32 or float64; seed and offset as in `dropout`: equal ones shift alike.
    """
    function = "augment"
    launch.check_int(function, "most", most, least=0)
    if n := math.prod(x.shape):
        (variant,) = VARIANTS
        chance = launch.empty((len(x), 3), np.float32)
        philox.rand(len(x), 3, seed=seed, offset=offset, out=chance, stream=stream)
        arguments = x, chance, most, bool(flip), x.dtype.type(fill)
        variant.kernel[variant.grid(function, n), variant.block, stream](*arguments, out.array)
    return out.get()


VARIANTS = (Variant("augment", augment_kernel, augment_cost, augment_reference, BLOCK),)
__all__ = launch.public_names(globals())
