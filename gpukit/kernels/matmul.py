"""Matrix product: out = a b, from one thread for one element to tiles in shared memory.

Legend
    M, N, K   rows of a, columns of b, and the axis that is summed away      31, 65, 33
    row, col  the element of out that this thread computes                   [0, M), [0, N)
    k         the summed axis, within a tile in the tiled kernel             [0, K) or [0, TILE)
    t         where the present tile begins along the summed axis            0, 16, 32, ...
    tx, ty    the thread's column and row in its block                       [0, TILE)
    TILE      side of the block and of both tiles                            16
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.launch import Cost, Rung, ceil_div

TILE = 16


# --- Reference -------------------------------------------------------------------------------


def matmul_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a b, summed in float64: the error of a float32 sum would hide the kernel's own."""
    return np.asarray(a, np.float64) @ np.asarray(b, np.float64)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matmul_naive_kernel(a, b, out):
    """Multiply two matrices, one thread for one element of out.

    New here   each thread walks a row of a and a column of b; threads side by side share each
               element of a and read neighbouring elements of b, so both loads are coalesced
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 in, float32 out, float32 accumulator
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     0 bytes
    Cost       bytes: 4 M N (2 K + 1); flops: 2 M N K; barriers: 0
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them equal
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 3
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = np.float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc


def matmul_naive_cost(m: int, n: int, k: int) -> Cost:
    """For each element of out: 2 K loads and one store, K multiplications and K additions."""
    return Cost(bytes=4 * m * n * (2 * k + 1), flops=2 * m * n * k)


@cuda.jit
def matmul_tiled_kernel(a, b, out):
    """Multiply two matrices, one block for one TILE x TILE tile of out.

    New here   the threads of a block load a tile of a and a tile of b together, once, into
               shared memory, and each then reads 2 TILE values from there: TILE times fewer
               loads from global memory; what lies outside the matrices is loaded as zero
    Shapes     a (M, K), b (K, N), out (M, N); any sizes >= 1, C order
    Dtypes     float32 in, float32 out, float32 accumulator
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     2 * TILE * TILE * 4 bytes, static
    Cost       bytes: 4 (M K ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 M' N' K', each size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Errors     the host function rejects a.shape[1] != b.shape[0]; the kernel assumes them
               equal, and its block to be exactly (TILE, TILE)
    Source     Kirk and Hwu, Programming Massively Parallel Processors, 4th ed., chapter 5
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc = np.float32(0)
    for t in range(0, k_size, TILE):
        # Guarded loads, not an early return: every thread must reach the barriers.
        a_tile[ty, tx] = a[row, t + tx] if row < m and t + tx < k_size else np.float32(0)
        b_tile[ty, tx] = b[t + ty, col] if t + ty < k_size and col < n else np.float32(0)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    if row < m and col < n:
        out[row, col] = acc


def matmul_tiled_cost(m: int, n: int, k: int) -> Cost:
    """Each block column loads all of a, each block row all of b; padding is multiplied too."""
    blocks_m, blocks_n, tiles = ceil_div(m, TILE), ceil_div(n, TILE), ceil_div(k, TILE)
    return Cost(
        bytes=4 * (m * k * blocks_n + k * n * blocks_m + m * n),
        flops=2 * blocks_m * blocks_n * tiles * TILE**3,
    )


# --- Host function ---------------------------------------------------------------------------


def matmul(a: Any, b: Any, *, rung: str = "tiled", out: Any = None, stream: Any = 0) -> Any:
    """Return the matrix product of two float32 matrices.

    (M, K) and (K, N) give (M, N): `[[1. 2.]] @ [[3.] [4.]]` is `[[11.]]`. A sum over K = 0 is
    zero. The result is a device array if a or b is one; written to `out` where it is given.
    Raises TypeError for another dtype, ValueError for shapes that do not fit or an unknown rung,
    LaunchError (a ValueError) for M above 65535 * TILE.
    """
    kernel = launch.pick("matmul", LADDER, rung).kernel
    a, b = launch.adopt(a), launch.adopt(b)
    _check_operands(a, b)
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    result = launch.Result("matmul", out, (m, n), np.float32, a, b, stream=stream)
    if k == 0:  # a product of zeros has the same shape and something to multiply
        a, b = np.zeros((m, 1), np.float32), np.zeros((1, n), np.float32)
    if m and n:
        grid = launch.grid_2d("matmul", n, m, (TILE, TILE))
        inputs = launch.to_device(a, stream), launch.to_device(b, stream)
        kernel[grid, (TILE, TILE), stream](*inputs, result.array)
    return result.get()


def _check_operands(a: Any, b: Any) -> None:
    """Raise unless a and b are float32 matrices that can be multiplied."""
    for name, array in (("a", a), ("b", b)):
        launch.check_array("matmul", name, array, ndim=2, dtypes=(np.float32,))
    if a.shape[1] != b.shape[0]:
        transposed = a.shape[1] == b.shape[1]
        advice = "Did you mean b.T?" if transposed else "The inner sizes must agree."
        raise ValueError(
            "matmul: expected a.shape[1] == b.shape[0], "
            f"got {tuple(a.shape)} and {tuple(b.shape)}. {advice}"
        )


LADDER = (
    Rung("naive", matmul_naive_kernel, matmul_naive_cost),
    Rung("tiled", matmul_tiled_kernel, matmul_tiled_cost),
)
