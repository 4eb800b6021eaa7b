"""2D convolution as an implicit GEMM: a matrix product whose matrix of columns is never stored.

The product of `im2col`, weight times columns, but a block loads the columns that it needs straight
from the image into its tile. A block computes CHANNELS x PIXELS elements of out, a thread 4 x 8 of
them, in registers. The pixels of all images form one axis, so that small images fill blocks too.

Legend
    N, C, H, W     images, their channels, rows and columns               64, 3, 224, 224
    O, G           output channels, groups                                32, 1
    K, k           elements of a window times channels of a group         27, [0, K)
    P              pixels of one channel of out, rows cols                50176
    pixel          a pixel of all images of out, n P + p                  [0, N P)
    o              output channel                                         [0, O)
    t              start of the current tiles along K                     0, 16, 32, ...
    tid            the thread in its block                                [0, THREADS * THREADS)
    r              row of the tile of pixels, column of the weights'      [0, DEPTH)
    base           index of the first pixel of the window, possibly outside the image
    taps           for each k: offset from base, rows down, columns across
    acc            this thread's accumulators, in registers               4 x 8
    THREADS        side of the block                                      16
    CHANNELS       output channels per block, 4 THREADS                   64
    OWN            pixels per thread: two float4s, THREADS float4s apart  8
    PIXELS         pixels per block, OWN THREADS                          128
    DEPTH          depth of a tile along K                                16
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.conv.direct import conv2d_reference
from gpukit.kernels.conv.windows import Geometry, Pair, Shape, out_sizes, taps_inside
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives.unroll import unrolled
from gpukit.primitives.vectorized import WIDTH, load4

THREADS = 16
BLOCK = THREADS * THREADS
CHANNELS = WIDTH * THREADS
OWN = 2 * WIDTH
PIXELS = OWN * THREADS
DEPTH = 16
# Weights are stored down the columns of their tile, which a float4 of padding spreads over banks.
PADDED = CHANNELS + WIDTH
# Rows of the tile of pixels, and output channels, that all threads together load at once.
ROWS, FILTERS = BLOCK // PIXELS, BLOCK // DEPTH
OUTSIDE = -(1 << 30)  # rows above the image: nothing there is inside
MOST = 1 << 30  # maximum elements of the images, so that 32-bit indices suffice


@cuda.jit(device=True)
def load_weights(weight, a_tile, first, last, t, tid):
    """Load the weights of output channels from `first` on, at k from t on, as columns."""
    for step in range(CHANNELS // FILTERS):
        r, column = tid % DEPTH, tid // DEPTH + step * FILTERS
        o, k = np.uint32(first + column), np.uint32(t + r)
        inside = o < last and k < weight.shape[1]
        a_tile[np.uint32(r), np.uint32(column)] = weight[o, k] if inside else np.float32(0)


@cuda.jit(device=True)
def load_pixels(image, taps, b_tile, base, h, w, rows, cols, t, tid):
    """Load the pixels of one window at k from t on, every ROWS-th of them."""
    for step in range(DEPTH // ROWS):
        r = tid // PIXELS + step * ROWS
        k = np.uint64(t + r)  # 64 bits, which cannot overflow: one address and constant offsets
        offset, down, across = taps[k, 0], np.uint32(h + taps[k, 1]), np.uint32(w + taps[k, 2])
        inside = down < rows and across < cols  # negative values wrapped to huge ones
        pixel = image[np.uint32(base + offset)] if inside else np.float32(0)
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
    """Convolve a batch of images, 4 output channels of 8 pixels per thread.

    New here   the matrix of columns is never stored: nine times less memory for a window of 3 x 3,
               and no traffic for it. The divisions by which im2col finds the pixel of a row k are
               done once for all blocks, and `taps` has their results, so there is no
               division in the main loop, and 63 of 100 of its instructions are FFMAs at
               compute capability 9.0. cuDNN calls this IMPLICIT_PRECOMP_GEMM
    Shapes     image (N C H W,), weight (O, K), bias (O,), taps (K', 3) int32, K' being K rounded up
               to a multiple of DEPTH, stride (2,), padding (2,), size (2,), the image's, width
               scalar, out's columns, out (N, O, P); C order, less than MOST elements
    Dtypes     float32 in, float32 out, float32 accumulators; taps int32
    Launch     block (THREADS, THREADS, 1), grid (ceil_div(N P, PIXELS), ceil_div(O / G, CHANNELS),
               G); x = pixel, y = output channel of a group, z = group
    Shared     DEPTH * (PADDED + PIXELS) * 4 bytes, static
    Cost       bytes: 4 times the pixels inside windows, ceil_div(O / G, CHANNELS) times, O K per
               block of pixels, 2 out.size and 3 taps per element of the tiles of pixels;
               flops: 2 per product of tiles, and out.size; barriers: 2 ceil_div(K, DEPTH)
    Errors     the host function launches the variant im2col for float64 and more elements
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
    pixel = cuda.blockIdx.x * PIXELS + tid % PIXELS  # the one that this thread loads
    n, p = pixel // pixels, pixel % pixels
    h = p // width * stride[0] - padding[0] if n < batch else OUTSIDE
    w = p % width * stride[1] - padding[1]
    images = n * cuda.gridDim.z + cuda.blockIdx.z  # groups of images before this one
    base = images * (image.shape[0] // batch // cuda.gridDim.z) + h * size[1] + w
    for t in range(0, weight.shape[1], DEPTH):
        load_weights(weight, a_tile, first, last, t, tid)
        load_pixels(image, taps, b_tile, base, h, w, rows, cols, t, tid)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        unrolled(DEPTH, multiply_step, a_tile, b_tile, tx, ty, acc)
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    for j in range(OWN):
        pixel = cuda.blockIdx.x * PIXELS + (j // WIDTH * THREADS + tx) * WIDTH + j % WIDTH
        for i in range(WIDTH):
            o = np.uint32(first + ty * WIDTH + i)
            if o < last and pixel < batch * pixels:
                out[pixel // pixels, o, pixel % pixels] = acc[i, j] + bias[o]


def conv2d_implicit_cost(image: Shape, weight: Shape, **moves: Pair) -> Cost:
    """Each block of channels loads the pixels of windows, each block of pixels all weights."""
    (batch, channels, *size), (channels_out, depth, *window) = image, weight
    groups, k = channels // depth, depth * math.prod(window)
    geometry = Geometry(tuple(size), tuple(window), **moves)
    pixels = batch * math.prod(out_sizes(*geometry))
    down, across = ceil_div(channels_out // groups, CHANNELS), ceil_div(pixels, PIXELS)
    steps = groups * down * across * ceil_div(k, DEPTH)
    seen = batch * channels * taps_inside(*geometry) * down
    taps = 3 * PIXELS * DEPTH * steps
    moved = seen + channels_out * k * across + 2 * channels_out * pixels + taps
    products = steps * CHANNELS * PIXELS * DEPTH
    return Cost(bytes=4 * moved, flops=2 * products + channels_out * pixels)


def taps_of(window: Pair, depth: int, size: Pair, dilation: Pair) -> npt.NDArray[np.int32]:
    """Return the offsets of the elements of a window, as the kernel takes them: (K', 3)."""
    i, kh, kw = np.indices((depth, *window)).reshape(3, -1)
    down, across = dilation[0] * kh, dilation[1] * kw
    steps = np.stack([(i * size[0] + down) * size[1] + across, down, across], axis=1)
    # The padding of the last tile is outside every image.
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
