"""Copy and transpose: the same bytes, moved by warps in good and in bad order.

No kernel here computes anything. A GPU moves memory in sectors of 32 bytes, and a warp of 32
threads that reads 32 neighbouring float32 touches 4 of them; one that reads 32 elements of one
column touches 32, and uses an eighth of what is moved. All sectors and passes below are for
one load or store of float32 by a full warp, with rows that begin at multiples of 32 bytes;
`gpukit.profile` counts them.

Legend
    rows, cols          height and width of x                            427, 640
    row, col            the element of x that this thread moves          [0, rows), [0, cols)
    tx, ty              the thread's column and row in its block         [0, TILE), [0, ROWS)
    TILE                side of a tile, and threads along x              32, one warp
    PADDED              width of a tile with the unused column           33
    ROWS                threads along y; each moves TILE / ROWS rows     8
    first_row           where the tile of this block begins in x         0, 32, 64, ...
    first_col           the same along the columns                       0, 32, 64, ...
    r                   a row of the tile, or of the turned tile         [0, TILE)

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for both arrays
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant
from gpukit.primitives import wide
from gpukit.primitives.wide import WIDTH, load4, store4

TILE = 32
PADDED = TILE + 1  # named here: a GPU compiler takes no sum as a shape
ROWS = 8


# --- References ------------------------------------------------------------------------------


def copy_reference(x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return x."""
    return np.array(x, np.float64)


def transpose_reference(x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return x with rows and columns exchanged."""
    return np.array(x, np.float64).T


# --- Copies ----------------------------------------------------------------------------------


@cuda.jit
def copy_kernel(x, out):
    """Copy a matrix, one thread for one element.

    New here   the yardstick: no transpose is faster than a copy of as many bytes; threads side
               by side take elements side by side, 4 sectors a load and 4 a store
    Shapes     x (rows, cols), out (rows, cols); any sizes >= 1, C order
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, ROWS)); x = col,
               y = row
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 0
    Errors     the host function rejects an out of another shape; the kernel assumes them equal
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col]


def copy_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=0)


@cuda.jit
def copy_strided_kernel(x, out):
    """Copy a matrix with a stride, one thread for one element, the threads of a warp in a column.

    New here   slow on purpose: x runs over rows, so threads side by side take elements a whole
               row apart; as many bytes asked for as in copy_kernel, but 32 sectors a load and
               32 a store, eight times as many bytes moved
    Shapes     x (rows, cols), out (rows, cols); any sizes >= 1, C order
    Launch     block (TILE, ROWS), grid (ceil_div(rows, TILE), ceil_div(cols, ROWS)); x = row,
               y = col
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 0
    Errors     the host function rejects an out of another shape; the kernel assumes them equal
    Source     ours
    """
    row, col = cuda.grid(2)  # the wrong way round, and that is the whole difference
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col]


@cuda.jit
def copy_wide_kernel(x, out):
    """Copy a matrix, one thread for four elements of a row.

    New here   16 bytes in a load and in a store: a warp moves 512 bytes with one instruction of
               each, 16 sectors
    Shapes     x (rows, cols), out (rows, cols), cols a multiple of 4, C order, at multiples of 16
               bytes
    Dtypes     float32
    Launch     block (TILE, ROWS), grid (ceil_div(cols, 4 TILE), ceil_div(rows, ROWS)); x = four
               elements, y = row
    Cost       that of copy_kernel
    Errors     the host function takes copy_kernel for other dtypes, sizes and addresses
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA blog,
               2013
    """
    k, row = cuda.grid(2)
    if row < out.shape[0] and k < out.shape[1] // WIDTH:
        a, b, c, d = load4(x[row], k)
        store4(out[row], k, a, b, c, d)


# --- Transposes ------------------------------------------------------------------------------


@cuda.jit
def transpose_naive_kernel(x, out):
    """Transpose a matrix, one thread for one element.

    New here   one of the two sides must lie the wrong way: a warp reads a part of a row, 4
               sectors, and writes it as a part of a column, 32 sectors
    Shapes     x (rows, cols), out (cols, rows); any sizes >= 1, C order
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, ROWS)); x = col,
               y = row
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 0
    Errors     the host function rejects an out of another shape or on the memory of x
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]


def transpose_naive_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=0)


@cuda.jit
def transpose_tiled_kernel(x, out):
    """Transpose a matrix, one block for one TILE x TILE tile, TILE / ROWS elements a thread.

    New here   the turning happens in shared memory, so a warp reads a part of a row and writes
               a part of a row: 4 sectors a load and 4 a store. The price: a warp reads a column
               of the tile, whose 32 elements lie in one bank, in 32 passes instead of one.
               And a thread moves several rows, so that fewer threads compute fewer indices
    Shapes     x (rows, cols), out (cols, rows); any sizes >= 1, C order
    Dtypes     float32 or float64, one for both arrays and the tile
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, TILE)); x = col,
               y = row
    Shared     TILE * TILE * itemsize bytes, static
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 1
    Errors     the host function rejects an out of another shape or on the memory of x; the
               kernel assumes its block is exactly (TILE, ROWS)
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_col, first_row = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, TILE), out.dtype)
    for r in range(ty, TILE, ROWS):
        if first_row + r < x.shape[0] and first_col + tx < x.shape[1]:
            tile[r, tx] = x[first_row + r, first_col + tx]
    cuda.syncthreads()  # the tile is full before any thread reads what another one loaded
    for r in range(ty, TILE, ROWS):
        if first_col + r < out.shape[0] and first_row + tx < out.shape[1]:
            out[first_col + r, first_row + tx] = tile[tx, r]


