"""Matrix-vector product: y = a x, with a thread, a warp or a block per row.

Every element of a is used once, in one multiplication and one addition: two operations per four or
eight bytes, far fewer than a GPU can do in that time. So all variants are memory-bound, and differ
in which thread reads what. A GPU moves sectors of 32 bytes; all sectors below are for one load of
float32 by a full warp, with rows that begin at multiples of 32 bytes.

Legend
    rows, cols  height and width of a; x has cols elements, y has rows  4000, 2500
    row         the element of y, and the row of a, that is computed    range [0, rows)
    col         the index along that row, and in x                      range [0, cols)
    tid         the thread in its block                                 range [0, BLOCK)
    lane        the thread in its warp                                  range [0, WARP)
    k           the group of four columns that is loaded at once        range [0, cols / 4)
    acc         this thread's partial sum of the row
    totals      the sum of each warp of the block, in shared memory
    BLOCK       threads per block, a multiple of 32                     256
    WARPS       warps per block                                         8
    WIDTH       elements per 16-byte load                               4

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_sum, warp_sum
from gpukit.launch import Cost, Variant
from gpukit.primitives.vectorized import WIDTH, is_aligned, load4

BLOCK = 256
WARPS = BLOCK // WARP
LEVELS = WARP.bit_length() - 1  # log2(WARP)


# --- Reference -------------------------------------------------------------------------------


def matvec_reference(a: npt.ArrayLike, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a x, accumulated in float64: float32 would hide the error of the kernel."""
    return np.asarray(a, np.float64) @ np.asarray(x, np.float64)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matvec_thread_a_row_kernel(a, x, y):
    """Multiply a matrix by a vector, one thread per row.

    New here   each thread walks its own row, which is deliberately slow: in each iteration a warp
               reads 32 elements of one column, 32 sectors, of which it uses an eighth;
               the load of x is one element for all threads, 1 sector
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order
    Launch     block BLOCK, grid ceil_div(rows, BLOCK), or any other that covers rows; x = row
    Cost       bytes: itemsize rows (2 cols + 1); flops: 2 rows cols; barriers: 0
    Errors     the host function rejects a.shape[1] != x.shape[0]; the kernel assumes them equal
    Source     Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
               Throughput-Oriented Processors", SC 2009, the scalar kernel, for full rows
    """
    row = cuda.grid(1)
    if row < a.shape[0]:
        acc = y.dtype.type(0)
        for col in range(a.shape[1]):
            acc += a[row, col] * x[col]
        y[row] = acc


def matvec_thread_a_row_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Per row: 2 loads, a multiplication and an addition per column, then one store."""
    return Cost(bytes=itemsize * rows * (2 * cols + 1), flops=2 * rows * cols)


@cuda.jit
def matvec_warp_a_row_kernel(a, x, y):
    """Multiply a matrix by a vector, one warp per row.

    New here   the lanes of a warp work on one row and load neighbouring elements of it: 4 sectors
               per load, fully used; shuffles then add the 32 partial sums without memory or a
               barrier. The price: a row shorter than a warp leaves lanes idle
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order
    Launch     block (WARP, WARPS) or another (WARP, n), grid ceil_div(rows, n); x = lane, y = row
    Cost       bytes: itemsize rows (2 cols + 1); flops: 2 rows cols, and 160 in each warp of the
               launch, also in those without a row; barriers: 0
    Errors     the host function rejects a.shape[1] != x.shape[0]; the kernel assumes them
               equal, and a block 32 threads wide
    Source     Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
               Throughput-Oriented Processors", SC 2009, the vector kernel, for full rows
    """
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    acc = y.dtype.type(0)
    if row < a.shape[0]:
        for col in range(lane, a.shape[1], WARP):
            acc += a[row, col] * x[col]
    acc = warp_sum(acc)  # outside the guard: the shuffles need the whole warp
    if lane == 0 and row < a.shape[0]:
        y[row] = acc


def matvec_warp_a_row_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Like matvec_thread_a_row_cost, and one addition per lane and shuffle step."""
    shuffled = launch.ceil_div(rows, WARPS) * LEVELS * BLOCK
    return Cost(bytes=itemsize * rows * (2 * cols + 1), flops=2 * rows * cols + shuffled)


