"""Softmax, one thread for one row: in three launches, in one, and with rows that lie side by side.

    softmax(x)_j = e^x_j / sum of e^x        positive, and 1 in all: probabilities

e^89 is too large for float32. Taking the largest element of the row off all of them changes
nothing, for top and bottom shrink by the same factor, and no power is above 1 then. So a row is
walked along three times: for its largest, for the sum of its powers, and for the results.

Legend
    rows, cols  height and width of the matrix                      10 000, 1000
    row         the row that a thread works on                      ranges [0, rows)
    j           the place along the row                             ranges [0, cols)
    best        the largest element of a row
    total       the sum of e^(x - best) over a row, 1 to cols
    power       e^(x - best), 0 to 1
    outer, n, inner  axes before the one that is summed along, that one, and those behind it
    o, k        the row at places o and k of the outer and the inner axis
    BLOCK       threads in a block                                  256

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for all arrays and sums
    Errors     the host function rejects other dtypes and shapes; the kernel assumes rows of at
               least one element. A row with NaN or inf, or with nothing but -inf, is NaN
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import larger
from gpukit.launch import Cost, Variant

BLOCK = 256


# --- Reference -------------------------------------------------------------------------------


def softmax_reference(x: npt.ArrayLike, dim: int = -1) -> npt.NDArray[np.float64]:
    """Return e^x divided by its sum along an axis, with the largest element taken off first."""
    x = np.asarray(x, np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, as it should be
        powers = np.exp(x - x.max(axis=dim, keepdims=True))
    made: npt.NDArray[np.float64] = powers / powers.sum(axis=dim, keepdims=True)
    return made


# --- Three launches --------------------------------------------------------------------------


@cuda.jit
def softmax_max_kernel(x, best):
    """Find the largest element of each row, one thread for one row.

    New here   the first of three launches: each writes what the next one needs to memory
    Shapes     x (rows, cols), best (rows,)
    Launch     block BLOCK, grid ceil_div(rows, BLOCK); x = row
    Cost       bytes: itemsize rows (cols + 1); flops: 0, for comparing is not counted; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 4.1
    """
    row = cuda.grid(1)
    if row < x.shape[0]:
        found = x[row, 0]
        for j in range(1, x.shape[1]):
            value = x[row, j]
            if larger(value, found):
                found = value
        best[row] = found


def softmax_max_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load for each element, one store for each row."""
    return Cost(bytes=itemsize * rows * (cols + 1), flops=0)


@cuda.jit
def softmax_sum_kernel(x, best, total):
    """Add up e^(x - best) along each row, one thread for one row.

    New here   no power is above 1, and that of the largest element is 1: the sum can neither
               overflow nor be 0
    Shapes     x (rows, cols), best (rows,), total (rows,)
    Launch     block BLOCK, grid ceil_div(rows, BLOCK); x = row
    Cost       bytes: itemsize rows (cols + 2); flops: 3 rows cols, one of three the call of exp;
               barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 4.1
    """
    row = cuda.grid(1)
    if row < x.shape[0]:
        top = best[row]
        acc = x.dtype.type(0)
        for j in range(x.shape[1]):
            acc += math.exp(x[row, j] - top)
        total[row] = acc


def softmax_sum_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """For each element a load, a difference, exp and an addition."""
    return Cost(bytes=itemsize * rows * (cols + 2), flops=3 * rows * cols)


@cuda.jit
def softmax_three_pass_kernel(x, best, total, out):
    """Divide the powers of each row by their sum, one block for one row.

    New here   the last of the three launches; now that nothing is added up, neighbouring threads
               take neighbouring elements. Each computes its power anew: an array of powers
               between the launches would be written and read once more
    Shapes     x (rows, cols), best (rows,), total (rows,), out (rows, cols)
    Launch     block BLOCK or any other, grid rows; x = place in the row
    Cost       bytes: itemsize rows (2 cols + 2 BLOCK); flops: 3 rows cols; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 4.1
    """
    row = cuda.blockIdx.x
    top, sum_of_row = best[row], total[row]
    for j in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        out[row, j] = math.exp(x[row, j] - top) / sum_of_row


