"""Matrix product with tiles in shared memory: a block loads once what all its threads read.

Sectors and conflicts are those of `naive`.

Legend
    M, N, K     rows of a, columns of b, and the summed axis      31, 65, 33
    row, col    the element of out that this thread computes      [0, M), [0, N)
    k           the summed axis within a tile                     [0, TILE)
    t           start of the current tiles along the summed axis  0, 16, 32, ...
    tx, ty      the thread's column and row in its block          [0, TILE)
    TILE        side of the block and of both tiles               16

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
"""

from __future__ import annotations

import functools

from gpukit import cuda, launch
from gpukit.kernels.matmul.naive import TILE, matmul_reference
from gpukit.kernels.matmul.vectorized import tiles_cost
from gpukit.launch import Variant

# Padding against bank conflicts; a constant, since the shape of a shared array takes no expression.
PADDED_TILE = TILE + 2


@cuda.jit
def matmul_tiled_kernel(a, b, out):
    """Multiply two matrices, one block per TILE x TILE tile of out.

    New here   the threads of a block load a tile of a and a tile of b together, once, into
               shared memory, and each then reads 2 TILE values from there: TILE times fewer
               loads from global memory. Elements outside the matrices are loaded as zero
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Shared     2 * TILE * TILE * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 5
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    a_tile = cuda.shared.array((TILE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        # Guarded loads, not an early return: every thread must reach the barriers.
        a_tile[ty, tx] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < n:
        out[row, col] = acc


matmul_tiled_cost = functools.partial(tiles_cost, cols=TILE, rows=TILE, depth=TILE)


@cuda.jit
def matmul_padded_kernel(a, b, out):
    """Multiply two matrices, one TILE x TILE tile of out per block, the tile of a transposed.

    New here   a_tile is stored transposed, a column of a as a row, so that a thread with several
               rows could read them contiguously. Without padding the 32 stores of a warp would go
               to 4 banks, 8 to each: 7 conflicts. Two columns of padding shift each row of the tile
               by 2 banks, and the stores go to 32 banks; with one column, the two columns that a
               warp stores would overlap in one bank. No gain yet: the tiled kernel has no conflicts
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Shared     TILE * (TILE + PADDED_TILE) * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Source     gpukit; padding from Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", 2013
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    a_tile = cuda.shared.array((TILE, PADDED_TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        a_tile[tx, ty] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            acc += a_tile[k, ty] * b_tile[k, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < n:
        out[row, col] = acc


VARIANTS = (
    Variant("tiled", matmul_tiled_kernel, matmul_tiled_cost, matmul_reference, (TILE, TILE)),
    Variant("padded", matmul_padded_kernel, matmul_tiled_cost, matmul_reference, (TILE, TILE)),
)
__all__ = launch.public_names(globals())
