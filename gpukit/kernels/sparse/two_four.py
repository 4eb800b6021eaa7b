"""2:4 sparsity: of every four neighbours in a row at most two are not zero.

    row      [ 0  3  0 -1 |  2  0  0  4 ]
    values   [ 3 -1 |  2  4 ]              two per group of four
    index    [ 1 + 4 * 3 | 0 + 4 * 3 ]     the columns of both in the group, two bits each

Every row keeps exactly half of its elements, at columns that differ from where they were by three
at most: no row is longer than another and the tiles of a product stay regular, which CSR is not.
From compute capability 8.0 on the tensor cores of a GPU skip the zeros of this format (mma.sp), and
no others. These kernels use the float units, and show the format. A group of float32 takes 9
bytes instead of 16; a byte has room for the indices of two groups, so 8.5 are possible.

Legend
    M, N, K     rows of x, rows of weight, and the summed axis of both         31, 10, 64
    G, g        groups of a row, K / GROUP, and one of them                    16, [0, G)
    row, col    the element of out that this thread computes                   [0, M), [0, N)
    t           start of the current tile along the values of a row            0, 16, 32, ...
    j           a value within the tile                                        [0, TILE)
    n           the row of values that this thread loads, not its column of out
    first       the column in its group of the first value that is kept        [0, 3)
    second      and of the second one                                          (first, 3]
    tx, ty      the thread's column and row in its block                       [0, TILE)
    TILE        side of the block, and values per row of a tile                16
    WIDE        columns of x that belong to a tile of values                   2 * TILE
    PADDED      width of a tile with a column of padding                       17
    BLOCK_X, BLOCK_Y   columns and rows of the blocks that compress            32, 8

All kernels
    Source     Mishra and others, "Accelerating Sparse Deep Neural Networks", NVIDIA, 2021
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.matmul.naive import TILE
from gpukit.kernels.sparse.masks import GROUP, KEPT, mask_2_4
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.results import Result, check_outs

WIDE = 2 * TILE
PADDED = TILE + 1  # a named constant: the shape of a shared array cannot be an expression
BLOCK_X, BLOCK_Y = 32, 8


# --- References ------------------------------------------------------------------------------


def compress_2_4_reference(
    weight: npt.ArrayLike,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]]:
    """Return the two largest magnitudes of each group, and the byte of their columns."""
    rows = np.asarray(weight, np.float64)
    groups, mask = rows.reshape(len(rows), -1, GROUP), mask_2_4(rows).reshape(len(rows), -1, GROUP)
    kept = np.sort(np.argsort(1 - mask, axis=2, kind="stable")[..., :KEPT])
    values: npt.NDArray[np.float64] = np.take_along_axis(groups, kept, axis=2)
    return values.reshape(len(rows), -1), (kept[..., 0] + GROUP * kept[..., 1]).astype(np.uint8)


def matmul_2_4_reference(
    x: npt.ArrayLike, values: npt.ArrayLike, index: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return x times the transpose of the matrix that values and index stand for."""
    x, values, index = np.asarray(x, np.float64), np.asarray(values), np.asarray(index)
    full = np.zeros((*index.shape, GROUP))
    places = np.stack([index % GROUP, index // GROUP], axis=2).astype(np.int64)
    np.put_along_axis(full, places, values.reshape(*index.shape, KEPT), axis=2)
    made: npt.NDArray[np.float64] = x @ full.reshape(len(full), x.shape[1]).T
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def compress_2_4_kernel(weight, values, index):
    """Compress rows to 2:4, one group of four per thread.

    New here   the two largest of four without a sort: the largest, then the largest of the others.
               Of a matrix that is pruned already they are its nonzero elements; zeros fill a group
               that has fewer
    Shapes     weight (N, K), values (N, K / 2), index (N, K / 4); any N >= 1, K a multiple of GROUP
    Dtypes     float32 or float64 weight and values, uint8 index
    Launch     block (BLOCK_X, BLOCK_Y), grid (ceil_div(G, BLOCK_X), ceil_div(N, BLOCK_Y));
               x = group, y = row
    Cost       bytes: N G (10 itemsize + 1): the kept elements are loaded again; flops: 0;
               barriers: 0
    Errors     the host function rejects K that is no multiple of GROUP; the kernel assumes one
    """
    g, row = cuda.grid(2)
    if row < index.shape[0] and g < index.shape[1]:
        largest, other = weight.dtype.type(-1), weight.dtype.type(-1)
        at, beside = 0, 1
        for k in range(GROUP):
            magnitude = abs(weight[row, GROUP * g + k])
            if magnitude > largest:
                other, beside = largest, at
                largest, at = magnitude, k
            elif magnitude > other:
                other, beside = magnitude, k
        first, second = min(at, beside), max(at, beside)
        values[row, KEPT * g] = weight[row, GROUP * g + first]
        values[row, KEPT * g + 1] = weight[row, GROUP * g + second]
        index[row, g] = first + GROUP * second


def compress_2_4_cost(n: int, k: int, itemsize: int = 4) -> Cost:
    """Per group four loads, two of them again, two stores, and a byte of columns."""
    return Cost(bytes=n * (k // GROUP) * (8 * itemsize + 1), flops=0)


@cuda.jit
def matmul_2_4_kernel(x, values, index, out):
    """Multiply x by the transpose of a 2:4 matrix, one block per TILE x TILE tile of out.

    New here   matmul_nt_tiled_kernel with half of the products: a tile of TILE values goes with
               WIDE columns of x, and a third tile says which of them each value is multiplied by.
               Those reads of x are at addresses that data gives, so a CPU cannot vectorize them,
               and on a GPU they are bank conflicts
    Shapes     x (M, K), values (N, K / 2), index (N, K / 4), out (M, N); any M, N >= 1, K a
               multiple of GROUP
    Dtypes     float32 or float64, the same for x, values, out, tiles and accumulator; uint8 index
    Launch     block (TILE, TILE), grid (ceil_div(N, TILE), ceil_div(M, TILE)); x = col, y = row
    Shared     TILE * (WIDE + PADDED) * itemsize + TILE * PADDED * 4 bytes, static
    Cost       bytes: itemsize (M K ceil_div(N, TILE) + N K / 2 ceil_div(M, TILE) + M N), and
               N K / 2 ceil_div(M, TILE) of the index; flops: M' N' K', with M and N rounded up to
               multiples of TILE, K of WIDE; barriers: 2 ceil_div(K, WIDE)
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    n = cuda.blockIdx.x * TILE + ty
    x_tile = cuda.shared.array((TILE, WIDE), out.dtype)
    value_tile = cuda.shared.array((TILE, PADDED), out.dtype)
    place_tile = cuda.shared.array((TILE, PADDED), np.int32)
    acc = out.dtype.type(0)
    for t in range(0, values.shape[1], TILE):
        for half in range(0, WIDE, TILE):
            k = KEPT * t + half + tx
            inside = row < x.shape[0] and k < x.shape[1]
            x_tile[ty, half + tx] = x[row, k] if inside else out.dtype.type(0)
        j = t + tx
        value, place = out.dtype.type(0), 0
        if n < values.shape[0] and j < values.shape[1]:
            value = values[n, j]
            bits = index[n, j // KEPT] >> (KEPT * (j % KEPT))
            place = GROUP * (tx // KEPT) + bits % GROUP
        value_tile[ty, tx] = value
        place_tile[ty, tx] = place
        cuda.syncthreads()  # all three tiles are written before any thread reads them
        for kept in range(TILE):
            acc += value_tile[tx, kept] * x_tile[ty, place_tile[tx, kept]]
        cuda.syncthreads()  # all threads have read the tiles before the next ones are loaded
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc


def matmul_2_4_cost(m: int, n: int, k: int, itemsize: int = 4) -> Cost:
    """Each block column loads all of x, each block row all values, and a byte for each."""
    across, down, steps = ceil_div(n, TILE), ceil_div(m, TILE), ceil_div(k, WIDE)
    kept = n * (k // KEPT) * down
    return Cost(
        bytes=itemsize * (m * k * across + kept + m * n) + kept,
        flops=2 * across * down * steps * TILE**3,
    )


# --- Host functions --------------------------------------------------------------------------


def compress_2_4(weight: Any, *, out: Any = None, stream: Any = 0) -> tuple[Any, Any]:
    """Return the values (N, K / 2) and the index (N, K / 4) of a matrix (N, K) in 2:4 form.

    Of every four neighbours in a row the two of largest magnitude are kept. weight is float32 or
    float64, K a multiple of four. `out`, if given, is a tuple of two arrays, of the dtype of weight
    and of uint8.
    """
    (weight,), _ = _COMPRESS.bind("compress_2_4", (weight,), None, stream)
    n, k = weight.shape
    if k % GROUP:
        raise ValueError(
            f"compress_2_4: expected rows of a multiple of {GROUP} elements, got shape {(n, k)}. "
            "Pad them with zeros."
        )
    to_values, to_index = check_outs("compress_2_4", out, 2)
    given = {"weight": weight}
    values = Result("compress_2_4", to_values, (n, k // KEPT), weight.dtype, given, stream=stream)
    index = Result("compress_2_4", to_index, (n, k // GROUP), np.uint8, given, stream=stream)
    if n and k:
        compress, _ = VARIANTS
        grid = compress.grid("compress_2_4", k // GROUP, n)
        compress.kernel[grid, compress.block, stream](weight, values.array, index.array)
    return values.get(), index.get()


@signature.takes("index: n g, values: n 2*g, x: m 4*g -> m n", index=(np.uint8,), inner="4*g")
def matmul_2_4(x: Any, values: Any, index: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return x times the transpose of a matrix that `compress_2_4` compressed.

    x (M, K), values (N, K / 2) and index (N, K / 4) give (M, N), float32 or float64.
    """
    m, n = out.shape
    if x.shape[1] == 0:  # a group of zeros gives the same result
        x, values = (launch.zeros(s, x.dtype, stream) for s in ((m, GROUP), (n, KEPT)))
        index = launch.zeros((n, 1), np.uint8, stream)
    if m and n:
        _, matmul = VARIANTS
        grid = matmul.grid("matmul_2_4", n, m)
        matmul.kernel[grid, matmul.block, stream](x, values, index, out.array)
    return out.get()


_COMPRESS = signature.Signature("weight: n k")
VARIANTS = (
    Variant(
        "compress_2_4",
        compress_2_4_kernel,
        compress_2_4_cost,
        compress_2_4_reference,
        (BLOCK_X, BLOCK_Y),
    ),
    Variant("matmul_2_4", matmul_2_4_kernel, matmul_2_4_cost, matmul_2_4_reference, (TILE, TILE)),
)
__all__ = launch.public_names(globals())
