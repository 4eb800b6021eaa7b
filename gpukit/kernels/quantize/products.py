"""Products of int8 matrices with int32 sums, four products per instruction (dot4).

Four int8 lie in a word of 32 bits, so one load brings four elements, and on a GPU one instruction
multiplies and adds them. Sums of integers are exact in any order, so the result depends neither on
the tiles nor on the target. An int32 has room for `MOST` products.

Legend
    M, N, K     rows of a, rows of b, and the summed axis, last of both    31, 10, 64
    W           words of a row, K / PACKED                                 16
    row, col    the element of out that this thread computes               [0, M), [0, N)
    t           start of the current tiles along the summed axis, in words 0, 16, 32, ...
    k, kt       a word of a row, and of a tile's row                       [0, W), [0, TILE)
    n           the row of b that this thread loads, not its column of out
    tx, ty      the thread's column and row in its block                   [0, TILE)
    lane        the thread in its warp                                     [0, WARP)
    acc         this thread's sum
    TILE        side of the block, and words per row of a tile             16
    PADDED      width of a tile with a column of padding                   17
    WARPS       warps per block                                            8

All kernels
    Dtypes     int32 words of four int8 in, int32 accumulator and out
    Errors     the host function rejects inner sizes that differ or are no multiple of PACKED; the
               kernel assumes the same W for both
    Source     Jacob and others, "Quantization and Training of Neural Networks for Efficient
               Integer-Arithmetic-Only Inference", CVPR 2018
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, warp_sum
from gpukit.kernels.matmul.naive import TILE
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives.dot4 import PACKED, dot4

PADDED = TILE + 1  # a named constant: the shape of a shared array cannot be an expression
WARPS = 8
MOST = (2**31 - 1) // 128**2  # products of any int8 whose sum fits an int32


# --- Reference -------------------------------------------------------------------------------


def int8_matmul_reference(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return a b^T, or a b for a vector b, summed in int64."""
    return np.asarray(a, np.int64) @ np.asarray(b, np.int64).T


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matmul_int8_kernel(a, b, out):
    """Multiply a by the transpose of b, both int8, one block per TILE x TILE tile of out.

    New here   matmul_nt_tiled_kernel on words: a tile of the same bytes is four times as deep, and
               a step along it is one dot4. Both factors have the summed axis last, so
               that four neighbours of it are a word; a b without the transpose would need four rows
    Shapes     a (M, W), b (N, W), out (M, N); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     TILE * (TILE + PADDED) * 4 bytes, static
    Cost       bytes: 4 (M W ceil_div(N, TILE) + N W ceil_div(M, TILE) + M N); flops: 0, for it is
               integer arithmetic; barriers: 2 ceil_div(W, TILE)
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    n = cuda.blockIdx.x * TILE + ty
    a_tile = cuda.shared.array((TILE, TILE), np.int32)
    b_tile = cuda.shared.array((TILE, PADDED), np.int32)
    acc = np.int32(0)
    for t in range(0, a.shape[1], TILE):
        k = t + tx
        a_tile[ty, tx] = a[row, k] if row < a.shape[0] and k < a.shape[1] else np.int32(0)
        b_tile[ty, tx] = b[n, k] if n < b.shape[0] and k < b.shape[1] else np.int32(0)
        cuda.syncthreads()  # both tiles are written before any thread reads them
        for kt in range(TILE):
            acc = dot4(a_tile[ty, kt], b_tile[tx, kt], acc)
        cuda.syncthreads()  # all threads have read both tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc


def matmul_int8_cost(m: int, n: int, words: int) -> Cost:
    """Each block column loads all of a, each block row all of b."""
    across, down = ceil_div(n, TILE), ceil_div(m, TILE)
    return Cost(bytes=4 * (m * words * across + n * words * down + m * n), flops=0)


@cuda.jit
def matvec_int8_kernel(a, x, y):
    """Multiply an int8 matrix by an int8 vector, one warp per row.

    New here   matvec_warp_a_row_kernel on words. A matrix-vector product is memory-bound, so a
               quarter of the bytes is worth four times the speed, whatever the arithmetic costs
    Shapes     a (M, W), x (W,), y (M,); any sizes >= 1, C order
    Launch     block (WARP, WARPS), grid ceil_div(M, WARPS); x = lane, y = row
    Cost       bytes: 4 M (2 W + 1); flops: 0, for it is integer arithmetic; barriers: 0
    """
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    acc = np.int32(0)
    if row < a.shape[0]:
        for k in range(lane, a.shape[1], WARP):
            acc = dot4(a[row, k], x[k], acc)
    total = warp_sum(acc)  # outside the guard: the shuffles need the whole warp
    if lane == 0 and row < a.shape[0]:
        y[row] = total


def matvec_int8_cost(m: int, words: int) -> Cost:
    """Per row two loads per word, and one store."""
    return Cost(bytes=4 * m * (2 * words + 1), flops=0)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("a: m k, b: n k -> m n", dtypes=(np.int8,), dtype=np.int32, inner="k", layout="C")
def int8_matmul(a: Any, b: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the product of a and the transpose of b, both int8, as int32.

    (M, K) and (N, K) give (M, N); K is a multiple of four, as the rows of `quantize` are.
    """
    m, n = out.shape
    if m and n:
        matmul, _ = VARIANTS
        given = (_words("int8_matmul", x, stream) for x in (a, b))
        grid = matmul.grid("int8_matmul", n, m)
        matmul.kernel[grid, matmul.block, stream](*given, out.array)
    return out.get()


@signature.takes("a: m k, x: k -> m", dtypes=(np.int8,), dtype=np.int32, inner="k", layout="C")
def int8_matvec(a: Any, x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the product of an int8 matrix and an int8 vector, as int32.

    (M, K) and (K,) give (M,); K is a multiple of four, as the rows of `quantize` are.
    """
    if m := a.shape[0]:
        _, matvec = VARIANTS
        given = (_words("int8_matvec", array, stream) for array in (a, x))
        matvec.kernel[matvec.grid("int8_matvec", m), matvec.block, stream](*given, out.array)
    return out.get()


def _words(function: str, x: Any, stream: Any) -> Any:
    """Return int8 in C order as int32 words of four along the last axis."""
    *outer, k = x.shape
    if k % PACKED or k > MOST:
        raise ValueError(
            f"{function}: expected an inner size that is a multiple of {PACKED}, at most {MOST}, "
            f"got {k}. Pad the rows with zeros, as quantize does; add the products of parts."
        )
    if k == 0:  # an inner size of 1 filled with zeros gives the same result
        return launch.zeros((*outer, 1), np.int32, stream)
    return x.reshape(-1).view(np.int32).reshape(*outer, k // PACKED)


VARIANTS = (
    Variant(
        "matmul_int8",
        matmul_int8_kernel,
        matmul_int8_cost,
        int8_matmul_reference,
        (TILE, TILE),
        dtypes=(np.int8,),
    ),
    Variant(
        "matvec_int8",
        matvec_int8_kernel,
        matvec_int8_cost,
        int8_matmul_reference,
        (WARP, WARPS),
        WARPS,
        dtypes=(np.int8,),
    ),
)
__all__ = launch.public_names(globals())
