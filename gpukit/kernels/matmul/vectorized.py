"""Matrix product with 16-byte accesses: register tiles, unrolled, and double buffering.

The main loops of these kernels leave a GPU's float units almost nothing but FFMAs. A block
computes SIDE x SIDE elements of out, a thread 8 x 8 of them: two by two squares of WIDTH x
WIDTH, half a SIDE apart, so that the threads of a warp read neighbouring float4s. Rows are moved in
float4s, so K and N must be multiples of WIDTH and the matrices aligned to 16 bytes; `matmul` falls
back to another variant where they are not.

Legend
    M, N, K     rows of a, columns of b, and the summed axis                131, 132, 36
    t           start of the current tiles along the summed axis            0, 16, 32, ...
    k           the step within a tile                                      [0, DEPTH)
    tx, ty      the thread's column and row in its block                    [0, THREADS)
    tid         the thread in its block, in row-major order                 [0, THREADS * THREADS)
    first_row   first row of out in this block                              0, 128, 256, ...
    first_col   the same along the columns                                  0, 128, 256, ...
    r, q        a row of a tile, or of a for the transposed tile; a float4  [0, SIDE), [0, 32)
    row         a row of a, or of out                                       [0, M)
    acc         this thread's accumulators, in registers                    8 x 8
    i, j        which of this thread's rows, and columns, of out            [0, PER_THREAD)
    THREADS     side of the block                                           16
    WIDTH       elements per 16-byte access (float4)                        4
    PER_THREAD  rows, and columns, of out per thread                        2 * WIDTH
    HALF        float4s from a thread's first square to its second          THREADS
    SIDE        rows, or columns, of out per block, THREADS * PER_THREAD    128
    DEPTH       depth of a tile along the summed axis                       16
    SHALLOW     the same with double buffering                              DEPTH / 2

All kernels, unless stated otherwise
    Dtypes     float32 in, float32 out, float32 accumulators
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, SIDE))
    Errors     the host function launches register_tile_2d for other sizes and addresses; the kernel
               assumes them, a.shape[1] == b.shape[0], and its block to be (THREADS, THREADS)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.kernels.matmul.naive import matmul_reference
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives import vectorized
from gpukit.primitives.unroll import unrolled
from gpukit.primitives.vectorized import WIDTH, load4, store4

THREADS = 16
PER_THREAD = 2 * WIDTH
HALF = THREADS
SIDE = THREADS * PER_THREAD
DEPTH = 16
SHALLOW = DEPTH // 2

# Float4s per row of a tile of a, and of b; rows that all threads together load at once.
A_FLOAT4S, B_FLOAT4S = DEPTH // WIDTH, SIDE // WIDTH
SHALLOW_FLOAT4S = SHALLOW // WIDTH
A_ROWS, B_ROWS = THREADS * THREADS // A_FLOAT4S, THREADS * THREADS // B_FLOAT4S

# The tile of a is transposed and stored element by element. A float4 of padding leaves a warp's
# stores one conflict of three in tiles DEPTH deep, none in those SHALLOW deep; for none in both,
# the width would have to be no multiple of a float4.
PADDED_SIDE = SIDE + WIDTH


def tiles_cost(
    m: int,
    n: int,
    k: int,
    itemsize: int = 4,
    *,
    cols: int = SIDE,
    rows: int = SIDE,
    depth: int = DEPTH,
) -> Cost:
    """Return the cost of kernels whose block computes cols x rows of out with tiles `depth` deep.

    Each block column loads all of a, each block row all of b; padding is multiplied too.
    """
    across, down, steps = ceil_div(n, cols), ceil_div(m, rows), ceil_div(k, depth)
    return Cost(
        bytes=itemsize * (m * k * across + k * n * down + m * n),
        flops=2 * across * cols * down * rows * steps * depth,
    )


@cuda.jit(device=True)
def float4_of(matrix, row, q):
    """Return float4 q of a row of a matrix, zeros outside."""
    zero = np.float32(0)
    if row < matrix.shape[0] and WIDTH * q < matrix.shape[1]:
        return load4(matrix[np.uint32(row)], np.uint32(q))
    return zero, zero, zero, zero


@cuda.jit(device=True)
def load_tile_of_a(a, a_tile, first_row, t, tid):
    """Load SIDE rows of a, DEPTH columns from t on, as columns of a_tile."""
    for step in range(SIDE // A_ROWS):
        r, q = tid // A_FLOAT4S + step * A_ROWS, tid % A_FLOAT4S
        float4 = float4_of(a, first_row + r, t // WIDTH + q)
        for part in range(WIDTH):
            a_tile[np.uint32(WIDTH * q + part), np.uint32(r)] = float4[part]


@cuda.jit(device=True)
def load_tile_of_b(b, b_tile, first_col, t, tid):
    """Load DEPTH rows of b from t on, SIDE columns, into b_tile."""
    for step in range(DEPTH // B_ROWS):
        r, q = np.uint32(tid // B_FLOAT4S + step * B_ROWS), np.uint32(tid % B_FLOAT4S)
        float4 = float4_of(b, t + r, first_col // WIDTH + q)
        store4(b_tile[r], q, float4[0], float4[1], float4[2], float4[3])


@cuda.jit(device=True)
def multiply_step(k, a_tile, b_tile, tx, ty, acc):
    """Add the products of column k of the tile of a and row k of that of b to a thread's acc."""
    a_low, a_high = load4(a_tile[k], ty), load4(a_tile[k], HALF + ty)
    b_low, b_high = load4(b_tile[k], tx), load4(b_tile[k], HALF + tx)
    for i in range(WIDTH):
        for j in range(WIDTH):
            acc[i, j] += a_low[i] * b_low[j]
            acc[i, WIDTH + j] += a_low[i] * b_high[j]
            acc[WIDTH + i, j] += a_high[i] * b_low[j]
            acc[WIDTH + i, WIDTH + j] += a_high[i] * b_high[j]


