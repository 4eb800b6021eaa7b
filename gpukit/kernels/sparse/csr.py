"""Compressed sparse rows (CSR): only the nonzero elements of a matrix, row by row.

    a = [[5 0 0 6]         values = [5 6 7 8]     the nonzero elements
         [0 0 0 0]         columns = [0 3 1 0]    the column of each
         [0 7 0 0]         starts = [0 2 2 3 4]   where each row begins, and where the last one ends
         [8 0 0 0]]

An element takes 8 bytes instead of 4, so CSR is smaller from half zeros on. It is faster much
later: columns are loaded too, x is read in an order that no cache foresees, and neighbouring
threads, or the lanes of a SIMD unit, get rows of different lengths.

Legend
    rows, cols  height and width of the matrix                10, 64
    nnz         nonzero elements of it                        64
    N, n        vectors that it is multiplied by, one of them 1, [0, N)
    row         the row that is computed                      [0, rows)
    k           an element in values                          [starts[row], starts[row + 1])
    lane        the thread in its warp                        [0, WARP)
    acc         this thread's partial sum of the row
    BLOCK       threads per block                             256
    WARPS       warps per block                               8

All kernels
    Shapes     values (nnz,), columns (nnz,), starts (rows + 1,), x (N, cols), y (N, rows); all
               sizes >= 1, but a row may have no elements
    Dtypes     float32 or float64 for values, x, y and the accumulator; int32 columns and starts
    Errors     the host function rejects shapes that do not fit; a column beyond those of x is not
               checked on the host, where it lies on the device
    Source     Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
               Throughput-Oriented Processors", SC 2009
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, warp_sum
from gpukit.launch import Cost, Variant

BLOCK = 256
WARPS = BLOCK // WARP
LEVELS = WARP.bit_length() - 1  # log2(WARP)

Csr = tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[np.int32]]


# --- Reference -------------------------------------------------------------------------------


def csr_matvec_reference(
    values: npt.ArrayLike, columns: npt.ArrayLike, starts: npt.ArrayLike, x: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the products of a CSR matrix and the rows of x, by way of the full matrix."""
    x, starts = np.asarray(x, np.float64), np.asarray(starts)
    full = np.zeros((len(starts) - 1, x.shape[-1]))
    np.add.at(full, (np.repeat(np.arange(len(full)), np.diff(starts)), np.asarray(columns)), values)
    made: npt.NDArray[np.float64] = x @ full.T
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def csr_thread_a_row_kernel(values, columns, starts, x, y):
    """Multiply a CSR matrix by vectors, one thread per row.

    New here   a loop whose length is data: the threads of a warp run until the longest of
               their rows is done. In each iteration they load from as many places as there are
               rows, and x wherever the columns say (a gather)
    Launch     block BLOCK, grid (ceil_div(rows, BLOCK), N); x = row, y = vector
    Cost       bytes: N ((2 itemsize + 4) nnz + (itemsize + 8) rows); flops: 2 N nnz; barriers: 0
    """
    row, n = cuda.grid(1), cuda.blockIdx.y
    if row < y.shape[1]:
        acc = y.dtype.type(0)
        for k in range(starts[row], starts[row + 1]):
            acc += values[k] * x[n, columns[k]]
        y[n, row] = acc


def csr_thread_a_row_cost(n: int, rows: int, nnz: int, itemsize: int = 4) -> Cost:
    """Per element a value, its column and an element of x; per row two starts and a store."""
    return Cost(bytes=n * ((2 * itemsize + 4) * nnz + (itemsize + 8) * rows), flops=2 * n * nnz)


