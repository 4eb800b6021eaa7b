"""Matrix times vector: y = a x, the work on a row given to a thread, to a warp, to a block.

Every element of a is used once, in one multiplication and one addition: two operations for the
four or eight bytes of the element, which is far fewer than a GPU can do meanwhile. So the memory
decides, and the variants differ in who reads what. A GPU moves sectors of 32 bytes; all sectors
below are for one load of float32 by a full warp, with rows that begin at multiples of 32 bytes.

Legend
    rows, cols  height and width of a; x has cols elements, y has rows     4000, 2500
    row         the element of y, and the row of a, that is worked on      ranges [0, rows)
    col         the place along that row, and in x                         ranges [0, cols)
    tid         the thread in its block                                    ranges [0, BLOCK)
    lane        the thread in its warp                                     ranges [0, WARP)
    k           the four columns that are loaded at once                   ranges [0, cols / 4)
    acc         the part of the row's sum that this thread holds
    totals      the sum of each warp of the block, in shared memory
    BLOCK       threads in a block, a multiple of 32                       256
    WARPS       warps in a block                                           8
    WIDTH       elements of one load of 16 bytes                           4

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for all arrays and the accumulator
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_sum, warp_sum
from gpukit.launch import Cost, Variant
from gpukit.primitives.wide import WIDTH, is_aligned, load4

BLOCK = 256
WARPS = BLOCK // WARP
LEVELS = WARP.bit_length() - 1  # log2(WARP)


# --- Reference -------------------------------------------------------------------------------


def matvec_reference(a: npt.ArrayLike, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a x, summed in float64: the error of a float32 sum would hide the kernel's own."""
    return np.asarray(a, np.float64) @ np.asarray(x, np.float64)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def matvec_thread_a_row_kernel(a, x, y):
    """Multiply a matrix by a vector, one thread for one row.

    New here   each thread walks its own row, and that is slow on purpose: in each turn a warp
               reads 32 elements of one column, 32 sectors, of which this turn uses an eighth;
               that of x is one element for all, 1 sector
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
    """For each row: 2 loads, a multiplication and an addition in each column, then one store."""
    return Cost(bytes=itemsize * rows * (2 * cols + 1), flops=2 * rows * cols)


@cuda.jit
def matvec_warp_a_row_kernel(a, x, y):
    """Multiply a matrix by a vector, one warp for one row.

    New here   the lanes of a warp share a row and take neighbouring elements of it: 4 sectors
               a load, all of each used; shuffles then join the 32 sums without memory and
               without a barrier. The price: a row shorter than a warp leaves lanes idle
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order
    Launch     block (WARP, WARPS) or another (WARP, n), grid ceil_div(rows, n); x = lane, y = row
    Cost       bytes: itemsize rows (2 cols + 1); flops: 2 rows cols, and 160 in each warp of the
               launch, also in those without a row; barriers: 0
    Errors     the host function rejects a.shape[1] != x.shape[0]; the kernel assumes them
               equal, and its block to be 32 threads wide
    Source     Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
               Throughput-Oriented Processors", SC 2009, the vector kernel, for full rows
    """
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    acc = y.dtype.type(0)
    if row < a.shape[0]:
        for col in range(lane, a.shape[1], WARP):
            acc += a[row, col] * x[col]
    acc = warp_sum(acc)  # outside of the guard: a shuffle needs the whole warp
    if lane == 0 and row < a.shape[0]:
        y[row] = acc


def matvec_warp_a_row_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """The work of a thread on a row, and one addition for each lane and level of the shuffles."""
    shuffled = launch.ceil_div(rows, WARPS) * LEVELS * BLOCK
    return Cost(bytes=itemsize * rows * (2 * cols + 1), flops=2 * rows * cols + shuffled)


@cuda.jit
def matvec_block_a_row_kernel(a, x, y):
    """Multiply a matrix by a vector, one block for one row.

    New here   eight warps on a row, for matrices with few and long rows: shuffles add up each
               warp, its sum goes through shared memory, and thread 0 adds up those. 32 places
               are enough: no block has more warps
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays, the accumulator and the sums of warps
    Launch     block BLOCK or another multiple of 32, grid rows; x = place in the row
    Shared     32 * itemsize bytes, static
    Cost       bytes: itemsize rows (2 cols + 1); flops: rows (2 cols + 5 BLOCK + WARPS - 1);
               barriers: 1
    Errors     the host function rejects a.shape[1] != x.shape[0]; the kernel assumes them
               equal, its block to be a multiple of 32 threads, and one block for each row
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
    """The work of a thread on a row, shuffles in every warp, and an addition for each but one."""
    joined = LEVELS * block + block // WARP - 1
    return Cost(bytes=itemsize * rows * (2 * cols + 1), flops=rows * (2 * cols + joined))


