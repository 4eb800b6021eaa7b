"""Convolution as a matrix product whose second matrix is never written: an implicit GEMM.

The product of `im2col`, weight times columns, but a block takes the columns that it needs straight
from the image into its tile. A block computes CHANNELS x PIXELS elements of out, a thread 4 x 8 of
them, in registers. All pixels of all images stand in one row, so that small images fill blocks too.

Legend
    N, C, H, W     images, channels, rows and columns of them              64, 3, 224, 224
    O, G           output channels, groups                                 32, 1
    K, k           places in a window times channels of a group            27, [0, K)
    P              pixels of one channel of out, rows cols                 50176
    pixel          a pixel of all images of out, n P + p                   [0, N P)
    o              output channel                                          [0, O)
    t              where the present tiles begin along K                   0, 16, 32, ...
    tid            the thread in its block                                 [0, THREADS * THREADS)
    r              row of the tile of pixels, column of the weights'       [0, DEPTH)
    base           where the window of a pixel begins in the images; it may lie outside
    taps           for each k: how far from base, how many rows down, how many columns across
    acc            the sums that a thread holds in registers               4 x 8
    THREADS        side of the block                                       16
    CHANNELS       output channels of a block, 4 THREADS                   64
    OWN            pixels of a thread: two float4s, THREADS float4s apart      8
    PIXELS         pixels of a block, OWN THREADS                          128
    DEPTH          how deep its tiles are                                  16
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.conv.direct import NONE, ONE, conv2d_reference
from gpukit.kernels.conv.windows import Pair, Shape, out_sizes, taps_inside
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives.unroll import unrolled
from gpukit.primitives.wide import WIDTH, load4

THREADS = 16
BLOCK = THREADS * THREADS
CHANNELS = WIDTH * THREADS
OWN = 2 * WIDTH
PIXELS = OWN * THREADS
DEPTH = 16
# Weights are stored down the columns of their tile: a float4 that nobody uses parts the banks.
PADDED = CHANNELS + WIDTH
# Rows of the tile of pixels, and output channels, that all threads together load in one go.
ROWS, FILTERS = BLOCK // PIXELS, BLOCK // DEPTH
OUTSIDE = -(1 << 30)  # rows above the image: nothing there is inside of it
MOST = 1 << 30  # elements that images may have, so that 32 bits count them


@cuda.jit(device=True)
def load_weights(weight, a_tile, first, last, t, tid):
    """Load the weights of output channels from `first` on, places from t on, as columns."""
    for step in range(CHANNELS // FILTERS):
        r, column = tid % DEPTH, tid // DEPTH + step * FILTERS
        o, k = np.uint32(first + column), np.uint32(t + r)
        inside = o < last and k < weight.shape[1]
        a_tile[np.uint32(r), np.uint32(column)] = weight[o, k] if inside else np.float32(0)


@cuda.jit(device=True)
def load_pixels(image, taps, b_tile, base, h, w, rows, cols, t, tid):
    """Load what the window of one pixel sees at places from t on, every ROWS-th of them."""
    for step in range(DEPTH // ROWS):
        r = tid // PIXELS + step * ROWS
        k = np.uint64(t + r)  # 64 bits, which cannot overflow: one address and constant offsets
        place, down, across = taps[k, 0], np.uint32(h + taps[k, 1]), np.uint32(w + taps[k, 2])
        inside = down < rows and across < cols  # negative numbers have become huge ones
        pixel = image[np.uint32(base + place)] if inside else np.float32(0)
        b_tile[np.uint32(r), np.uint32(tid % PIXELS)] = pixel


@cuda.jit(device=True)
def multiply_step(r, a_tile, b_tile, tx, ty, acc):
    """Add the products of row r of both tiles to a thread's acc."""
    a = load4(a_tile[r], ty)
    low, high = load4(b_tile[r], tx), load4(b_tile[r], THREADS + tx)
    for i in range(WIDTH):
        for j in range(WIDTH):
            acc[i, j] += a[i] * low[j]
            acc[i, WIDTH + j] += a[i] * high[j]