def transpose_tiled_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load and one store for each element; shared memory is not counted."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=0)


@cuda.jit
def transpose_padded_kernel(x, out):
    """Transpose a matrix, one block for one TILE x TILE tile, the tile one column wider.

    New here   the column that nobody uses: it moves each row of the tile one bank on, so the 32
               elements of a column lie in 32 banks and a warp reads them in one pass
    Shapes     x (rows, cols), out (cols, rows); any sizes >= 1, C order
    Dtypes     float32 or float64, one for both arrays and the tile
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, TILE)); x = col,
               y = row
    Shared     TILE * PADDED * itemsize bytes, static
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 1
    Errors     the host function rejects an out of another shape or on the memory of x; the
               kernel assumes its block is exactly (TILE, ROWS)
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_col, first_row = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PADDED), out.dtype)
    for r in range(ty, TILE, ROWS):
        if first_row + r < x.shape[0] and first_col + tx < x.shape[1]:
            tile[r, tx] = x[first_row + r, first_col + tx]
    cuda.syncthreads()  # the tile is full before any thread reads what another one loaded
    for r in range(ty, TILE, ROWS):
        if first_col + r < out.shape[0] and first_row + tx < out.shape[1]:
            out[first_col + r, first_row + tx] = tile[tx, r]


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: rows cols -> rows cols")
def copy(x: Any, *, variant: str = "coalesced", out: Any = None, stream: Any = 0) -> Any:
    """Return a copy of a float32 or float64 matrix.

    (rows, cols) gives (rows, cols) in C order. Raises LaunchError (a ValueError) for more than
    65535 * ROWS rows (strided: columns).
    """
    chosen = launch.pick("copy", COPY_VARIANTS, variant)
    rows, cols = x.shape
    if rows and cols:
        if chosen.instead and (cols % WIDTH or not wide.fits(x, out.array)):
            chosen = launch.pick("copy", COPY_VARIANTS, chosen.instead)
        grid = chosen.grid("copy", cols, rows)
        chosen.kernel[grid, chosen.block, stream](x, out.array)
    return out.get()


@signature.takes("x: rows cols -> cols rows")
def transpose(x: Any, *, variant: str = "padded", out: Any = None, stream: Any = 0) -> Any:
    """Return a float32 or float64 matrix with rows and columns exchanged, in memory of its own.

    (rows, cols) gives (cols, rows): `[[1. 2.] [3. 4.]]` is turned into `[[1. 3.] [2. 4.]]`. Raises
    LaunchError (a ValueError) for more than 65535 * TILE rows (naive: * ROWS).
    """
    chosen = launch.pick("transpose", TRANSPOSE_VARIANTS, variant)
    rows, cols = x.shape
    if rows and cols:
        grid = chosen.grid("transpose", cols, rows)
        chosen.kernel[grid, chosen.block, stream](x, out.array)
    return out.get()


_variant = functools.partial(Variant, block=(TILE, ROWS))
COPY_VARIANTS = (
    _variant("coalesced", copy_kernel, copy_cost, copy_reference),
    _variant("strided", copy_strided_kernel, copy_cost, copy_reference, x_is_row=True),
    _variant(
        "wide",
        copy_wide_kernel,
        copy_cost,
        copy_reference,
        tile=(WIDTH * TILE, ROWS),
        dtypes=(np.float32,),
        instead="coalesced",
    ),
)

_transpose = functools.partial(_variant, reference=transpose_reference)
TRANSPOSE_VARIANTS = (
    _transpose("naive", transpose_naive_kernel, transpose_naive_cost),
    _transpose("tiled", transpose_tiled_kernel, transpose_tiled_cost, tile=(TILE, TILE)),
    _transpose("padded", transpose_padded_kernel, transpose_tiled_cost, tile=(TILE, TILE)),
)

VARIANTS = (*COPY_VARIANTS, *TRANSPOSE_VARIANTS)
__all__ = launch.public_names(globals())
