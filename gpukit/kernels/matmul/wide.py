"""Matrix product, the fast variants: 16-byte accesses, and a main loop of little but additions.

The variants before show the ideas; these leave a GPU's float units almost nothing else to do. A
block computes SIDE x SIDE elements of out, a thread 8 x 8 of them: two by two squares of WIDTH x
WIDTH, half a SIDE apart, so that the threads of a warp read neighbouring float4s. Rows are moved in
float4s, so K and N must be multiples of WIDTH and the matrices begin at multiples of 16 bytes;
`matmul` takes another variant where they are not.

Legend
    M, N, K     rows of a, columns of b, and the axis that is summed away   131, 132, 36
    t           where the present tiles begin along the summed axis         0, 16, 32, ...
    k           the step within a tile                                      [0, DEPTH)
    tx, ty      the thread's column and row in its block                    [0, THREADS)
    tid         the thread in its block, row after row                      [0, THREADS * THREADS)
    first_row   where the part of out that a block computes begins          0, 128, 256, ...
    first_col   the same along the columns                                  0, 128, 256, ...
    r, q        a row of a tile, or of a for the tile on its side; a float4   [0, SIDE), [0, 32)
    row         a row of a, or of out                                       [0, M)
    acc         the sums that a thread holds in registers                   8 x 8
    i, j        which of a thread's own rows, columns of out                [0, PER_THREAD)
    THREADS     side of the block                                           16
    WIDTH       elements that are moved at once: a float4                     4
    PER_THREAD  how many rows, and how many columns, a thread has           2 * WIDTH
    HALF        float4s from the first of a thread's squares to its second    THREADS
    SIDE        what a block has of them, THREADS * PER_THREAD              128
    DEPTH       how deep its tiles are                                      16
    SHALLOW     how deep they are where there are two of each, by turns     DEPTH / 2

All kernels, unless one says otherwise
    Dtypes     float32 in, float32 out, float32 accumulators
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, SIDE))
    Errors     the host function takes register_tile_2d for other sizes and addresses; the kernel
               assumes them, a.shape[1] == b.shape[0], and its block to be (THREADS, THREADS)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.kernels.matmul.naive import matmul_reference
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives import wide
from gpukit.primitives.unroll import unrolled
from gpukit.primitives.wide import WIDTH, load4, store4

THREADS = 16
PER_THREAD = 2 * WIDTH
HALF = THREADS
SIDE = THREADS * PER_THREAD
DEPTH = 16
SHALLOW = DEPTH // 2

# Float4s of one row of a tile of a, and of b; rows that all threads together load in one go.
A_FLOAT4S, B_FLOAT4S = DEPTH // WIDTH, SIDE // WIDTH
SHALLOW_FLOAT4S = SHALLOW // WIDTH
A_ROWS, B_ROWS = THREADS * THREADS // A_FLOAT4S, THREADS * THREADS // B_FLOAT4S

# The tile of a lies on its side, filled element by element. One float4 that nobody uses leaves a
# warp's stores one conflict of three in tiles DEPTH deep, none in those SHALLOW deep; none in both
# would take a width that is no multiple of a float4.
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
    """Leave in acc a thread's sums of products, of tiles that load_a and load_b fill, k downwards.

    For the forms in `nt` and `tn`: which of the loads above fits depends on how a matrix lies.
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
        cuda.syncthreads()  # both tiles are full before any thread reads them
        unrolled(DEPTH, multiply_step, a_tile, b_tile, tx, ty, acc)
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones


@cuda.jit(device=True)
def add_bias(bias, acc, first_col, tx):
    """Add bias[col] to a thread's sums of each of its columns inside."""
    for j in range(PER_THREAD):
        col = first_col + (j // WIDTH * HALF + tx) * WIDTH + j % WIDTH
        if col < bias.shape[0]:
            value = bias[np.uint32(col)]
            for i in range(PER_THREAD):
                acc[i, j] += value


@cuda.jit(device=True)
def store_sums(acc, out, first_row, first_col, tx, ty):
    """Store a thread's sums to out, four at once, as far as they lie inside."""
    for i in range(PER_THREAD):
        row = first_row + (i // WIDTH * HALF + ty) * WIDTH + i % WIDTH
        for half in range(2):
            q, j = half * HALF + tx, half * WIDTH
            if row < out.shape[0] and first_col + WIDTH * q < out.shape[1]:
                float4 = first_col // WIDTH + q
                store4(out[row], float4, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_vectorised_kernel(a, b, out):
    """Multiply two matrices, one thread for 8 x 8 elements of out, four elements in each access.

    New here   a float4 for each access: 16 bytes from global memory, and from shared memory 4
               loads for 64 products where register_tile_2d has 16. The tile of a lies on its
               side, so that a thread's rows are neighbours in it. The 16 steps through a tile
               are written out, which saves a counter, a jump and addresses at each. And indices
               are unsigned: one that could be negative would be counted from the end, as in
               Python, and cost instructions. Of the main loop's 84 of 100 multiply and add at
               compute capability 9.0, where register_tile_2d has 51
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
        cuda.syncthreads()  # both tiles are full before any thread reads them
        unrolled(DEPTH, multiply_step, a_tile, b_tile, tx, ty, acc)
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
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
    """Multiply two matrices, loading the next tiles while the present ones are multiplied.

    New here   two tiles of a and two of b, by turns: one is read while the other is filled. Each
               thread asks for its float4s of the next tiles before it multiplies, and stores them
               when it is done; by then they are there, and the block never waits for memory
               with nothing to do. One barrier for each tile instead of two. Tiles are half as
               deep, so that two take no more room and a thread holds one float4 of each
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
    cuda.syncthreads()  # the first tiles are full
    present = np.uint32(0)
    for following in range(SHALLOW, a.shape[1] + SHALLOW, SHALLOW):
        a_float4 = float4_of(a, a_row, following // WIDTH + a_q)  # zeros behind the last tile
        b_float4 = float4_of(b, following + b_row, b_q)
        unrolled(SHALLOW, multiply_step, a_tiles[present], b_tiles[present], tx, ty, acc)
        present = np.uint32(1 - present)
        store_float4s(a_float4, b_float4, a_tiles[present], b_tiles[present], tid)
        cuda.syncthreads()  # the next tiles are full, and all have read the present ones
    store_sums(acc, out, first_row, first_col, tx, ty)


def fits(a: Any, b: Any, out: Any) -> bool:
    """Whether all rows can be moved as float4s: sizes, order and addresses of three matrices."""
    whole = all(x.shape[1] % WIDTH == 0 for x in (a, b, out))
    return whole and all(launch.is_contiguous(x) and wide.is_aligned(x) for x in (a, b, out))


_variant = functools.partial(
    Variant,
    reference=matmul_reference,
    block=(THREADS, THREADS),
    tile=(SIDE, SIDE),
    dtypes=(np.float32,),
    instead="register_tile_2d",
)
VARIANTS = (
    _variant("vectorised", matmul_vectorised_kernel, tiles_cost),
    _variant(
        "double_buffered",
        matmul_double_buffered_kernel,
        functools.partial(tiles_cost, depth=SHALLOW),
    ),
)
__all__ = launch.public_names(globals())
