"""Batched matrix product (bmm): many pairs of matrices in one launch, out[i] = a[i] b[i].

The matrices of a batch are often small, and one launch per pair would leave most of a GPU idle.

Legend
    B, batch  number of pairs of matrices, and the pair of this block  8, [0, B)
    M, N, K   rows of a[batch], columns of b[batch], the summed axis   31, 65, 33
    row, col  the element of out[batch] that this thread computes      [0, M), [0, N)
    k         the summed axis within a tile                            [0, TILE)
    t         start of the current tiles along the summed axis         0, 16, 32, ...
    tx, ty    the thread's column and row in its block                 [0, TILE)
    TILE      side of the block and of both tiles                      16
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.matmul.naive import TILE
from gpukit.launch import Cost, Variant, ceil_div

# --- Reference -------------------------------------------------------------------------------


def batched_matmul_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the product of each pair of matrices, summed in float64."""
    return np.asarray(a, np.float64) @ np.asarray(b, np.float64)


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit
def matmul_batched_kernel(a, b, out):
    """Multiply pairs of matrices, one TILE x TILE tile of one product per block.

    New here   a third axis of the grid, for the batch: a block runs matmul_tiled_kernel on the pair
               at blockIdx.z. All threads of a block work on the same pair, so they still
               load tiles together and reach the same barriers
    Shapes     a (B, M, K), b (B, K, N), out (B, M, N); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for all arrays and the accumulator
    Launch     block (TILE, TILE, 1), grid (ceil_div(N, TILE), ceil_div(M, TILE), B); x = col,
               y = row, z = batch
    Shared     2 * TILE * TILE * itemsize bytes, static
    Cost       bytes: itemsize B (M K ceil_div(N, TILE) + K N ceil_div(M, TILE) + M N);
               flops: 2 B M' N' K', each primed size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(K, TILE)
    Errors     the host function rejects unequal batches and inner sizes; the kernel assumes
               they match, and a block of exactly (TILE, TILE, 1)
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 5, for
               one product; the batch axis is gpukit's
    """
    col, row, batch = cuda.grid(3)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, k_size, n = a.shape[1], a.shape[2], b.shape[2]
    a_tile = cuda.shared.array((TILE, TILE), out.dtype)
    b_tile = cuda.shared.array((TILE, TILE), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, k_size, TILE):
        a_tile[ty, tx] = a[batch, row, t + tx] if row < m and t + tx < k_size else out.dtype.type(0)
        b_tile[ty, tx] = b[batch, t + ty, col] if t + ty < k_size and col < n else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < m and col < n:
        out[batch, row, col] = acc


def matmul_batched_cost(batches: int, m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """In each product every block column loads all of a and every block row all of b."""
    blocks_m, blocks_n, tiles = ceil_div(m, TILE), ceil_div(n, TILE), ceil_div(k, TILE)
    return Cost(
        bytes=itemsize * batches * (m * k * blocks_n + k * n * blocks_m + m * n),
        flops=2 * batches * blocks_m * blocks_n * tiles * TILE**3,
    )


# --- Host function ---------------------------------------------------------------------------


@signature.takes(
    "a: batch m k, b: batch k n -> batch m n",
    inner="k",
    turn=("b", "Did you mean b.transpose(0, 2, 1)?"),
)
def batched_matmul(a: Any, b: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the products of the float32 or float64 matrices of two batches, pair by pair.

    (B, M, K) and (B, K, N) give (B, M, N); PyTorch calls it bmm. A sum over K = 0 is zero. Raises
    LaunchError (a ValueError) for B above 65535 or M above 65535 * TILE.
    """
    batches, m, k = a.shape
    n = b.shape[2]
    if k == 0:  # an inner size of 1 filled with zeros gives the same result
        shapes = (batches, m, 1), (batches, 1, n)
        a, b = (launch.zeros(shape, a.dtype, stream) for shape in shapes)
    if batches and m and n:
        (variant,) = VARIANTS
        grid = variant.grid("batched_matmul", n, m, batches)
        variant.kernel[grid, variant.block, stream](a, b, out.array)
    return out.get()


VARIANTS = (
    Variant(
        "batched",
        matmul_batched_kernel,
        matmul_batched_cost,
        batched_matmul_reference,
        (TILE, TILE, 1),
    ),
)
__all__ = launch.public_names(globals())