@cuda.jit
def csr_warp_a_row_kernel(values, columns, starts, x, y):
    """Multiply a CSR matrix by vectors, one warp per row.

    New here   the lanes of a warp load neighbouring values and columns of one row: coalesced,
               whatever the lengths of rows are. x is still gathered, and lanes are idle in a row
               of less than 32 elements
    Launch     block (WARP, WARPS), grid (ceil_div(rows, WARPS), N); x = lane, y = row and vector
    Cost       bytes: N ((2 itemsize + 4) nnz + itemsize rows + 8 WARP rows): each lane loads both
               starts; flops: 2 N nnz, and 160 in each warp of the launch; barriers: 0
    """
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    n, lane = cuda.blockIdx.y, cuda.threadIdx.x
    acc = y.dtype.type(0)
    if row < y.shape[1]:
        for k in range(starts[row] + lane, starts[row + 1], WARP):
            acc += values[k] * x[n, columns[k]]
    acc = warp_sum(acc)  # outside the guard: the shuffles need the whole warp
    if lane == 0 and row < y.shape[1]:
        y[n, row] = acc


def csr_warp_a_row_cost(n: int, rows: int, nnz: int, itemsize: int = 4) -> Cost:
    """Like csr_thread_a_row_cost; both starts for each lane, an addition per lane and shuffle."""
    shuffled = launch.ceil_div(rows, WARPS) * LEVELS * BLOCK
    return Cost(
        bytes=n * ((2 * itemsize + 4) * nnz + (itemsize + 8 * WARP) * rows),
        flops=n * (2 * nnz + shuffled),
    )


# --- Host functions --------------------------------------------------------------------------


def to_csr(a: npt.ArrayLike) -> Csr:
    """Return the values, columns and starts of a matrix on the host, as scipy's csr_matrix does."""
    a = np.asarray(a)
    launch.check_array("to_csr", "a", a, ndim=2, dtypes=launch.FLOATS)
    row, column = np.nonzero(a)
    starts = np.zeros(len(a) + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=len(a)), out=starts[1:])
    return a[row, column], column.astype(np.int32), starts


@signature.takes(
    "values: nnz, columns: nnz, starts: ends, x: vectors... cols -> open",
    columns=(np.int32,),
    starts=(np.int32,),
    layout="C",
)
def csr_matvec(
    values: Any,
    columns: Any,
    starts: Any,
    x: Any,
    *,
    variant: str = "warp_a_row",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the product of a matrix in CSR, as `to_csr` makes it, and a vector or several.

    x (cols,) gives (rows,), x (N, cols) gives (N, rows): the product with each row of x. values and
    x are float32 or float64, columns and starts int32. Raises LaunchError (a ValueError) for N
    above 65535.
    """
    chosen = launch.pick("csr_matvec", VARIANTS, variant)
    *vectors, cols = x.shape
    rows, n = starts.shape[0] - 1, math.prod(vectors)
    if rows < 0:
        raise ValueError(
            "csr_matvec: expected starts of rows + 1 elements, got none. Pass what to_csr returns."
        )
    result = out.of((*vectors, rows))
    if values.shape[0] == 0 or cols == 0:  # a zero that is in no row keeps the arrays from empty
        values, columns = (launch.zeros((1,), dtype, stream) for dtype in (x.dtype, np.int32))
        x, cols = launch.zeros((n, 1), x.dtype, stream), 1
    if n and rows:
        y = result.flat().reshape(n, rows)
        grid = chosen.grid("csr_matvec", rows, n)
        kernel = chosen.kernel[grid, chosen.block, stream]
        kernel(values, columns, starts, x.reshape(n, cols), y)
    return result.get()


_variant = functools.partial(Variant, reference=csr_matvec_reference)
VARIANTS = (
    _variant(
        "thread_a_row", csr_thread_a_row_kernel, csr_thread_a_row_cost, block=BLOCK, tile=(BLOCK, 1)
    ),
    _variant(
        "warp_a_row",
        csr_warp_a_row_kernel,
        csr_warp_a_row_cost,
        block=(WARP, WARPS),
        tile=(WARPS, 1),
    ),
)
__all__ = launch.public_names(globals())
