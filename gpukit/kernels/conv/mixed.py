"""Convolution in mixed precision: columns and weights of 16 bits, sums in float32.

`im2col` with 16-bit factors: the columns of `im2col_kernel`, which copies elements of any kind,
take half the bytes, and these two products widen what they load. The gradient of columns is a sum,
so it is float32, and `col2im_kernel` adds it up as before.

All kernels
    Dtypes     float16 or uint16, the bits of bfloat16, for both factors; float32 for bias, tiles,
               accumulators and results
    Source     Micikevicius and others, "Mixed Precision Training", ICLR 2018

Legend
    N, G, g        images, groups of channels, and one of them             64, 1, [0, G)
    M, D, K        output channels, and elements of a window, of a group   16, 27, 27
    P, p           pixels of one channel of out                            50176, [0, P)
    S, s           partial sums of a gradient of weights, and one of them  16, [0, S)
    t              start of the current tiles along the summed axis        0, 16, 32, ...
    tx, ty         the thread's column and row in its block                [0, TILE)
    TILE           side of the block and of the tiles of products          16
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.conv import im2col
from gpukit.kernels.conv.im2col import PADDED, TILE
from gpukit.kernels.convert import SMALL
from gpukit.launch import Cost, Variant
from gpukit.primitives import tensor
from gpukit.primitives.tensor import float_of

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def _wide(x: npt.ArrayLike) -> Float64:
    """Return the numbers that 16 bits stand for."""
    x = np.asarray(x)
    return (tensor.from_bf16(x) if x.dtype == np.uint16 else x).astype(np.float64)


def product_mixed_reference(a: npt.ArrayLike, cols: npt.ArrayLike, bias: npt.ArrayLike) -> Float64:
    """Return the product of each group of a with each image's columns, plus bias."""
    return im2col.product_reference(_wide(a), _wide(cols), bias)


def grad_weight_mixed_reference(
    grad_out: npt.ArrayLike, cols: npt.ArrayLike, slices: int
) -> Float64:
    """Return `slices` partial sums of the gradient of weights, each over every slices-th image."""
    return im2col.grad_weight_reference(_wide(grad_out), _wide(cols), slices)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def columns_product_mixed_kernel(a, cols, bias, out):
    """Multiply 16-bit weights with 16-bit columns, one block per TILE x TILE tile of out.

    New here   columns_product_kernel, widened as it is loaded. a may be a view with its last two
               axes exchanged: for the gradient of columns nothing is transposed in memory
    Shapes     a (G, M, D), cols (N, G, D, P), bias (G, M), out (N, G, M, P); any sizes >= 1,
               C order but for a
    Launch     block (TILE, TILE, 1), grid (ceil_div(P, TILE), ceil_div(M, TILE), N G); x = pixel,
               y = row of a, z = image and group
    Shared     2 * TILE * TILE * 4 bytes, static
    Cost       bytes: N G (2 M D ceil_div(P, TILE) + 2 D P ceil_div(M, TILE) + 8 M P); flops:
               N G (2 M' P' D' + M P), each primed size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(D, TILE)
    Errors     as for columns_product_kernel
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    (groups, m, depth), pixels = a.shape, out.shape[3]
    n, g = cuda.blockIdx.z // groups, cuda.blockIdx.z % groups
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    for t in range(0, depth, TILE):
        inside = row < m and t + tx < depth
        a_tile[ty, tx] = float_of(a[g, row, t + tx]) if inside else np.float32(0)
        inside = t + ty < depth and col < pixels
        b_tile[ty, tx] = float_of(cols[n, g, t + ty, col]) if inside else np.float32(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < pixels:
        out[n, g, row, col] = acc + bias[g, row]


def columns_product_mixed_cost(batch: int, groups: int, m: int, p: int, depth: int) -> Cost:
    """Like columns_product_cost, with two bytes per element of both factors."""
    whole = im2col.columns_product_cost(batch, groups, m, p, depth)
    results = 8 * batch * groups * m * p
    return Cost(bytes=(whole.bytes - results) // 2 + results, flops=whole.flops)


@cuda.jit
def columns_grad_weight_mixed_kernel(grad_out, cols, partial):
    """Add the gradients of weights of every S-th image to a partial sum, one tile per block.

    New here   columns_grad_weight_kernel, widened as it is loaded
    Shapes     grad_out (N, G, M, P), cols (N, G, K, P), partial (S, G, M, K), which has the sums
               so far; any sizes >= 1, C order
    Launch     block (TILE, TILE, 1), grid (ceil_div(K, TILE), ceil_div(M, TILE), S G);
               x = index of a weight, y = output channel of a group, z = partial sum and group
    Shared     TILE * (TILE + PADDED) * 4 bytes, static
    Cost       bytes: 2 N G P (M ceil_div(K, TILE) + K ceil_div(M, TILE)) + 8 partial.size;
               flops: 2 N G M' K' P' + partial.size, each primed size rounded up to a multiple of
               TILE; barriers: 2 ceil_div(P, TILE) per image
    Errors     as for columns_grad_weight_kernel
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    slices, groups, m, depth = partial.shape
    pixels = cols.shape[3]
    s, g = cuda.blockIdx.z // groups, cuda.blockIdx.z % groups
    k_loaded = cuda.blockIdx.x * TILE + ty  # the row of cols that this thread loads
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, PADDED), np.float32)
    acc = np.float32(0)
    for n in range(s, grad_out.shape[0], slices):
        for t in range(0, pixels, TILE):
            p = t + tx
            inside = row < m and p < pixels
            a_tile[ty, tx] = float_of(grad_out[n, g, row, p]) if inside else np.float32(0)
            inside = k_loaded < depth and p < pixels
            b_tile[ty, tx] = float_of(cols[n, g, k_loaded, p]) if inside else np.float32(0)
            cuda.syncthreads()  # both tiles are written before any thread reads them
            for k in range(TILE):
                acc += a_tile[ty, k] * b_tile[tx, k]
            cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < depth:
        partial[s, g, row, col] += acc


def columns_grad_weight_mixed_cost(
    batch: int, groups: int, m: int, p: int, k: int, slices: int
) -> Cost:
    """Like columns_grad_weight_cost, with two bytes per element of both factors."""
    whole = im2col.columns_grad_weight_cost(batch, groups, m, p, k, slices)
    results = 8 * slices * groups * m * k
    return Cost(bytes=(whole.bytes - results) // 2 + results, flops=whole.flops)


_product = functools.partial(Variant, block=(TILE, TILE, 1), dtypes=SMALL)
VARIANTS = (
    _product(
        "product_mixed",
        columns_product_mixed_kernel,
        columns_product_mixed_cost,
        product_mixed_reference,
    ),
    _product(
        "grad_weight_mixed",
        columns_grad_weight_mixed_kernel,
        columns_grad_weight_mixed_cost,
        grad_weight_mixed_reference,
    ),
)
__all__ = launch.public_names(globals())
