"""Column sums of a matrix, bit-identical in every run: the gradient of a bias.

A bias is added to every sample, so its gradient is a sum over samples, one per column. Three ways
to parallelize: one thread per column is coalesced but leaves a GPU idle where there are few
columns; blocks that add to the result with atomics fill it, in an undefined order; here blocks fill
it and store partial sums in the rows of a matrix, which a second launch adds. The order
is fixed, so training twice gives the same weights.

Legend
    rows, cols  height and width of x                     50000, 512
    chunk       the contiguous rows that one block sums   range [0, chunks)
    partials    (chunks, cols): a sum per chunk and column
    row, col    the element of x that this thread loads
    tx, ty      the thread's column and row in its block  [0, WIDTH), [0, HEIGHT)
    WIDTH       columns per block, two warps              64
    HEIGHT      rows that a block reads at once           4
    CHUNK       minimum rows per chunk                    256
    MAX_CHUNKS  maximum number of chunks                  256
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant, ceil_div

WIDTH = 64
HEIGHT = 4
CHUNK = 256
MAX_CHUNKS = 256

Float64 = npt.NDArray[np.float64]


# --- Reference -------------------------------------------------------------------------------


def column_sum_reference(x: npt.ArrayLike) -> Float64:
    """Return the sum of each column, accumulated in float64."""
    made: Float64 = np.asarray(x, np.float64).sum(axis=0)
    return made


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit(device=True)
def store_column_sums(acc, tile, partials, tx, ty, col):
    """Sum acc over the rows of a block, and store it for a column of this block's chunk."""
    tile[ty, tx] = acc
    cuda.syncthreads()  # the sums of all rows are written before the first row adds them
    if ty == 0 and col < partials.shape[1]:
        for k in range(1, HEIGHT):
            acc += tile[k, tx]
        partials[cuda.blockIdx.y, col] = acc


@cuda.jit
def column_sum_kernel(x, partials):
    """Sum the columns of x, 64 columns and one chunk of rows per block.

    New here   a warp reads a part of a row, and its threads go down their columns together, so
               every load is coalesced; four pairs of warps each take every fourth row, and their
               sums are added in shared memory
    Shapes     x (rows, cols), partials (chunks, cols); any sizes >= 1
    Dtypes     float32 or float64, the same for both arrays and the accumulator
    Launch     block (WIDTH, HEIGHT), grid (ceil_div(cols, WIDTH), chunks); x = column, y = row
    Shared     HEIGHT * WIDTH * itemsize bytes, static
    Cost       bytes: itemsize cols (rows + chunks); flops: cols (rows + (HEIGHT - 1) chunks);
               barriers: 1
    Errors     the kernel assumes a block of (WIDTH, HEIGHT)
    Source     gpukit
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * WIDTH + tx
    tile = cuda.shared.array((HEIGHT, WIDTH), x.dtype)
    length = (x.shape[0] + partials.shape[0] - 1) // partials.shape[0]
    first = cuda.blockIdx.y * length
    acc = x.dtype.type(0)
    if col < x.shape[1]:
        for row in range(first + ty, min(first + length, x.shape[0]), HEIGHT):
            acc += x[row, col]
    store_column_sums(acc, tile, partials, tx, ty, col)


def column_sum_cost(rows: int, cols: int, itemsize: int = 4, *, chunks: int | None = None) -> Cost:
    """Each element is loaded and added, then in each chunk the sums of all threads but one."""
    chunks = chunks_of(rows) if chunks is None else chunks
    flops = cols * (rows + (HEIGHT - 1) * chunks)
    return Cost(bytes=itemsize * cols * (rows + chunks), flops=flops)


# --- Host functions --------------------------------------------------------------------------


def chunks_of(rows: int) -> int:
    """Return the number of chunks for a number of rows."""
    return max(1, min(ceil_div(rows, CHUNK), MAX_CHUNKS))


@signature.takes("x: rows cols -> cols")
def column_sum(x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the sum of each column of a float32 or float64 matrix, `x.sum(axis=0)`.

    (rows, cols) gives (cols,), with the same bits in every run; without rows it is 0.
    """
    rows, cols = x.shape
    if cols:
        x = x if rows else launch.zeros((1, cols), x.dtype, stream)
        add_columns("column_sum", x, out.flat(), stream)
    return out.get()


def add_columns(function: str, x: Any, out: Any, stream: Any) -> None:
    """Launch the sum of the columns of a device matrix to a contiguous device vector."""
    (variant,) = VARIANTS
    chunks = chunks_of(x.shape[0])
    one = chunks == 1
    sums = out.reshape(1, out.size) if one else launch.empty((chunks, x.shape[1]), x.dtype)
    variant.kernel[variant.grid(function, x.shape[1], chunks), variant.block, stream](x, sums)
    if not one:
        add_columns(function, sums, out, stream)


VARIANTS = (
    Variant(
        "column_sum",
        column_sum_kernel,
        column_sum_cost,
        column_sum_reference,
        (WIDTH, HEIGHT),
        tile=(WIDTH, 1),
    ),
)
__all__ = launch.public_names(globals())
