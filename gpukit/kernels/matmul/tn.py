"""Matrix product with a transposed left factor, out = a^T b: the summed axis is the first of both.

The gradient of a layer's weights is this product, of gradients and inputs, summed over samples.

Legend
    M, N, K     columns of a, columns of b, the summed axis         31, 65, 33
    row, col    the element of out that this thread computes        [0, M), [0, N)
    t           start of the current tiles along the summed axis    0, 16, 32, ...
    k, kt       an index on that axis, and the index within a tile  [0, K), [0, TILE)
    m           the column of a that this thread loads, not its row of out
    tx, ty      the thread's column and row in its block            [0, TILE)
    TILE        side of the block and of both tiles                 16
    the others  as in `vectorized`

All kernels, unless stated otherwise
    Errors     the host function rejects a.shape[0] != b.shape[0]; the kernel assumes them equal,
               and a block as given under Launch
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.matmul.naive import TILE
from gpukit.kernels.matmul.tiled import matmul_tiled_cost
from gpukit.kernels.matmul.vectorized import (
    PER_THREAD,
    SIDE,
    THREADS,
    load_tile_of_b,
    multiply_tiles,
    store_sums,
    tiles_cost,
)
from gpukit.launch import Variant

# --- Reference -------------------------------------------------------------------------------


def matmul_tn_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a^T b, accumulated in float64."""
    return np.asarray(a, np.float64).T @ np.asarray(b, np.float64)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matmul_tn_tiled_kernel(a, b, out):
    """Multiply the transpose of a by b, one block per TILE x TILE tile of out.

    New here   nothing is transposed: a tile of a is loaded as it is and read down its columns, at
               one address for all threads of a row, so neither loads nor reads conflict
    Shapes     a (K, M), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for all arrays, the accumulator and both tiles
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     2 * TILE * TILE * itemsize bytes, static
    Cost       bytes: itemsize (K M ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 5, for a b
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m = cuda.blockIdx.y * TILE + tx
    a_tile = cuda.shared.array((TILE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, a.shape[0], TILE):
        k = t + ty
        a_tile[ty, tx] = a[k, m] if k < a.shape[0] and m < a.shape[1] else out.dtype.type(0)
        b_tile[ty, tx] = b[k, col] if k < b.shape[0] and col < b.shape[1] else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for kt in range(TILE):
            acc += a_tile[kt, ty] * b_tile[kt, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_tn_vectorized_kernel(a, b, out):
    """Multiply the transpose of a by b, 8 x 8 elements per thread, with 16-byte accesses.

    New here   matmul_vectorized_kernel, but a is loaded in the way in which b is. The
               rows of a are those of its tile, so nothing is transposed
    Shapes     a (K, M), b (K, N), out (M, N); any K >= 1, M and N multiples of WIDTH >= WIDTH,
               C order, beginning at multiples of 16 bytes
    Dtypes     float32 in, float32 out, float32 accumulators
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, SIDE))
    Shared     2 * DEPTH * PADDED_SIDE * 4 bytes, static
    Cost       bytes: 4 (K M ceil_div(N, SIDE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M and N rounded up to multiples of SIDE, K of DEPTH;
               barriers: 2 ceil_div(K, DEPTH)
    Source     Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance",
               2022, kernel 6
    """
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    acc = cuda.local.array((PER_THREAD, PER_THREAD), np.float32)
    multiply_tiles(load_tile_of_b, load_tile_of_b, a, b, a.shape[0], acc)
    store_sums(acc, out, first_row, first_col, tx, ty)


VARIANTS = (
    Variant("tiled", matmul_tn_tiled_kernel, matmul_tiled_cost, matmul_tn_reference, (TILE, TILE)),
    Variant(
        "vectorized",
        matmul_tn_vectorized_kernel,
        tiles_cost,
        matmul_tn_reference,
        (THREADS, THREADS),
        tile=(SIDE, SIDE),
        dtypes=(np.float32,),
        instead="tiled",
    ),
)
__all__ = launch.public_names(globals())
