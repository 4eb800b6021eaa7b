"""2D convolution with a tile of the image and its halo in shared memory.

Legend
    N, C, H, W       images, their channels, rows and columns                64, 3, 224, 224
    O, KH, KW        output channels, rows and columns of the window         16, 3, 3
    n, o, i          image, output channel, input channel of its group       [0, N), [0, O)
    row, col         pixel of out                                            [0, 224)
    plane            one channel of one image of out, n * O + o              [0, N O)
    top, left        first pixel of the image in the block's tile            -1, 31, 63, ...
    height, width    the part of the tile that the windows of a block cover  10, 34
    r, c             row and column in the tile                              [0, 10), [0, 34)
    halo             what a tile has beyond the size of the block: KH - 1 rows, KW - 1 columns
    TILE_ROWS        rows of the shared array of the tile                    24
    TILE_COLS        columns of the shared array of the tile                 72
"""

from __future__ import annotations

import numpy as np

from gpukit import cuda, launch
from gpukit.kernels.conv.direct import BLOCK_X, BLOCK_Y, conv2d_reference
from gpukit.kernels.conv.windows import Geometry, Pair, Shape, Windows, out_sizes
from gpukit.launch import Cost, Variant, ceil_div

# Large enough for windows of 17 x 41, or, with stride 2, of 10 x 10.
TILE_ROWS = 24
TILE_COLS = 72


@cuda.jit
def conv2d_tiled_kernel(image, weight, bias, stride, padding, dilation, out):
    """Convolve a batch of images, BLOCK_Y x BLOCK_X pixels per block in each plane.

    New here   neighbouring windows overlap, so the threads of a block load the pixels that any of
               them needs into shared memory once: a tile of the size of the block and a halo. It
               has more pixels than the block has threads, so each loads several, in strides of
               the block. With 3 x 3 windows, a block loads 340 pixels for 256 threads, instead
               of 9 per thread
    Shapes     image (N, C, H, W), weight (O, C / groups, KH, KW), bias (O,), stride (2,),
               padding (2,), dilation (2,), out (N, O, rows, cols); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for all arrays and the accumulator; the rest int
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(cols, BLOCK_X),
               ceil_div(rows, BLOCK_Y), min(N * O, 65535)); x = col, y = row, z = plane
    Shared     TILE_ROWS * TILE_COLS * itemsize bytes, static
    Cost       bytes: itemsize (N O C' (L + T KH KW) + N O T + out.size), where C' is C / groups, T
               the threads of a plane and L the pixels of all its tiles inside the image;
               flops: 2 N O C' T KH KW; barriers: 2 C' per plane
    Errors     the host function launches the direct variant unless `fits`; the kernel assumes
               shapes that fit, and its block to be (BLOCK_X, BLOCK_Y, 1)
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 7.4
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile = cuda.shared.array((TILE_ROWS, TILE_COLS), out.dtype)
    channels, depth, window_h, window_w = weight.shape
    group = channels * depth // image.shape[1]  # output channels per group
    top = cuda.blockIdx.y * BLOCK_Y * stride[0] - padding[0]
    left = cuda.blockIdx.x * BLOCK_X * stride[1] - padding[1]
    height = (BLOCK_Y - 1) * stride[0] + (window_h - 1) * dilation[0] + 1
    width = (BLOCK_X - 1) * stride[1] + (window_w - 1) * dilation[1] + 1
    for plane in range(cuda.blockIdx.z, out.shape[0] * channels, cuda.gridDim.z):
        n, o = plane // channels, plane % channels
        acc = bias[o]
        for i in range(depth):
            channel = o // group * depth + i
            for down in range(0, height, BLOCK_Y):
                r = down + ty
                for across in range(0, width, BLOCK_X):
                    c = across + tx
                    if r < height and c < width:
                        h, w = top + r, left + c
                        inside = 0 <= h < image.shape[2] and 0 <= w < image.shape[3]
                        tile[r, c] = image[n, channel, h, w] if inside else out.dtype.type(0)
            cuda.syncthreads()  # the tile is written before any thread reads it
            for kh in range(window_h):
                for kw in range(window_w):
                    r, c = ty * stride[0] + kh * dilation[0], tx * stride[1] + kw * dilation[1]
                    acc += weight[o, i, kh, kw] * tile[r, c]
            cuda.syncthreads()  # all threads have read the tile before the next one is loaded
        if row < out.shape[2] and col < out.shape[3]:
            out[n, o, row, col] = acc


def conv2d_tiled_cost(image: Shape, weight: Shape, *, itemsize: int = 4, **moves: Pair) -> Cost:
    """Each block loads its tile per channel; threads outside out load weights all the same."""
    (batch, _, *size), (channels, depth, *window) = image, weight
    geometry = Geometry(tuple(size), tuple(window), **moves)
    sizes, (stride, padding, dilation) = out_sizes(*geometry), geometry[2:]
    loads, threads = 1, 1
    for axis, block in enumerate((BLOCK_Y, BLOCK_X)):
        blocks = ceil_div(sizes[axis], block)
        reach = (block - 1) * stride[axis] + (window[axis] - 1) * dilation[axis] + 1
        begin = np.arange(blocks) * block * stride[axis] - padding[axis]
        inside = np.minimum(begin + reach, size[axis]) - np.maximum(begin, 0)
        loads *= int(np.maximum(inside, 0).sum())
        threads *= blocks * block
    planes, taps = batch * channels, window[0] * window[1]
    pixels = sizes[0] * sizes[1]
    return Cost(
        bytes=itemsize * planes * (depth * (loads + threads * taps) + threads + pixels),
        flops=2 * planes * depth * threads * taps,
    )


def fits(window: Shape, moves: Windows) -> bool:
    """Return whether all pixels in the windows of a block fit in one tile."""
    down, across = (
        (block - 1) * stride + (n - 1) * dilation + 1
        for block, stride, n, dilation in zip(
            (BLOCK_Y, BLOCK_X), moves.stride, window, moves.dilation, strict=True
        )
    )
    return down <= TILE_ROWS and across <= TILE_COLS


VARIANTS = (
    Variant(
        "tiled",
        conv2d_tiled_kernel,
        conv2d_tiled_cost,
        conv2d_reference,
        (BLOCK_X, BLOCK_Y, 1),
        most_blocks=launch.GRID_LIMIT[2],
        instead="direct",
    ),
)
__all__ = launch.public_names(globals())