@cuda.jit
def matvec_block_a_row_kernel(a, x, y):
    """Multiply a matrix by a vector, one block per row.

    New here   eight warps per row, for matrices with few and long rows: shuffles sum each warp,
               the sums go through shared memory, and thread 0 adds them. 32 elements suffice,
               since no block has more warps
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order
    Dtypes     float32 or float64, the same for all arrays, the accumulator and the sums of warps
    Launch     block BLOCK or another multiple of 32, grid rows; x = index in the row
    Shared     32 * itemsize bytes, static
    Cost       bytes: itemsize rows (2 cols + 1); flops: rows (2 cols + 5 BLOCK + WARPS - 1);
               barriers: 1
    Errors     the host function rejects a.shape[1] != x.shape[0]; the kernel assumes them
               equal, a block size that is a multiple of 32, and one block per row
    Source     Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    totals = cuda.shared.array(WARP, y.dtype)
    acc = y.dtype.type(0)
    for col in range(tid, a.shape[1], cuda.blockDim.x):
        acc += a[row, col] * x[col]
    acc = block_sum(acc, totals, tid, cuda.blockDim.x // WARP)
    if tid == 0:
        y[row] = acc


def matvec_block_a_row_cost(rows: int, cols: int, block: int = BLOCK, itemsize: int = 4) -> Cost:
    """Like matvec_thread_a_row_cost, and the shuffles of every warp, and the sums of warps."""
    joined = LEVELS * block + block // WARP - 1
    return Cost(bytes=itemsize * rows * (2 * cols + 1), flops=rows * (2 * cols + joined))


@cuda.jit
def matvec_vectorized_kernel(a, x, y):
    """Multiply a matrix by a vector, one warp per row, with 16-byte loads.

    New here   16-byte loads: a warp requests 512 bytes of the row at once, 16 sectors, and as many
               of x, so a row takes a quarter of the loads. They require rows that begin at
               multiples of 16 bytes, hence a row length that is a multiple of four; other rows are
               loaded one element at a time
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order, a and x aligned to
               16 bytes
    Dtypes     float32 in, float32 out, float32 accumulator
    Launch     block BLOCK or another multiple of 32, grid ceil_div(rows, BLOCK / 32);
               x = row * 32 + lane
    Cost       bytes: 4 rows (2 cols + 1); flops: rows (2 cols + 160); barriers: 0
    Errors     the host function rejects a.shape[1] != x.shape[0] and launches
               matvec_warp_a_row_kernel for a misaligned a or x; the kernel assumes a block size
               that is a multiple of 32
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    row = cuda.grid(1) // WARP
    lane = cuda.threadIdx.x % WARP
    cols = a.shape[1]
    if row < a.shape[0]:  # the same for all lanes of a warp, so all of them call warp_sum
        acc = np.float32(0)
        if cols % WIDTH == 0:
            own = a[row]
            for k in range(lane, cols // WIDTH, WARP):
                a0, a1, a2, a3 = load4(own, k)
                x0, x1, x2, x3 = load4(x, k)
                acc += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
        else:
            for col in range(lane, cols, WARP):
                acc += a[row, col] * x[col]
        acc = warp_sum(acc)
        if lane == 0:
            y[row] = acc


def matvec_vectorized_cost(rows: int, cols: int) -> Cost:
    """Like matvec_warp_a_row_cost with fewer, larger loads; warps without a row do nothing."""
    return Cost(bytes=4 * rows * (2 * cols + 1), flops=rows * (2 * cols + LEVELS * WARP))


# --- Host function ---------------------------------------------------------------------------


@signature.takes("a: rows cols, x: cols -> rows", inner="cols", turn=("a", "Did you mean a.T?"))
def matvec(a: Any, x: Any, *, variant: str = "warp_a_row", out: Any = None, stream: Any = 0) -> Any:
    """Return the product of a matrix and a vector, both float32 or both float64.

    (rows, cols) and (cols,) give (rows,): `[[1. 2.]] @ [3. 4.]` is `[11.]`. A sum over no columns
    is zero. The vectorized variant takes only float32.
    """
    chosen = launch.pick("matvec", VARIANTS, variant)
    launch.check_variant_dtype("matvec", chosen, a)
    rows, cols = a.shape
    if cols == 0:  # an inner size of 1 filled with zeros gives the same result
        a, x = (launch.zeros(shape, a.dtype, stream) for shape in ((rows, 1), (1,)))
    if rows:
        if chosen.instead and not all(map(_loads_at_once, (a, x))):
            chosen = launch.pick("matvec", VARIANTS, chosen.instead)
        chosen.kernel[chosen.grid("matvec", rows), chosen.block, stream](a, x, out.array)
    return out.get()


def _loads_at_once(array: Any) -> bool:
    """Return whether an array allows 16-byte loads."""
    return launch.is_contiguous(array) and is_aligned(array)


_variant = functools.partial(Variant, reference=matvec_reference, block=BLOCK)
VARIANTS = (
    _variant("thread_a_row", matvec_thread_a_row_kernel, matvec_thread_a_row_cost),
    _variant(
        "warp_a_row",
        matvec_warp_a_row_kernel,
        matvec_warp_a_row_cost,
        block=(WARP, WARPS),
        tile=WARPS,
    ),
    _variant("block_a_row", matvec_block_a_row_kernel, matvec_block_a_row_cost, tile=1),
    _variant(
        "vectorized",
        matvec_vectorized_kernel,
        matvec_vectorized_cost,
        tile=WARPS,
        dtypes=(np.float32,),
        instead="warp_a_row",
    ),
)
__all__ = launch.public_names(globals())