@cuda.jit(launch_bounds=(BLOCK, 2))
def conv2d_implicit_kernel(image, weight, bias, taps, stride, padding, size, width, out):
    """Convolve a batch of images, one thread for 4 output channels of 8 pixels.

    New here   the matrix of columns, never written: nine times less memory for a window of 3 x 3,
               and nothing to write and read again. What im2col knows of a row k, where its place in
               the window lies, it has worked out once for all blocks: `taps` has it, so there is no
               division in the main loop, and of its instructions 63 of 100 multiply and add at
               compute capability 9.0. cuDNN calls this IMPLICIT_PRECOMP_GEMM
    Shapes     image (N C H W,), weight (O, K), bias (O,), taps (K', 3) int32, K' being K rounded up
               to a multiple of DEPTH, stride (2,), padding (2,), size (2,), the image's, width
               scalar, out's columns, out (N, O, P); C order, less than MOST elements
    Dtypes     float32 in, float32 out, float32 accumulators; taps int32
    Launch     block (THREADS, THREADS, 1), grid (ceil_div(N P, PIXELS), ceil_div(O / G, CHANNELS),
               G); x = pixel, y = output channel of a group, z = group
    Shared     DEPTH * (PADDED + PIXELS) * 4 bytes, static
    Cost       bytes: 4 times what lies inside of windows, ceil_div(O / G, CHANNELS) times, O K for
               each block of pixels, 2 out.size and 3 taps for each element of the tiles of pixels;
               flops: 2 for each product of tiles, and out.size; barriers: 2 ceil_div(K, DEPTH)
    Errors     the host function takes the variant im2col for float64 and more elements
    Source     Chetlur and others, "cuDNN: Efficient Primitives for Deep Learning", 2014
    """
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    tid = np.uint32(ty * THREADS + tx)
    batch, pixels, group = out.shape[0], out.shape[2], out.shape[1] // cuda.gridDim.z
    first = cuda.blockIdx.z * group + cuda.blockIdx.y * CHANNELS
    last = np.uint32((cuda.blockIdx.z + 1) * group)
    rows, cols = np.uint32(size[0]), np.uint32(size[1])
    a_tile = cuda.shared.array((DEPTH, PADDED), np.float32, 16)
    b_tile = cuda.shared.array((DEPTH, PIXELS), np.float32, 16)
    acc = cuda.local.array((WIDTH, OWN), np.float32)
    for i in range(WIDTH):
        for j in range(OWN):
            acc[i, j] = np.float32(0)
    pixel = cuda.blockIdx.x * PIXELS + tid % PIXELS  # the one this thread loads
    n, p = pixel // pixels, pixel % pixels
    h = p // width * stride[0] - padding[0] if n < batch else OUTSIDE
    w = p % width * stride[1] - padding[1]
    images = n * cuda.gridDim.z + cuda.blockIdx.z  # parts of images before this one's
    base = images * (image.shape[0] // batch // cuda.gridDim.z) + h * size[1] + w
    for t in range(0, weight.shape[1], DEPTH):
        load_weights(weight, a_tile, first, last, t, tid)
        load_pixels(image, taps, b_tile, base, h, w, rows, cols, t, tid)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        unrolled(DEPTH, multiply_step, a_tile, b_tile, tx, ty, acc)
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    for j in range(OWN):
        pixel = cuda.blockIdx.x * PIXELS + (j // WIDTH * THREADS + tx) * WIDTH + j % WIDTH
        for i in range(WIDTH):
            o = np.uint32(first + ty * WIDTH + i)
            if o < last and pixel < batch * pixels:
                out[pixel // pixels, o, pixel % pixels] = acc[i, j] + bias[o]


def conv2d_implicit_cost(
    image: Shape, weight: Shape, *, stride: Pair = ONE, padding: Pair = NONE, dilation: Pair = ONE
) -> Cost:
    """Each block of channels loads what windows see, each block of pixels all weights."""
    (batch, channels, *size), (channels_out, depth, *window) = image, weight
    groups, k = channels // depth, depth * math.prod(window)
    geometry = tuple(size), tuple(window), stride, padding, dilation
    pixels = batch * math.prod(out_sizes(*geometry))
    down, across = ceil_div(channels_out // groups, CHANNELS), ceil_div(pixels, PIXELS)
    steps = groups * down * across * ceil_div(k, DEPTH)
    seen = batch * channels * taps_inside(*geometry) * down
    taps = 3 * PIXELS * DEPTH * steps
    moved = seen + channels_out * k * across + 2 * channels_out * pixels + taps
    products = steps * CHANNELS * PIXELS * DEPTH
    return Cost(bytes=4 * moved, flops=2 * products + channels_out * pixels)


def taps_of(window: Pair, depth: int, size: Pair, dilation: Pair) -> npt.NDArray[np.int32]:
    """Return where the places of a window lie, as the kernel takes it: (K', 3)."""
    i, kh, kw = np.indices((depth, *window)).reshape(3, -1)
    down, across = dilation[0] * kh, dilation[1] * kw
    steps = np.stack([(i * size[0] + down) * size[1] + across, down, across], axis=1)
    # What fills the last tile up lies outside of every image.
    filled = np.zeros((ceil_div(len(steps), DEPTH) * DEPTH, 3), np.int32)
    filled[:, 1] = OUTSIDE
    filled[: len(steps)] = steps
    return filled


VARIANTS = (
    Variant(
        "implicit",
        conv2d_implicit_kernel,
        conv2d_implicit_cost,
        conv2d_reference,
        (THREADS, THREADS, 1),
        tile=(PIXELS, CHANNELS, 1),
        dtypes=(np.float32,),
        instead="im2col",
    ),
)
__all__ = launch.public_names(globals())
