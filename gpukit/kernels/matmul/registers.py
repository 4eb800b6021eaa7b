"""Matrix product with register tiles: several elements of out per thread.

Sectors and conflicts are those of `naive`.

Legend
    M, N, K     rows of a, columns of b, and the summed axis           31, 65, 33
    row, col    an element of out that this thread computes            [0, M), [0, N)
    k           the summed axis within a tile                          [0, TILE)
    t           start of the current tiles along the summed axis       0, 16, 32, ...
    tx, ty      the thread's column and row in its block               [0, TILE)
    TILE        side of the block, and of the smaller tiles            16
    i, j        which of this thread's rows, and columns, of out       [0, PER_THREAD)
    PER_THREAD  rows, and columns, of out per thread                   8
    SIDE        rows, or columns, of out per block, TILE * PER_THREAD  128
    first_row   first row of out in this block                         0, 128, 256, ...
    first_col   the same along the columns                             0, 128, 256, ...
    r, c        a row of the tile of a, a column of the tile of b      [0, SIDE)

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulators
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
"""

from __future__ import annotations

import functools

from gpukit import cuda, launch
from gpukit.kernels.matmul.naive import TILE, matmul_reference
from gpukit.kernels.matmul.vectorized import tiles_cost
from gpukit.launch import Variant

PER_THREAD = 8
SIDE = TILE * PER_THREAD
# Padding against bank conflicts; a constant, since the shape of a shared array takes no expression.
PADDED_SIDE = SIDE + TILE


@cuda.jit
def matmul_register_tile_1d_kernel(a, b, out):
    """Multiply two matrices, PER_THREAD elements of one column of out per thread.

    New here   several elements per thread, with their sums in registers: that is where a local
               array is kept, once the compiler has unrolled all loops over it and every index is
               a constant. A column of the tile of b is loaded to registers and used for 8 rows: 9
               loads from shared memory for 8 products, where the tiled kernel has 16. The tile of
               a is 8 times as high, so b is loaded 8 times less often. The rows of a thread
               are TILE apart, so that a warp stores parts of two rows, as before
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, SIDE)); x = col, y = row
    Shared     (SIDE + TILE) * TILE * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M rounded up to a multiple of SIDE, N and K of TILE;
               barriers: 2 ceil_div(K, TILE)
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 6
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    first_row, col = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * TILE + tx
    a_tile = cuda.shared.array((SIDE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = cuda.local.array(PER_THREAD, out.dtype)
    b_values = cuda.local.array(TILE, out.dtype)
    for i in range(PER_THREAD):
        acc[i] = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        for i in range(PER_THREAD):
            r = ty + i * TILE
            row = first_row + r
            a_tile[r, tx] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            b_values[k] = b_tile[k, tx]
        for i in range(PER_THREAD):
            for k in range(TILE):
                acc[i] += a_tile[ty + i * TILE, k] * b_values[k]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    for i in range(PER_THREAD):
        row = first_row + ty + i * TILE
        if row < m and col < n:
            out[row, col] = acc[i]


@cuda.jit
def matmul_register_tile_2d_kernel(a, b, out):
    """Multiply two matrices, PER_THREAD x PER_THREAD elements of out per thread.

    New here   a square of sums in registers: a value of b is used for 8 rows and a value of a
               for 8 columns, 2 loads from shared memory for 8 products. Both tiles are 8 times as
               large, so both matrices are loaded 8 times less often than by the tiled kernel.
               A warp stores to two rows of b_tile, hence its padding
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(N, SIDE), ceil_div(M, SIDE)); x = col, y = row
    Shared     (SIDE + PADDED_SIDE) * TILE * itemsize bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, SIDE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M and N rounded up to multiples of SIDE, K of TILE;
               barriers: 2 ceil_div(K, TILE)
    Source     Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    first_row, first_col = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    a_tile = cuda.shared.array((SIDE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, PADDED_SIDE), out.dtype)
    acc = cuda.local.array((PER_THREAD, PER_THREAD), out.dtype)
    b_values = cuda.local.array(PER_THREAD, out.dtype)
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            acc[i, j] = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        for i in range(PER_THREAD):
            r, c = ty + i * TILE, tx + i * TILE
            row, col = first_row + r, first_col + c
            a_tile[r, tx] = a[row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
            b_tile[ty, c] = b[t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            for j in range(PER_THREAD):
                b_values[j] = b_tile[k, tx + j * TILE]
            for i in range(PER_THREAD):
                a_value = a_tile[ty + i * TILE, k]
                for j in range(PER_THREAD):
                    acc[i, j] += a_value * b_values[j]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            row, col = first_row + ty + i * TILE, first_col + tx + j * TILE
            if row < m and col < n:
                out[row, col] = acc[i, j]


_variant = functools.partial(Variant, reference=matmul_reference, block=(TILE, TILE))
VARIANTS = (
    _variant(
        "register_tile_1d",
        matmul_register_tile_1d_kernel,
        functools.partial(tiles_cost, cols=TILE, depth=TILE),
        tile=(TILE, SIDE),
    ),
    _variant(
        "register_tile_2d",
        matmul_register_tile_2d_kernel,
        functools.partial(tiles_cost, depth=TILE),
        tile=(SIDE, SIDE),
    ),
)
__all__ = launch.public_names(globals())