@cuda.jit
def matvec_vectorised_kernel(a, x, y):
    """Multiply a matrix by a vector, one warp for one row, four elements at a load.

    New here   loads of 16 bytes: a warp asks for 512 bytes of the row at once, 16 sectors, and
               for as many of x, so a row takes a quarter of the loads. They need rows that begin
               at multiples of 16 bytes, so of a multiple of four elements; other rows are read
               one by one
    Shapes     a (rows, cols), x (cols,), y (rows,); any sizes >= 1, C order, a and x at multiples
               of 16 bytes
    Dtypes     float32 in, float32 out, float32 accumulator
    Launch     block BLOCK or another multiple of 32, grid ceil_div(rows, BLOCK / 32);
               x = row * 32 + lane
    Cost       bytes: 4 rows (2 cols + 1); flops: rows (2 cols + 160); barriers: 0
    Errors     the host function rejects a.shape[1] != x.shape[0] and takes
               matvec_warp_a_row_kernel for an a or x that lies misaligned; the kernel assumes its
               block to be a multiple of 32 threads
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    row = cuda.grid(1) // WARP
    lane = cuda.threadIdx.x % WARP
    cols = a.shape[1]
    if row < a.shape[0]:  # true for all lanes of a warp or for none, so all meet in warp_sum
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


def matvec_vectorised_cost(rows: int, cols: int) -> Cost:
    """The work of a warp on a row, asked for in larger pieces; warps without a row do nothing."""
    return Cost(bytes=4 * rows * (2 * cols + 1), flops=rows * (2 * cols + LEVELS * WARP))


# --- Host function ---------------------------------------------------------------------------


@signature.takes("a: rows cols, x: cols -> rows", inner="cols", turn=("a", "Did you mean a.T?"))
def matvec(a: Any, x: Any, *, variant: str = "warp_a_row", out: Any = None, stream: Any = 0) -> Any:
    """Return the product of a matrix and a vector, both float32 or both float64.

    (rows, cols) and (cols,) give (rows,): `[[1. 2.]] @ [3. 4.]` is `[11.]`. A sum over no columns
    is zero. The vectorised variant takes only float32.
    """
    chosen = launch.pick("matvec", VARIANTS, variant)
    launch.check_variant_dtype("matvec", chosen, a)
    rows, cols = a.shape
    if cols == 0:  # a product of zeros has the same shape and something to multiply
        a, x = (launch.zeros(shape, a.dtype, stream) for shape in ((rows, 1), (1,)))
    if rows:
        if chosen.instead and not all(map(_loads_at_once, (a, x))):
            chosen = launch.pick("matvec", VARIANTS, chosen.instead)
        chosen.kernel[chosen.grid("matvec", rows), chosen.block, stream](a, x, out.array)
    return out.get()


def _loads_at_once(array: Any) -> bool:
    """Whether four neighbouring elements of an array may be loaded as one."""
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
        "vectorised",
        matvec_vectorised_kernel,
        matvec_vectorised_cost,
        tile=WARPS,
        dtypes=(np.float32,),
        instead="warp_a_row",
    ),
)
__all__ = launch.public_names(globals())