@cuda.jit(device=True)
def multiply_tiles(load_a, load_b, a, b, k_size, acc):
    """Sum a thread's products in acc, over tiles along k that load_a and load_b store.

    For the kernels in `nt` and `tn`: how a matrix is stored decides which of the loads above fits.
    """
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    tid = np.uint32(ty * THREADS + tx)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    a_tile = cuda.shared.array((DEPTH, PADDED_SIDE), np.float32, 16)
    b_tile = cuda.shared.array((DEPTH, PADDED_SIDE), np.float32, 16)
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            acc[i, j] = np.float32(0)
    for t in range(0, k_size, DEPTH):
        load_a(a, a_tile, first_row, t, tid)
        load_b(b, b_tile, first_col, t, tid)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        unrolled(DEPTH, multiply_step, a_tile, b_tile, tx, ty, acc)
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded


@cuda.jit(device=True)
def add_bias(bias, acc, first_col, tx):
    """Add bias[col] to a thread's sums of each column inside."""
    for j in range(PER_THREAD):
        col = first_col + (j // WIDTH * HALF + tx) * WIDTH + j % WIDTH
        if col < bias.shape[0]:
            value = bias[np.uint32(col)]
            for i in range(PER_THREAD):
                acc[i, j] += value


@cuda.jit(device=True)
def store_sums(acc, out, first_row, first_col, tx, ty):
    """Store a thread's sums to out, four at a time, as far as they are inside."""
    for i in range(PER_THREAD):
        row = first_row + (i // WIDTH * HALF + ty) * WIDTH + i % WIDTH
        for half in range(2):
            q, j = half * HALF + tx, half * WIDTH
            if row < out.shape[0] and first_col + WIDTH * q < out.shape[1]:
                float4 = first_col // WIDTH + q
                store4(out[row], float4, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_vectorized_kernel(a, b, out):
    """Multiply two matrices, 8 x 8 elements of out per thread, with 16-byte accesses.

    New here   float4 accesses: 16 bytes per load from global memory, and 4 loads from shared
               memory for 64 products where register_tile_2d has 16. The tile of a is transposed,
               so that a thread's rows are contiguous in it. The 16 steps through a tile
               are unrolled, which saves a counter, a jump and addresses in each. Indices
               are unsigned: Numba wraps negative indices around, as Python does, and that takes
               instructions. 84 of 100 instructions of the main loop are FFMAs at compute
               capability 9.0; in register_tile_2d 51 are
    Shapes     a (M, K), b (K, N), out (M, N); any M >= 1, K and N multiples of WIDTH >= WIDTH,
               C order, beginning at multiples of 16 bytes
    Shared     DEPTH * (SIDE + PADDED_SIDE) * 4 bytes, static
    Cost       bytes: 4 (M K ceil_div(N, SIDE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M and N rounded up to multiples of SIDE, K of DEPTH;
               barriers: 2 ceil_div(K, DEPTH)
    Source     Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance",
               2022, kernel 6
    """
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    tid = np.uint32(ty * THREADS + tx)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    a_tile = cuda.shared.array((DEPTH, PADDED_SIDE), np.float32, 16)
    b_tile = cuda.shared.array((DEPTH, SIDE), np.float32, 16)
    acc = cuda.local.array((PER_THREAD, PER_THREAD), np.float32)
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            acc[i, j] = np.float32(0)
    for t in range(0, a.shape[1], DEPTH):
        load_tile_of_a(a, a_tile, first_row, t, tid)
        load_tile_of_b(b, b_tile, first_col, t, tid)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        unrolled(DEPTH, multiply_step, a_tile, b_tile, tx, ty, acc)
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    store_sums(acc, out, first_row, first_col, tx, ty)


@cuda.jit(device=True)
def store_float4s(a_float4, b_float4, a_tile, b_tile, tid):
    """Store a thread's float4 of a, as part of a column, and its float4 of b to the tiles."""
    r, q = np.uint32(tid // SHALLOW_FLOAT4S), np.uint32(tid % SHALLOW_FLOAT4S)
    for part in range(WIDTH):
        a_tile[np.uint32(WIDTH * q + part), r] = a_float4[part]
    r, q = np.uint32(tid // B_FLOAT4S), np.uint32(tid % B_FLOAT4S)
    store4(b_tile[r], q, b_float4[0], b_float4[1], b_float4[2], b_float4[3])


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_double_buffered_kernel(a, b, out):
    """Multiply two matrices with double buffering: load the next tiles while multiplying.

    New here   two tiles of a and two of b, in turns: one is read while the other is written. Each
               thread loads its float4s of the next tiles before it multiplies, and stores them
               afterwards; by then they have arrived, and the block never stalls on memory with
               nothing to compute. One barrier per tile instead of two. Tiles are half as
               deep, so that two take no more shared memory and a thread holds one float4 of each
    Shapes     a (M, K), b (K, N), out (M, N); any M >= 1, K and N multiples of WIDTH >= WIDTH,
               C order, beginning at multiples of 16 bytes
    Shared     2 * SHALLOW * (SIDE + PADDED_SIDE) * 4 bytes, static
    Cost       bytes: 4 (M K ceil_div(N, SIDE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M and N rounded up to multiples of SIDE, K of SHALLOW;
               barriers: 1 + ceil_div(K, SHALLOW)
    Source     Nath, Tomov and Dongarra, "An Improved MAGMA GEMM for Fermi GPUs", 2010
    """
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    tid = np.uint32(ty * THREADS + tx)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    a_tiles = cuda.shared.array((2, SHALLOW, PADDED_SIDE), np.float32, 16)
    b_tiles = cuda.shared.array((2, SHALLOW, SIDE), np.float32, 16)
    acc = cuda.local.array((PER_THREAD, PER_THREAD), np.float32)
    for i in range(PER_THREAD):
        for j in range(PER_THREAD):
            acc[i, j] = np.float32(0)
    a_row, a_q = np.uint32(first_row + tid // SHALLOW_FLOAT4S), np.uint32(tid % SHALLOW_FLOAT4S)
    b_row, b_q = np.uint32(tid // B_FLOAT4S), np.uint32(first_col // WIDTH + tid % B_FLOAT4S)
    a_float4, b_float4 = float4_of(a, a_row, a_q), float4_of(b, b_row, b_q)
    store_float4s(a_float4, b_float4, a_tiles[0], b_tiles[0], tid)
    cuda.syncthreads()  # the first tiles are written
    present = np.uint32(0)
    for following in range(SHALLOW, a.shape[1] + SHALLOW, SHALLOW):
        a_float4 = float4_of(a, a_row, following // WIDTH + a_q)  # zeros after the last tile
        b_float4 = float4_of(b, following + b_row, b_q)
        unrolled(SHALLOW, multiply_step, a_tiles[present], b_tiles[present], tx, ty, acc)
        present = np.uint32(1 - present)
        store_float4s(a_float4, b_float4, a_tiles[present], b_tiles[present], tid)
        cuda.syncthreads()  # the next tiles are written, and all threads have read the current ones
    store_sums(acc, out, first_row, first_col, tx, ty)


def fits(a: Any, b: Any, out: Any) -> bool:
    """Return whether all rows allow 16-byte access: sizes, order and addresses of the matrices."""
    whole = all(x.shape[1] % WIDTH == 0 for x in (a, b, out))
    return whole and all(launch.is_contiguous(x) and vectorized.is_aligned(x) for x in (a, b, out))


_variant = functools.partial(
    Variant,
    reference=matmul_reference,
    block=(THREADS, THREADS),
    tile=(SIDE, SIDE),
    dtypes=(np.float32,),
    instead="register_tile_2d",
)
VARIANTS = (
    _variant("vectorized", matmul_vectorized_kernel, tiles_cost),
    _variant(
        "double_buffered",
        matmul_double_buffered_kernel,
        functools.partial(tiles_cost, depth=SHALLOW),
    ),
)
__all__ = launch.public_names(globals())
