"""Matrix product of bfloat16 on tensor cores, with asynchronous copies to shared memory.

A bfloat16 has the range of float32 and 7 of its 23 bits of fraction, in half the bytes: half the
traffic, and tensor cores that are twice as fast as with TF32. Sums are float32. NumPy has no such
type; its bits are held in uint16 here, as in `primitives.tensor`. Rows are copied to shared memory
16 bytes at a time by `primitives.async_copy`, without a register in between, while earlier tiles
are multiplied. There they are stored as small matrices of EIGHT x EIGHT, 128 bytes each without
padding: in that layout both kinds of tensor core load them without bank conflicts.

Legend
    M, N, K     rows of a, columns of b, and the summed axis              131, 136, 40
    t           start of the current tiles along the summed axis          0, 32, 64, ...
    tid         the thread in its block, in row-major order               [0, 256)
    lane        the thread in its warp                                    [0, WARP)
    top, left   first row and column of the warp in the block, in EIGHTs  0, 8; 0, 4, 8, 12
    first_row   first row of out in this block                            0, 128, 256, ...
    first_col   the same along the columns                                0, 128, 256, ...
    square      index of a copy among those of all warps for one tile     [0, 16)
    r, c        a small matrix within a tile: its row and its column      [0, 16), [0, 4)
    stage       the buffer of a, and of b                                 [0, STAGES)
    acc         this thread's accumulators, in registers                  4 x 4 x 4, 2 x 64
    i, j        which of a warp's products, down and across               [0, DOWN), [0, ACROSS)
    EIGHT       side of a small matrix, and elements per 16 bytes         8
    SIDE        columns, or rows, of out per block                        128
    TALL        rows of out per block in the kernel for Hopper            256
    DEPTH       depth of a tile along the summed axis                     32
    STAGES      buffers of each matrix: one multiplied, two in flight     3
    TALL_STAGES the same in the kernel for Hopper, whose tiles are larger  2

All kernels, unless stated otherwise
    Dtypes     uint16 in, the bits of bfloat16, float32 out, float32 accumulators
    Errors     the host function converts any matrix to this form; the kernel assumes it, and its
               block to be (THREADS, THREADS)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.matmul.vectorized import SIDE, THREADS
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives import tensor, vectorized, warpgroup
from gpukit.primitives.async_copy import commit, copy16, wait
from gpukit.primitives.tensor import load_square, load_square_transposed, mma_bf16, to_bf16
from gpukit.primitives.unroll import unrolled
from gpukit.primitives.warpgroup import begin, fence_shared, finish, wgmma

WARP = 32
WARPS = THREADS * THREADS // WARP
EIGHT = 8
DEPTH = 32
STEP = 16  # depth of one product along the summed axis
STEPS = DEPTH // STEP
TILES = SIDE // EIGHT  # small matrices along a side
DEEP = DEPTH // EIGHT  # and along the summed axis
STAGES = 3
AHEAD = STAGES - 1
IN_FLIGHT = AHEAD - 1  # copies in flight when the current tile is needed

# The warps of a block: 2 x 4, each with 64 x 32 of out, in 4 x 4 products of 16 x 8.
DOWN, ACROSS = 4, 4
PAIRS = ACROSS // 2
WARPS_ACROSS = SIDE // (EIGHT * ACROSS)

# On Hopper a warpgroup computes two times 64 x 128.
TALL = 2 * SIDE
TALL_TILES = TALL // EIGHT
TALL_STAGES = 2
SUMS = warpgroup.SUMS
GROUP_ROWS = 64 // EIGHT


# --- References ------------------------------------------------------------------------------


def round_bf16_reference(x: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Return the bits of the bfloat16 nearest to each element."""
    return tensor.bf16(x)


