"""Matrix product on tensor cores in TF32: a warp multiplies small matrices in one instruction.

`primitives.tensor` documents which elements of the small matrices a thread holds. Elements are
rounded to TF32, 10 bits of fraction instead of 23, on their way to shared memory: that makes
these variants fast, and less accurate. A block computes SIDE x SIDE elements of out with 8 warps,
each 64 x 32 of them: 4 x 4 products of ROWS x COLS. As in `vectorized`, whose rules for sizes and
addresses apply here too, rows are moved as float4s, and the next tiles are loaded while the current
ones are multiplied.

Legend
    M, N, K     rows of a, columns of b, and the summed axis        131, 132, 36
    following   start of the next tiles along the summed axis       16, 32, ...
    k           a step of STEP within a tile                        [0, DEPTH / STEP)
    tid         the thread in its block, in row-major order         [0, 256)
    lane        the thread in its warp                              [0, WARP)
    group       the thread's row, or column, within a small matrix  [0, WARP / 4)
    in_group       the thread within its group                         [0, 4)
    top, left   first row and column of the warp within the block   0, 64; 0, 32, 64, 96
    first_row   first row of out in this block                      0, 128, 256, ...
    first_col   the same along the columns                          0, 128, 256, ...
    r, q        a row of a tile; a float4 of that row               [0, SIDE), [0, 32)
    acc         this thread's accumulators, in registers            4 x 4 x 4
    i, j        which of a warp's small matrices, down and across   [0, DOWN), [0, ACROSS)
    ROWS, COLS  size of one small product, STEP values deep         16, 8
    SIDE        rows, or columns, of out per block                  128
    DEPTH       depth of a tile along the summed axis               16
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.kernels.matmul.vectorized import (
    A_FLOAT4S,
    A_ROWS,
    B_FLOAT4S,
    B_ROWS,
    DEPTH,
    SIDE,
    THREADS,
    float4_of,
    tiles_cost,
)
from gpukit.launch import Variant
from gpukit.primitives import tensor
from gpukit.primitives.tensor import mma_tf32, to_tf32
from gpukit.primitives.unroll import unrolled
from gpukit.primitives.vectorized import WIDTH, store4

WARP = 32
ROWS, COLS, STEP = 16, 8, 8
DOWN, ACROSS = 4, 4
WARPS_ACROSS = SIDE // (COLS * ACROSS)
STEPS = DEPTH // STEP
LOADS = SIDE // A_ROWS  # float4s of each tile per thread

# Padding puts the loads of a warp in different banks: 8 groups of 4 threads each. The stores of two
# rows of a conflict in some of them; loads are three times as many.
PADDED_DEPTH = DEPTH + 4
PADDED_SIDE = SIDE + 8


def matmul_tf32_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the product of a and b rounded to TF32, accumulated in float64."""
    rounded = tensor.tf32(np.asarray(a, np.float32)), tensor.tf32(np.asarray(b, np.float32))
    return rounded[0].astype(np.float64) @ rounded[1].astype(np.float64)