def softmax_three_pass_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """A load, a store and three operations for each element, two loads for each thread."""
    return Cost(bytes=2 * itemsize * rows * (cols + BLOCK), flops=3 * rows * cols)


# --- One launch ------------------------------------------------------------------------------


@cuda.jit
def softmax_thread_kernel(x, out):
    """Compute the softmax of each row in one launch, one thread for one row.

    New here   what one launch left in memory for the next stays in registers. But neighbouring
               threads read different rows, so every load of a warp takes 32 sectors, of which it
               uses an eighth
    Shapes     x (rows, cols), out (rows, cols)
    Launch     block BLOCK, grid ceil_div(rows, BLOCK); x = row
    Cost       bytes: 4 itemsize rows cols; flops: 6 rows cols, two of six calls of exp; barriers: 0
    Source     Andrej Karpathy, llm.c, dev/cuda/softmax_forward.cu, kernel 1
    """
    row = cuda.grid(1)
    if row < x.shape[0]:
        best = x[row, 0]
        for j in range(1, x.shape[1]):
            value = x[row, j]
            if larger(value, best):
                best = value
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += math.exp(x[row, j] - best)
        for j in range(x.shape[1]):
            out[row, j] = math.exp(x[row, j] - best) / total


def softmax_thread_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Three loads and a store for each element; exp, a difference and one operation more, twice."""
    return Cost(bytes=4 * itemsize * rows * cols, flops=6 * rows * cols)


@cuda.jit
def softmax_inner_kernel(x, out):
    """Compute the softmax along an axis that is not the last, one thread for one row.

    New here   the same walk, and now it is coalesced: the elements of a row lie `inner` apart, but
               the rows lie side by side, and so do the elements that a warp reads. No shuffle and
               no copy in another order is needed. The powers wait in out for their sum
    Shapes     x (outer, n, inner), out (outer, n, inner)
    Launch     block BLOCK, grid (ceil_div(inner, BLOCK), outer), or fewer along y; x = place in
               the inner axis, y = place in the outer one
    Cost       bytes: 5 itemsize outer n inner; flops: 4 outer n inner; barriers: 0
    Source     ours
    """
    k = cuda.grid(1)
    if k < x.shape[2]:
        for o in range(cuda.blockIdx.y, x.shape[0], cuda.gridDim.y):
            best = x[o, 0, k]
            for j in range(1, x.shape[1]):
                value = x[o, j, k]
                if larger(value, best):
                    best = value
            total = x.dtype.type(0)
            for j in range(x.shape[1]):
                power = math.exp(x[o, j, k] - best)
                out[o, j, k] = power
                total += power
            for j in range(x.shape[1]):
                out[o, j, k] /= total


def softmax_inner_cost(outer: int, n: int, inner: int, itemsize: int = 4) -> Cost:
    """Three loads and two stores for each element; a difference, exp, a sum and a division."""
    return Cost(bytes=5 * itemsize * outer * n * inner, flops=4 * outer * n * inner)


# A thread for each row of three axes that lies beside its neighbour's.
inner_variant = functools.partial(
    Variant, block=BLOCK, tile=(BLOCK, 1), most_blocks=launch.GRID_LIMIT[1]
)
_variant = functools.partial(Variant, reference=softmax_reference, block=BLOCK)
VARIANTS = (
    _variant("max", softmax_max_kernel, softmax_max_cost, reference=np.max),
    _variant("sum", softmax_sum_kernel, softmax_sum_cost),
    _variant("three_pass", softmax_three_pass_kernel, softmax_three_pass_cost, tile=1),
    _variant("thread", softmax_thread_kernel, softmax_thread_cost),
    inner_variant("inner", softmax_inner_kernel, softmax_inner_cost, softmax_reference),
)
__all__ = launch.public_names(globals())