def matmul_bf16_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the product of a and b rounded to bfloat16, accumulated in float64.

    uint16 are the bits of bfloat16.
    """
    given = (np.asarray(a), np.asarray(b))
    bits = [x if x.dtype == np.uint16 else tensor.bf16(x) for x in given]
    left, right = (tensor.from_bf16(x).astype(np.float64) for x in bits)
    return left @ right


# --- Rounding --------------------------------------------------------------------------------


@cuda.jit
def round_bf16_kernel(x, out):
    """Round a matrix to bfloat16, one element of out per thread.

    New here   half the bytes. The rows of out may be longer than those of x: they are padded
               with zeros, which change no sum, so that rows of any length
               become multiples of 16 bytes
    Shapes     x (M, N), out (M, N') with N' >= N; any sizes >= 1, C order
    Dtypes     float32 in, uint16 out: the bits of bfloat16
    Launch     block (WARP, 8), grid (ceil_div(N', 32), ceil_div(M, 8)); x = col, y = row
    Cost       bytes: 4 M N + 2 M N'; flops: 0; barriers: 0
    Errors     the host function makes out; the kernel assumes out.shape[0] == x.shape[0]
    Source     gpukit
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        value = np.float32(0)
        if col < x.shape[1]:
            value = x[row, col]
        out[row, col] = to_bf16(value)


def round_bf16_cost(m: int, n: int, wide_n: int) -> Cost:
    """One load per element of x, one store per element of out."""
    return Cost(bytes=4 * m * n + 2 * m * wide_n, flops=0)


# --- Tiles -----------------------------------------------------------------------------------


@cuda.jit(device=True)
def copy_tile(matrix, first_row, first_col, tile, tid):
    """Issue the copies of the tile of a matrix at (first_row, first_col), zeros outside.

    A warp copies four adjacent small matrices at a time: the 64 bytes of each of 8 rows are
    two whole sectors, and the stores go to different banks.
    """
    lane = np.uint32(tid % WARP)
    down, right = np.uint32(lane % EIGHT), np.uint32(lane // EIGHT)
    across = np.uint32(tile.shape[1] // DEEP)
    for turn in range(tile.shape[0] * tile.shape[1] // DEEP // WARPS):
        square = np.uint32(turn * WARPS + tid // WARP)
        r, c = np.uint32(square // across), np.uint32(square % across * DEEP + right)
        row, col = first_row + r * EIGHT + down, first_col + c * EIGHT
        inside = row < matrix.shape[0] and col < matrix.shape[1]
        source = np.uint32(row) if inside else np.uint32(0)
        copy16(tile[r, c, down], 0, matrix[source], np.uint32(col // EIGHT), inside)


@cuda.jit(device=True)
def bf16_step(k, a_tile, b_tile, top, left, acc):
    """Add the products of STEP columns of the tile of a and STEP rows of that of b to acc."""
    between = np.uint32(2 * k)
    b_low = cuda.local.array(ACROSS, np.uint32)
    b_high = cuda.local.array(ACROSS, np.uint32)
    for pair in range(PAIRS):
        b0, b1, b2, b3 = load_square_transposed(b_tile, between, left + 2 * pair)
        b_low[2 * pair], b_high[2 * pair] = b0, b1
        b_low[2 * pair + 1], b_high[2 * pair + 1] = b2, b3
    for i in range(DOWN):
        a0, a1, a2, a3 = load_square(a_tile, top + 2 * i, between)
        for j in range(ACROSS):
            c0, c1, c2, c3 = mma_bf16(
                a0, a1, a2, a3, b_low[j], b_high[j],
                acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3],
            )  # fmt: skip
            acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3] = c0, c1, c2, c3


@cuda.jit(device=True)
def store_two(out, row, col, low, high):
    """Store two adjacent sums, as far as they are inside; the number of columns may be odd."""
    if row < out.shape[0]:
        if col < out.shape[1]:
            out[row, col] = low
        if col + 1 < out.shape[1]:
            out[row, col + 1] = high


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_tensor_bf16_kernel(a, b, out):
    """Multiply two matrices of bfloat16 on tensor cores, with asynchronous copies (cp.async).

    New here   tiles are copied to shared memory without passing through registers, and no thread
               waits for them: while one pair of tiles is multiplied two more are in flight. One
               instruction (ldmatrix) then loads a warp's part of four small matrices, another
               multiplies 16 x 16 by 16 x 8, twice as much as in TF32. The pairs of b in a product
               run down a column, but rows are stored: the load transposes
    Shapes     a (M, K'), b (K, N'), out (M, N) with K <= K' and N <= N', which are multiples of
               EIGHT; any sizes >= 1, zeros in the columns of a that b has no rows for, C order, a
               and b beginning at multiples of 16 bytes
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, SIDE))
    Shared     2 * STAGES * SIDE * DEPTH * 2 bytes, static
    Cost       bytes: 2 M K' ceil_div(N, SIDE) + 2 K N' ceil_div(M, SIDE) + 4 M N;
               flops: 2 M" N" K", with M and N rounded up to multiples of SIDE, K of DEPTH;
               barriers: ceil_div(K', DEPTH)
    Source     NVIDIA, "Parallel Thread Execution ISA", cp.async, ldmatrix, mma.m16n8k16
    """
    tid = np.uint32(cuda.threadIdx.y * THREADS + cuda.threadIdx.x)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    warp, lane = np.uint32(tid // WARP), np.uint32(tid % WARP)
    top = np.uint32(warp // WARPS_ACROSS * (2 * DOWN))
    left = np.uint32(warp % WARPS_ACROSS * ACROSS)
    a_tiles = cuda.shared.array((STAGES, TILES, DEEP, EIGHT, EIGHT), np.uint16, 16)
    b_tiles = cuda.shared.array((STAGES, DEEP, TILES, EIGHT, EIGHT), np.uint16, 16)
    acc = cuda.local.array((DOWN, ACROSS, 4), np.float32)
    for i in range(DOWN):
        for j in range(ACROSS):
            for part in range(4):
                acc[i, j, part] = np.float32(0)
    for stage in range(AHEAD):
        copy_tile(a, first_row, np.uint32(stage * DEPTH), a_tiles[stage], tid)
        copy_tile(b, np.uint32(stage * DEPTH), first_col, b_tiles[stage], tid)
        commit()
    present, coming = np.uint32(0), np.uint32(AHEAD)
    for t in range(0, a.shape[1], DEPTH):
        wait(IN_FLIGHT)
        cuda.syncthreads()  # the current tiles are written, and all threads have read those before
        following = np.uint32(t + AHEAD * DEPTH)
        copy_tile(a, first_row, following, a_tiles[coming], tid)
        copy_tile(b, following, first_col, b_tiles[coming], tid)
        commit()
        unrolled(STEPS, bf16_step, a_tiles[present], b_tiles[present], top, left, acc)
        present = np.uint32((present + 1) % STAGES)
        coming = np.uint32((coming + 1) % STAGES)
    for i in range(DOWN):
        for j in range(ACROSS):
            row = first_row + (top + 2 * i) * EIGHT + lane // 4
            col = first_col + (left + j) * EIGHT + lane % 4 * 2
            store_two(out, row, col, acc[i, j, 0], acc[i, j, 1])
            store_two(out, row + EIGHT, col, acc[i, j, 2], acc[i, j, 3])


@cuda.jit(launch_bounds=(THREADS * THREADS, 1))
def matmul_warpgroup_bf16_kernel(a, b, out):
    """Multiply two matrices of bfloat16 on the tensor cores of Hopper.

    New here   no thread loads anything: four warps together name two tiles in shared memory, by
               start address and two strides, and the tensor cores fetch them. One instruction
               multiplies 64 x 16 by 16 x 128, and it is asynchronous too: issued first, waited
               for later. A block has twice as many rows as before, so b is loaded half as often;
               its larger tiles leave shared memory for two stages. On a GPU it needs compute
               capability 9.0, no other
    Shapes     a (M, K'), b (K, N'), out (M, N) with K <= K' and N <= N', which are multiples of
               EIGHT; any sizes >= 1, zeros in the columns of a that b has no rows for, C order, a
               and b beginning at multiples of 16 bytes
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, TALL))
    Shared     TALL_STAGES * (TALL + SIDE) * DEPTH * 2 bytes, static
    Cost       bytes: 2 M K' ceil_div(N, SIDE) + 2 K N' ceil_div(M, TALL) + 4 M N;
               flops: 2 M" N" K", with M rounded up to a multiple of TALL, N of SIDE, K of DEPTH;
               barriers: ceil_div(K', DEPTH)
    Source     NVIDIA, "Parallel Thread Execution ISA", wgmma.mma_async; the layout of the tiles
               is the one without swizzling
    """
    tid = np.uint32(cuda.threadIdx.y * THREADS + cuda.threadIdx.x)
    first_row, first_col = np.uint32(cuda.blockIdx.y * TALL), np.uint32(cuda.blockIdx.x * SIDE)
    upper = np.uint32(tid // warpgroup.THREADS * (2 * GROUP_ROWS))
    lower = np.uint32(upper + GROUP_ROWS)
    a_tiles = cuda.shared.array((TALL_STAGES, TALL_TILES, DEEP, EIGHT, EIGHT), np.uint16, 16)
    b_tiles = cuda.shared.array((TALL_STAGES, DEEP, TILES, EIGHT, EIGHT), np.uint16, 16)
    acc_upper = cuda.local.array(SUMS, np.float32)
    acc_lower = cuda.local.array(SUMS, np.float32)
    for n in range(SUMS):
        acc_upper[n] = acc_lower[n] = np.float32(0)
    copy_tile(a, first_row, np.uint32(0), a_tiles[0], tid)
    copy_tile(b, np.uint32(0), first_col, b_tiles[0], tid)
    commit()
    present = np.uint32(0)
    for t in range(0, a.shape[1], DEPTH):
        wait(0)
        fence_shared()
        cuda.syncthreads()  # the current tiles are written, and all threads have read those before
        following, coming = np.uint32(t + DEPTH), np.uint32(1 - present)
        copy_tile(a, first_row, following, a_tiles[coming], tid)
        copy_tile(b, following, first_col, b_tiles[coming], tid)
        commit()
        a_tile, b_tile = a_tiles[present], b_tiles[present]
        begin()
        wgmma(acc_upper, a_tile, upper, b_tile, 0, 0)
        wgmma(acc_lower, a_tile, lower, b_tile, 0, 0)
        wgmma(acc_upper, a_tile, upper, b_tile, 0, 2)
        wgmma(acc_lower, a_tile, lower, b_tile, 0, 2)
        finish()
        present = coming
    warp, lane = np.uint32(tid % warpgroup.THREADS // WARP), np.uint32(tid % WARP)
    row = np.uint32(first_row + upper * EIGHT + warp * STEP + lane // 4)
    for n in range(TILES):
        col = np.uint32(first_col + n * EIGHT + lane % 4 * 2)
        store_two(out, row, col, acc_upper[4 * n], acc_upper[4 * n + 1])
        store_two(out, row + EIGHT, col, acc_upper[4 * n + 2], acc_upper[4 * n + 3])
        store_two(out, row + 64, col, acc_lower[4 * n], acc_lower[4 * n + 1])
        store_two(out, row + 64 + EIGHT, col, acc_lower[4 * n + 2], acc_lower[4 * n + 3])


def bf16_cost(m: int, n: int, k: int, rows: int = SIDE) -> Cost:
    """Return the cost of kernels whose block computes SIDE columns and `rows` rows of out."""
    across, down, steps = ceil_div(n, SIDE), ceil_div(m, rows), ceil_div(k, DEPTH)
    return Cost(
        bytes=2 * (m * padded(k) * across + k * padded(n) * down) + 4 * m * n,
        flops=2 * across * SIDE * down * rows * steps * DEPTH,
    )


# --- Host ------------------------------------------------------------------------------------


def padded(n: int) -> int:
    """Return n rounded up to a multiple of EIGHT, the elements of 16 bytes."""
    return ceil_div(n, EIGHT) * EIGHT


def as_bf16(name: str, x: Any, stream: Any) -> Any:
    """Return a matrix as the kernels take it: bits of bfloat16, rows of a multiple of 16 bytes.

    float32 is rounded. uint16 are such bits already; they are used in place, or copied if
    their rows do not fit. Raises ValueError for those on a device, which the host cannot copy.
    """
    shape = (x.shape[0], padded(x.shape[1]))
    if x.dtype == np.uint16:
        if x.shape == shape and launch.is_contiguous(x) and vectorized.is_aligned(x):
            return launch.to_device(x, stream)
        if launch.is_device_array(x):
            raise ValueError(
                f"matmul: expected {name} of uint16 to be in C order, with rows of a multiple of "
                f"{EIGHT} elements from a multiple of 16 bytes on, got shape {tuple(x.shape)} with "
                f"strides {tuple(x.strides)}. Pass float32, which is rounded to such rows."
            )
        copy = np.zeros(shape, np.uint16)
        copy[:, : x.shape[1]] = x
        return launch.to_device(copy, stream)
    out = launch.empty(shape, np.uint16)
    variant = VARIANTS[0]
    grid = variant.grid("matmul", shape[1], shape[0])
    variant.kernel[grid, variant.block, stream](launch.to_device(x, stream), out)
    return out


_variant = functools.partial(
    Variant,
    reference=matmul_bf16_reference,
    block=(THREADS, THREADS),
    dtypes=(np.float32, np.uint16),
    instead="register_tile_2d",
)
MATMUL_VARIANTS = (
    _variant(
        "tensor_bf16",
        matmul_tensor_bf16_kernel,
        bf16_cost,
        tile=(SIDE, SIDE),
        needs=(tensor.LEAST, launch.NEWEST),
    ),
    _variant(
        "warpgroup_bf16",
        matmul_warpgroup_bf16_kernel,
        functools.partial(bf16_cost, rows=TALL),
        tile=(SIDE, TALL),
        needs=(warpgroup.ONLY, warpgroup.ONLY),
    ),
)
VARIANTS = (
    Variant(
        "round_bf16",
        round_bf16_kernel,
        round_bf16_cost,
        round_bf16_reference,
        (WARP, 8),
        dtypes=(np.float32,),
        needs=(tensor.LEAST, launch.NEWEST),
    ),
    *MATMUL_VARIANTS,
)
__all__ = launch.public_names(globals())
