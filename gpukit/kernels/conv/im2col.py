"""2D convolution as a matrix product (im2col): windows become columns, out = weight times columns.

A column holds the pixels of one window, channel by channel, row by row: C KH KW elements. The
weights of an output channel have the same order, so out(o, p) = sum over k of weight(o, k)
cols(k, p), and every optimization of matrix products applies to convolutions. The price is memory:
with a 3 x 3 window the columns are nine times the image, so they are made for a few images at a
time, in one buffer. The gradients are products too; `col2im` maps the gradient of columns back.

Legend
    N, C, H, W     images, their channels, rows and columns                64, 3, 224, 224
    O, KH, KW      output channels, rows and columns of the window         16, 3, 3
    G, g           groups of channels, and one of them                     1, [0, G)
    P, p           pixels of one channel of out, rows cols                 50176, [0, P)
    K              elements of a window times channels of a group          27
    n, c, h, w     a pixel of the images                                   [0, N), ...
    row, col       a pixel of out; in a product the element of its result  [0, 224)
    k              a row of cols, c KH KW + kh KW + kw; or within a tile   [0, C KH KW), [0, TILE)
    t              start of the current tiles along the summed axis        0, 16, 32, ...
    tx, ty         the thread's column and row in its block                [0, TILE)
    S, s           partial sums of a gradient of weights, and one of them  16, [0, S)
    TILE           side of the block and of the tiles of products          16

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator; the rest int
    Errors     the host functions reject shapes that do not fit; the kernels assume that they do,
               and blocks as given under Launch
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.conv.direct import BLOCK_X, BLOCK_Y, NONE, ONE
from gpukit.kernels.conv.windows import Geometry, Pair, Shape, out_sizes, taps_inside
from gpukit.launch import Cost, Variant, ceil_div

TILE = 16
# Padding against bank conflicts: the threads of a warp read down 16 rows of a column of a tile.
PADDED = TILE + 1

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def im2col_reference(
    image: npt.ArrayLike,
    window: Pair,
    *,
    stride: Pair = ONE,
    padding: Pair = NONE,
    dilation: Pair = ONE,
) -> Float64:
    """Return the pixels of each window as a column, (N, C KH KW, rows, cols)."""
    image = np.asarray(image, np.float64)
    batch, _, *size = image.shape
    rows, cols = out_sizes(tuple(size), window, stride, padding, dilation)
    padded = np.pad(image, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    reach = [step * (n - 1) + 1 for step, n in zip(dilation, window, strict=True)]
    seen = np.lib.stride_tricks.sliding_window_view(padded, reach, (2, 3))
    seen = seen[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    return seen.transpose(0, 1, 4, 5, 2, 3).reshape(batch, -1, rows, cols)


def col2im_reference(
    cols: npt.ArrayLike,
    window: Pair,
    size: Pair,
    *,
    stride: Pair = ONE,
    padding: Pair = NONE,
    dilation: Pair = ONE,
) -> Float64:
    """Return images (N, C, H, W) of `size`, the sums of the columns' elements at their pixels."""
    cols = np.asarray(cols, np.float64)
    batch, _, *out = cols.shape
    cols = cols.reshape(batch, -1, *window, *out)
    down, across = size[0] + 2 * padding[0], size[1] + 2 * padding[1]
    padded = np.zeros((batch, cols.shape[1], down, across))
    for kh, kw in np.ndindex(*window):
        reached = padded[:, :, dilation[0] * kh :: stride[0], dilation[1] * kw :: stride[1]]
        reached[:, :, : out[0], : out[1]] += cols[:, :, kh, kw]
    return padded[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


def product_reference(a: npt.ArrayLike, cols: npt.ArrayLike, bias: npt.ArrayLike) -> Float64:
    """Return the product of each group of a with each image's columns, plus bias."""
    a, cols, bias = (np.asarray(array, np.float64) for array in (a, cols, bias))
    made: Float64 = a @ cols + bias[:, :, None]
    return made


def grad_weight_reference(grad_out: npt.ArrayLike, cols: npt.ArrayLike, slices: int) -> Float64:
    """Return `slices` partial sums of the gradient of weights, each over every slices-th image."""
    grad_out, cols = np.asarray(grad_out, np.float64), np.asarray(cols, np.float64)
    each = grad_out @ cols.swapaxes(2, 3)
    return np.stack([each[s::slices].sum(axis=0) for s in range(slices)])


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def im2col_kernel(image, window, stride, padding, dilation, cols):
    """Copy the pixels of each window to a column, one element per thread.

    New here   the divisions that give the channel and the index in the window are the same for
               all threads of a block: the plane at blockIdx.z is one row of cols. Threads
               along x read neighbouring pixels and write neighbouring windows
    Shapes     image (N, C, H, W), window (2,), stride (2,), padding (2,), dilation (2,),
               cols (N, C KH KW, rows, cols); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(cols, BLOCK_X),
               ceil_div(rows, BLOCK_Y), N C KH KW); x = col, y = row, z = plane
    Cost       bytes: itemsize (L + cols.size), where L is the number of elements inside the image;
               flops: 0; barriers: 0
    Source     Chellapilla, Puri and Simard, "High Performance Convolutional Neural Networks for
               Document Processing", 2006
    """
    col, row = cuda.grid(2)
    n, k = cuda.blockIdx.z // cols.shape[1], cuda.blockIdx.z % cols.shape[1]
    c, tap = k // (window[0] * window[1]), k % (window[0] * window[1])
    kh, kw = tap // window[1], tap % window[1]
    if row < cols.shape[2] and col < cols.shape[3]:
        h = stride[0] * row + dilation[0] * kh - padding[0]
        w = stride[1] * col + dilation[1] * kw - padding[1]
        inside = 0 <= h < image.shape[2] and 0 <= w < image.shape[3]
        cols[n, k, row, col] = image[n, c, h, w] if inside else cols.dtype.type(0)


def im2col_cost(image: Shape, window: Pair, *, itemsize: int = 4, **moves: Pair) -> Cost:
    """One load per tap inside the image, one store per element of the columns."""
    (batch, channels, *size) = image
    geometry = Geometry(tuple(size), window, **moves)
    rows, cols = out_sizes(*geometry)
    stores = rows * cols * window[0] * window[1]
    return Cost(bytes=itemsize * batch * channels * (taps_inside(*geometry) + stores), flops=0)


@cuda.jit
def columns_product_kernel(a, cols, bias, out):
    """Multiply weights with columns, one block per TILE x TILE tile of one group and image.

    New here   matmul_batched_kernel with the same a for the whole batch: each image has a product
               of its own, so the result has the layout (O, P), where one product of all columns
               would give (O, N P), to be transposed. Groups are another axis of the batch. With
               the transpose of a, and grad_out for columns, it is the gradient of columns
    Shapes     a (G, M, D), cols (N, G, D, P), bias (G, M), out (N, G, M, P); any sizes >= 1,
               C order
    Launch     block (TILE, TILE, 1), grid (ceil_div(P, TILE), ceil_div(M, TILE), N G); x = pixel,
               y = row of a, z = image and group
    Shared     2 * TILE * TILE * itemsize bytes, static
    Cost       bytes: itemsize N G (M D ceil_div(P, TILE) + D P ceil_div(M, TILE) + 2 M P);
               flops: N G (2 M' P' D' + M P), each primed size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(D, TILE)
    Source     gpukit, on Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 5
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    (groups, m, depth), pixels = a.shape, out.shape[3]
    n, g = cuda.blockIdx.z // groups, cuda.blockIdx.z % groups
    a_tile = cuda.shared.array((TILE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, depth, TILE):
        a_tile[ty, tx] = a[g, row, t + tx] if row < m and t + tx < depth else out.dtype.type(0)
        inside = t + ty < depth and col < pixels
        b_tile[ty, tx] = cols[n, g, t + ty, col] if inside else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < pixels:
        out[n, g, row, col] = acc + bias[g, row]


def columns_product_cost(
    batch: int, groups: int, m: int, p: int, depth: int, itemsize: int = 4
) -> Cost:
    """Per image and group the loads of a tiled product; one load of bias per element of out."""
    across, down, steps = (ceil_div(size, TILE) for size in (p, m, depth))
    return Cost(
        bytes=itemsize * batch * groups * (m * depth * across + depth * p * down + 2 * m * p),
        flops=batch * groups * (2 * across * down * steps * TILE**3 + m * p),
    )


@cuda.jit
def columns_grad_weight_kernel(grad_out, cols, partial):
    """Add the gradients of weights of every S-th image to a partial sum, one tile per block.

    New here   a product along the pixels, the last axis of both, so the tile of cols is transposed
               while it is read. The result is small and the summed axis long: few blocks with much
               work each, but for the S partial sums, which another launch adds. No atomics: the
               bits are the same in every run
    Shapes     grad_out (N, G, M, P), cols (N, G, K, P), partial (S, G, M, K), which has the sums
               so far; any sizes >= 1, C order
    Launch     block (TILE, TILE, 1), grid (ceil_div(K, TILE), ceil_div(M, TILE), S G);
               x = index of a weight, y = output channel of a group, z = partial sum and group
    Shared     TILE * (TILE + PADDED) * itemsize bytes, static
    Cost       bytes: itemsize (N G P (M ceil_div(K, TILE) + K ceil_div(M, TILE)) + 2 partial.size);
               flops: 2 N G M' K' P' + partial.size, each primed size rounded up to a multiple of
               TILE; barriers: 2 ceil_div(P, TILE) per image
    Source     gpukit
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    slices, groups, m, depth = partial.shape
    pixels = cols.shape[3]
    s, g = cuda.blockIdx.z // groups, cuda.blockIdx.z % groups
    k_loaded = cuda.blockIdx.x * TILE + ty  # the row of cols that this thread loads
    a_tile = cuda.shared.array((TILE, TILE), partial.dtype)
    b_tile = cuda.shared.array((TILE, PADDED), partial.dtype)
    acc = partial.dtype.type(0)
    for n in range(s, grad_out.shape[0], slices):
        for t in range(0, pixels, TILE):
            p = t + tx
            a_tile[ty, tx] = (
                grad_out[n, g, row, p] if row < m and p < pixels else partial.dtype.type(0)
            )
            b_tile[ty, tx] = (
                cols[n, g, k_loaded, p]
                if k_loaded < depth and p < pixels
                else partial.dtype.type(0)
            )
            cuda.syncthreads()  # both tiles are written before any thread reads them
            for k in range(TILE):
                acc += a_tile[ty, k] * b_tile[tx, k]
            cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < depth:
        partial[s, g, row, col] += acc


def columns_grad_weight_cost(
    batch: int, groups: int, m: int, p: int, k: int, slices: int, itemsize: int = 4
) -> Cost:
    """Per image and group the loads of a tiled product; every sum is loaded and stored."""
    across, down, steps = (ceil_div(size, TILE) for size in (k, m, p))
    sums = slices * groups * m * k
    return Cost(
        bytes=itemsize * (batch * groups * p * (m * across + k * down) + 2 * sums),
        flops=2 * batch * groups * across * down * steps * TILE**3 + sums,
    )


@cuda.jit
def col2im_kernel(cols, stride, padding, dilation, image):
    """Sum the columns' elements at each pixel (col2im), one pixel of the image per thread.

    New here   the adjoint of im2col, which copies a pixel to up to KH KW columns. Columns that add
               to the pixels of their window would need atomics; a pixel that sums over the windows
               on it, as here, needs none: for each index in the window there is one window at
               most, and none where the stride skips it. With stride 1 no division is needed, and
               a division takes longer than everything else here
    Shapes     cols (N C, KH, KW, rows, cols), stride (2,), padding (2,), dilation (2,),
               image (N C, H, W); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y),
               min(N * C, 65535)); x = w, y = h, z = plane
    Cost       bytes: itemsize (L + image.size); flops: L, where L is the number of elements of cols
               inside the image; barriers: 0
    Source     gpukit
    """
    w, h = cuda.grid(2)
    planes, window_h, window_w, rows, columns = cols.shape
    (stride_h, stride_w), (pad_h, pad_w), (step_h, step_w) = stride, padding, dilation
    divides = stride_h > 1 or stride_w > 1
    if h < image.shape[1] and w < image.shape[2]:
        for plane in range(cuda.blockIdx.z, planes, cuda.gridDim.z):
            acc = image.dtype.type(0)
            for kh in range(window_h):
                row = h + pad_h - step_h * kh
                for kw in range(window_w):
                    col = w + pad_w - step_w * kw
                    if divides:
                        if row % stride_h == 0 and col % stride_w == 0:
                            at_row, at_col = row // stride_h, col // stride_w
                            if 0 <= at_row < rows and 0 <= at_col < columns:
                                acc += cols[plane, kh, kw, at_row, at_col]
                    elif 0 <= row < rows and 0 <= col < columns:
                        acc += cols[plane, kh, kw, row, col]
            image[plane, h, w] = acc


def col2im_cost(image: Shape, window: Pair, *, itemsize: int = 4, **moves: Pair) -> Cost:
    """One load and one addition per tap inside the image, one store per pixel."""
    batch, channels, *size = image
    taps = batch * channels * taps_inside(*Geometry(tuple(size), window, **moves))
    return Cost(bytes=itemsize * (taps + batch * channels * size[0] * size[1]), flops=taps)


_pixels = functools.partial(Variant, block=(BLOCK_X, BLOCK_Y, 1))
_product = functools.partial(Variant, block=(TILE, TILE, 1))
VARIANTS = (
    _pixels("im2col", im2col_kernel, im2col_cost, im2col_reference),
    _product("product", columns_product_kernel, columns_product_cost, product_reference),
    _product(
        "grad_weight", columns_grad_weight_kernel, columns_grad_weight_cost, grad_weight_reference
    ),
    _pixels(
        "col2im", col2im_kernel, col2im_cost, col2im_reference, most_blocks=launch.GRID_LIMIT[2]
    ),
)
__all__ = launch.public_names(globals())
