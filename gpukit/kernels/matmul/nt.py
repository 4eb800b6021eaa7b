"""Matrix product with a transposed right factor, out = a b^T, transposed while it is loaded.

A dense layer is this product, of samples and weights, plus a bias per column; `linear` launches
these kernels. Transposing b first would move it twice more and need memory for the copy.

Legend
    M, N, K     rows of a, rows of b, the summed axis, last of both  31, 65, 33
    bias        (N,), added to every row of out; (0,) for no bias, since a kernel takes no None
    row, col    the element of out that this thread computes         [0, M), [0, N)
    t           start of the current tiles along the summed axis     0, 16, 32, ...
    k, kt       an index on that axis, and the index within a tile   [0, K), [0, TILE)
    n           the row of b that this thread loads, not its column of out
    tx, ty      the thread's column and row in its block             [0, TILE)
    TILE        side of the block and of both tiles                  16
    PADDED      width of a tile with a column of padding             17
    the others  as in `vectorized`

All kernels, unless stated otherwise
    Errors     the host function rejects a.shape[1] != b.shape[1]; the kernel assumes them equal,
               and a block as given under Launch
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.matmul.naive import TILE
from gpukit.kernels.matmul.tiled import matmul_tiled_cost
from gpukit.kernels.matmul.vectorized import (
    PER_THREAD,
    SIDE,
    THREADS,
    add_bias,
    load_tile_of_a,
    multiply_tiles,
    store_sums,
    tiles_cost,
)
from gpukit.launch import Cost, Variant

PADDED = TILE + 1  # a named constant: the shape of a shared array cannot be an expression


# --- Reference -------------------------------------------------------------------------------


def matmul_nt_reference(
    a: npt.ArrayLike, b: npt.ArrayLike, bias: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """Return a b^T, plus the bias if there is one, accumulated in float64."""
    product: Any = np.asarray(a, np.float64) @ np.asarray(b, np.float64).T
    made: npt.NDArray[np.float64] = product if bias is None else product + np.asarray(bias)
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matmul_nt_tiled_kernel(a, b, bias, out):
    """Multiply a by the transpose of b, one block per TILE x TILE tile of out.

    New here   both tiles are loaded along k, so every load is coalesced; the transposing happens in
               shared memory, where a column of padding keeps the threads of a warp, which read down
               b_tile, in different banks
    Shapes     a (M, K), b (N, K), bias (N,) or (0,), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for all arrays, the accumulator and both tiles
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     TILE * (TILE + PADDED) * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + N K ceil_div(M, TILE) + 2 M N);
               flops: 2 M' N' K' + M N, each primed size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Source     gpukit; padding from Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", 2013
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    n = cuda.blockIdx.x * TILE + ty
    a_tile = cuda.shared.array((TILE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, PADDED), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, a.shape[1], TILE):
        k = t + tx
        a_tile[ty, tx] = a[row, k] if row < a.shape[0] and k < a.shape[1] else out.dtype.type(0)
        b_tile[ty, tx] = b[n, k] if n < b.shape[0] and k < b.shape[1] else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for kt in range(TILE):
            acc += a_tile[ty, kt] * b_tile[tx, kt]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        if bias.shape[0] > 0:
            acc += bias[col]
        out[row, col] = acc


def matmul_nt_tiled_cost(m: int, n: int, k: int, itemsize: int = 4, *, bias: bool = True) -> Cost:
    """Each block column loads all of a, each block row all of b; padding is multiplied."""
    return _with_bias(matmul_tiled_cost(m, n, k, itemsize), m, n, itemsize, bias)


def _with_bias(product: Cost, m: int, n: int, itemsize: int, bias: bool) -> Cost:
    """Return the cost of a product plus, where there is a bias, a load and addition per element."""
    each = m * n if bias else 0
    return Cost(product.bytes + itemsize * each, product.flops + each)


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_nt_vectorized_kernel(a, b, bias, out):
    """Multiply a by the transpose of b, 8 x 8 elements per thread, with 16-byte accesses.

    New here   matmul_vectorized_kernel, but b is loaded in the way in which a is. Both tiles are
               stored transposed, with k along the first axis, and the rest is the same
    Shapes     a (M, K), b (N, K), bias (N,) or (0,), out (M, N); any M >= 1, K and N multiples of
               WIDTH >= WIDTH, C order, beginning at multiples of 16 bytes
    Dtypes     float32 in, float32 out, float32 accumulators
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, SIDE))
    Shared     2 * DEPTH * PADDED_SIDE * 4 bytes, static
    Cost       bytes: 4 (M K ceil_div(N, SIDE) + N K ceil_div(M, SIDE) + M N), and for the bias as
               much as M' N elements; flops: 2 M' N' K' + M' N', with M and N rounded up to
               multiples of SIDE, K of DEPTH; barriers: 2 ceil_div(K, DEPTH)
    Source     Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance",
               2022, kernel 6
    """
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    acc = cuda.local.array((PER_THREAD, PER_THREAD), np.float32)
    multiply_tiles(load_tile_of_a, load_tile_of_a, a, b, a.shape[1], acc)
    if bias.shape[0] > 0:
        add_bias(bias, acc, first_col, tx)
    store_sums(acc, out, first_row, first_col, tx, ty)


def matmul_nt_vectorized_cost(m: int, n: int, k: int, *, bias: bool = True) -> Cost:
    """One load of a per SIDE columns of out, one of b per SIDE rows, one of bias per 8 rows."""
    product = tiles_cost(m, n, k)
    if not bias:
        return product
    rows = launch.ceil_div(m, SIDE) * SIDE  # threads add it to rows outside too
    return Cost(product.bytes + 4 * rows // PER_THREAD * n, product.flops + rows * n)


VARIANTS = (
    Variant(
        "tiled", matmul_nt_tiled_kernel, matmul_nt_tiled_cost, matmul_nt_reference, (TILE, TILE)
    ),
    Variant(
        "vectorized",
        matmul_nt_vectorized_kernel,
        matmul_nt_vectorized_cost,
        matmul_nt_reference,
        (THREADS, THREADS),
        tile=(SIDE, SIDE),
        dtypes=(np.float32,),
        instead="tiled",
    ),
)
__all__ = launch.public_names(globals())
