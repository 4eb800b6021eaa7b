"""Matrix copy and transpose: the same bytes with coalesced and with strided access.

No kernel here computes anything. A GPU moves memory in sectors of 32 bytes. A warp of 32 threads
that reads 32 neighbouring float32 touches 4 of them; one that reads 32 elements of one column
touches 32 and uses an eighth of the bytes moved. All sectors and wavefronts below are for one load
or store of float32 by a full warp, with rows that begin at multiples of 32 bytes; `gpukit.profile`
counts them.

Legend
    rows, cols          height and width of x                         427, 640
    row, col            the element of x that this thread moves       [0, rows), [0, cols)
    tx, ty              the thread's column and row in its block      [0, TILE), [0, ROWS)
    TILE                side of a tile, and threads along x           32, one warp
    PADDED              width of a tile with a column of padding      33
    ROWS                threads along y; each moves TILE / ROWS rows  8
    first_row           first row of x in the tile of this block      0, 32, 64, ...
    first_col           the same along the columns                    0, 32, 64, ...
    r                   a row of the tile, or of its transpose        [0, TILE)

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for both arrays
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant
from gpukit.primitives import vectorized
from gpukit.primitives.vectorized import WIDTH, load4, store4

TILE = 32
PADDED = TILE + 1  # a named constant: the shape of a shared array cannot be an expression
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
    """Copy a matrix, one element per thread.

    New here   the baseline: no transpose is faster than a copy of as many bytes. Neighbouring
               threads access neighbouring elements, 4 sectors per load and 4 per store
    Shapes     x (rows, cols), out (rows, cols); any sizes >= 1, C order
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, ROWS)); x = col,
               y = row
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 0
    Errors     the host function rejects an out of a different shape; the kernel does not check it
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col]


def copy_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load and one store per element."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=0)


@cuda.jit
def copy_strided_kernel(x, out):
    """Copy a matrix with strided access, one element per thread, a warp along a column.

    New here   deliberately slow: x runs over rows, so neighbouring threads access elements a row
               apart. As many bytes are requested as in copy_kernel, but with 32 sectors per load
               and 32 per store, eight times as many bytes are moved
    Shapes     x (rows, cols), out (rows, cols); any sizes >= 1, C order
    Launch     block (TILE, ROWS), grid (ceil_div(rows, TILE), ceil_div(cols, ROWS)); x = row,
               y = col
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 0
    Errors     the host function rejects an out of a different shape; the kernel does not check it
    Source     gpukit
    """
    row, col = cuda.grid(2)  # exchanged: the only difference from copy_kernel
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col]


@cuda.jit
def copy_vectorized_kernel(x, out):
    """Copy a matrix, four elements of a row per thread.

    New here   16-byte loads and stores: a warp moves 512 bytes, 16 sectors, with one instruction
               of each kind
    Shapes     x (rows, cols), out (rows, cols), cols a multiple of 4, C order, both aligned to 16
               bytes
    Dtypes     float32
    Launch     block (TILE, ROWS), grid (ceil_div(cols, 4 TILE), ceil_div(rows, ROWS)); x = four
               elements, y = row
    Cost       that of copy_kernel
    Errors     the host function launches copy_kernel for other dtypes, sizes and addresses
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
    """Transpose a matrix, one element per thread.

    New here   either the loads or the stores must be strided: a warp reads a part of a row, 4
               sectors, and writes it as a part of a column, 32 sectors
    Shapes     x (rows, cols), out (cols, rows); any sizes >= 1, C order
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, ROWS)); x = col,
               y = row
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 0
    Errors     the host function rejects an out of a different shape or overlapping x
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]


def transpose_naive_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load and one store per element; shared memory is not counted."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=0)


@cuda.jit
def transpose_tiled_kernel(x, out):
    """Transpose a matrix in shared memory, one TILE x TILE tile per block.

    New here   the transposing happens in shared memory, so a warp reads a part of a row and writes
               a part of a row: 4 sectors per load and 4 per store. The price: a warp reads a column
               of the tile, whose 32 elements lie in one bank, in 32 wavefronts instead of one.
               A thread moves TILE / ROWS elements, so fewer threads compute fewer indices
    Shapes     x (rows, cols), out (cols, rows); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for both arrays and the tile
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, TILE)); x = col,
               y = row
    Shared     TILE * TILE * itemsize bytes, static
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 1
    Errors     the host function rejects an out of a different shape or overlapping x; the
               kernel assumes its block is exactly (TILE, ROWS)
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_col, first_row = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, TILE), out.dtype)
    for r in range(ty, TILE, ROWS):
        if first_row + r < x.shape[0] and first_col + tx < x.shape[1]:
            tile[r, tx] = x[first_row + r, first_col + tx]
    cuda.syncthreads()  # the tile is written before threads read each other's elements
    for r in range(ty, TILE, ROWS):
        if first_col + r < out.shape[0] and first_row + tx < out.shape[1]:
            out[first_col + r, first_row + tx] = tile[tx, r]


@cuda.jit
def transpose_padded_kernel(x, out):
    """Transpose a matrix in shared memory, with a padded tile free of bank conflicts.

    New here   a column of padding shifts each row of the tile by one bank, so the 32 elements of
               a column lie in 32 banks and a warp reads them in one wavefront
    Shapes     x (rows, cols), out (cols, rows); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for both arrays and the tile
    Launch     block (TILE, ROWS), grid (ceil_div(cols, TILE), ceil_div(rows, TILE)); x = col,
               y = row
    Shared     TILE * PADDED * itemsize bytes, static
    Cost       bytes: 2 itemsize rows cols; flops: 0; barriers: 1
    Errors     the host function rejects an out of a different shape or overlapping x; the
               kernel assumes its block is exactly (TILE, ROWS)
    Source     Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA blog, 2013
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_col, first_row = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PADDED), out.dtype)
    for r in range(ty, TILE, ROWS):
        if first_row + r < x.shape[0] and first_col + tx < x.shape[1]:
            tile[r, tx] = x[first_row + r, first_col + tx]
    cuda.syncthreads()  # the tile is written before threads read each other's elements
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
        if chosen.instead and (cols % WIDTH or not vectorized.fits(x, out.array)):
            chosen = launch.pick("copy", COPY_VARIANTS, chosen.instead)
        grid = chosen.grid("copy", cols, rows)
        chosen.kernel[grid, chosen.block, stream](x, out.array)
    return out.get()


@signature.takes("x: rows cols -> cols rows")
def transpose(x: Any, *, variant: str = "padded", out: Any = None, stream: Any = 0) -> Any:
    """Return the transpose of a float32 or float64 matrix, as a new array.

    (rows, cols) gives (cols, rows): `[[1. 2.] [3. 4.]]` gives `[[1. 3.] [2. 4.]]`. Raises
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
        "vectorized",
        copy_vectorized_kernel,
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
    _transpose("tiled", transpose_tiled_kernel, transpose_naive_cost, tile=(TILE, TILE)),
    _transpose("padded", transpose_padded_kernel, transpose_naive_cost, tile=(TILE, TILE)),
)

VARIANTS = (*COPY_VARIANTS, *TRANSPOSE_VARIANTS)
__all__ = launch.public_names(globals())