@cuda.jit(device=True)
def fetch(a, b, first_row, first_col, t, tid, a_float4s, b_float4s):
    """Load a thread's float4s of the tiles that begin at t into registers, zeros outside."""
    for load in range(LOADS):
        r, q = tid // A_FLOAT4S + load * A_ROWS, tid % A_FLOAT4S
        float4 = float4_of(a, first_row + r, t // WIDTH + q)
        for part in range(WIDTH):
            a_float4s[load, part] = float4[part]
        r, q = tid // B_FLOAT4S + load * B_ROWS, tid % B_FLOAT4S
        float4 = float4_of(b, t + r, first_col // WIDTH + q)
        for part in range(WIDTH):
            b_float4s[load, part] = float4[part]


@cuda.jit(device=True)
def put(a_float4s, b_float4s, a_tile, b_tile, tid):
    """Round a thread's float4s to TF32 and store them to the tiles."""
    for load in range(LOADS):
        r, q = np.uint32(tid // A_FLOAT4S + load * A_ROWS), np.uint32(tid % A_FLOAT4S)
        v0, v1 = to_tf32(a_float4s[load, 0]), to_tf32(a_float4s[load, 1])
        v2, v3 = to_tf32(a_float4s[load, 2]), to_tf32(a_float4s[load, 3])
        store4(a_tile[r], q, v0, v1, v2, v3)
        r, q = np.uint32(tid // B_FLOAT4S + load * B_ROWS), np.uint32(tid % B_FLOAT4S)
        v0, v1 = to_tf32(b_float4s[load, 0]), to_tf32(b_float4s[load, 1])
        v2, v3 = to_tf32(b_float4s[load, 2]), to_tf32(b_float4s[load, 3])
        store4(b_tile[r], q, v0, v1, v2, v3)


@cuda.jit(device=True)
def tensor_step(k, a_tile, b_tile, top, left, lane, acc):
    """Add the products of STEP columns of the tile of a and STEP rows of that of b to acc."""
    group, in_group = lane // 4, lane % 4
    b_low = cuda.local.array(ACROSS, np.float32)
    b_high = cuda.local.array(ACROSS, np.float32)
    for j in range(ACROSS):
        r, c = np.uint32(STEP * k + in_group), np.uint32(left + COLS * j + group)
        b_low[j], b_high[j] = b_tile[r, c], b_tile[np.uint32(r + 4), c]
    for i in range(DOWN):
        r, c = np.uint32(top + ROWS * i + group), np.uint32(STEP * k + in_group)
        low_r, high_c = np.uint32(r + 8), np.uint32(c + 4)
        a0, a1 = a_tile[r, c], a_tile[low_r, c]
        a2, a3 = a_tile[r, high_c], a_tile[low_r, high_c]
        for j in range(ACROSS):
            c0, c1, c2, c3 = mma_tf32(
                a0, a1, a2, a3, b_low[j], b_high[j],
                acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3],
            )  # fmt: skip
            acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3] = c0, c1, c2, c3


@cuda.jit(launch_bounds=(THREADS * THREADS, 2))
def matmul_tensor_tf32_kernel(a, b, out):
    """Multiply two matrices on tensor cores, in TF32.

    New here   one instruction multiplies a 16 x 8 and an 8 x 8 matrix for the whole warp: 2048
               floating-point operations, where an FFMA of a warp does 64. A thread loads 6
               elements for it and holds 4 of the sums. The other instructions, which the variants
               before had to reduce, no longer limit the rate: the loads of tiles do, and the
               next ones are in flight meanwhile
    Shapes     a (M, K), b (K, N), out (M, N); any M >= 1, K and N multiples of 4 >= 4,
               C order, beginning at multiples of 16 bytes
    Dtypes     float32 in, rounded to TF32, float32 out, float32 accumulators
    Launch     block (THREADS, THREADS), grid (ceil_div(N, SIDE), ceil_div(M, SIDE))
    Shared     2 * (SIDE * PADDED_DEPTH + DEPTH * PADDED_SIDE) * 4 bytes, static
    Cost       bytes: 4 (M K ceil_div(N, SIDE) + K N ceil_div(M, SIDE) + M N);
               flops: 2 M' N' K', with M and N rounded up to multiples of SIDE, K of DEPTH;
               barriers: 1 + ceil_div(K, DEPTH)
    Errors     the host function launches another variant for other sizes and addresses; the kernel
               assumes them, a.shape[1] == b.shape[0], and its block to be (THREADS, THREADS)
    Source     NVIDIA, "Parallel Thread Execution ISA", mma.m16n8k8
    """
    tid = np.uint32(cuda.threadIdx.y * THREADS + cuda.threadIdx.x)
    first_row, first_col = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
    warp, lane = np.uint32(tid // WARP), np.uint32(tid % WARP)
    top = np.uint32(warp // WARPS_ACROSS * (ROWS * DOWN))
    left = np.uint32(warp % WARPS_ACROSS * (COLS * ACROSS))
    a_tiles = cuda.shared.array((2, SIDE, PADDED_DEPTH), np.float32, 16)
    b_tiles = cuda.shared.array((2, DEPTH, PADDED_SIDE), np.float32, 16)
    a_float4s = cuda.local.array((LOADS, WIDTH), np.float32)
    b_float4s = cuda.local.array((LOADS, WIDTH), np.float32)
    acc = cuda.local.array((DOWN, ACROSS, 4), np.float32)
    for i in range(DOWN):
        for j in range(ACROSS):
            for part in range(4):
                acc[i, j, part] = np.float32(0)
    fetch(a, b, first_row, first_col, 0, tid, a_float4s, b_float4s)
    put(a_float4s, b_float4s, a_tiles[0], b_tiles[0], tid)
    cuda.syncthreads()  # the first tiles are written
    present = np.uint32(0)
    for following in range(DEPTH, a.shape[1] + DEPTH, DEPTH):
        fetch(a, b, first_row, first_col, following, tid, a_float4s, b_float4s)
        unrolled(STEPS, tensor_step, a_tiles[present], b_tiles[present], top, left, lane, acc)
        present = np.uint32(1 - present)
        put(a_float4s, b_float4s, a_tiles[present], b_tiles[present], tid)
        cuda.syncthreads()  # the next tiles are written, and all threads have read the current ones
    for i in range(DOWN):
        for j in range(ACROSS):
            row = first_row + top + ROWS * i + lane // 4
            col = first_col + left + COLS * j + lane % 4 * 2
            for half in range(2):
                if row + 8 * half < out.shape[0] and col < out.shape[1]:
                    out[row + 8 * half, col] = acc[i, j, 2 * half]
                    out[row + 8 * half, col + 1] = acc[i, j, 2 * half + 1]


VARIANTS = (
    Variant(
        "tensor_tf32",
        matmul_tensor_tf32_kernel,
        tiles_cost,
        matmul_tf32_reference,
        (THREADS, THREADS),
        (SIDE, SIDE),
        (np.float32,),
        needs=(tensor.LEAST, launch.NEWEST),
        instead="register_tile_2d",
    ),
)
__all__ = launch.public_names(globals())
