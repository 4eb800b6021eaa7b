"""Softmax with one thread per row: in three launches, in one, and along an axis not the last.

    softmax(x)_j = e^x_j / sum of e^x        probabilities: positive, with sum 1

e^89 overflows float32. Subtracting the maximum of the row changes nothing, because numerator and
denominator shrink by the same factor, and then no exponential is above 1. So a row is read three
times: for its maximum, for the sum of its exponentials, and for the results.

Legend
    rows, cols  height and width of the matrix  10 000, 1000
    row         the row that a thread works on  range [0, rows)
    j           the index along the row         range [0, cols)
    best        the maximum of a row
    total       the sum of e^(x - best) over a row, 1 to cols
    exponential  e^(x - best)                   0 to 1
    outer, n, inner  sizes of the axes before the summed axis, of it, and of those after it
    o, k        indices of the row along the outer and the inner axis
    BLOCK       threads per block               256

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and sums
    Errors     the host function rejects other dtypes and shapes; the kernel assumes rows of at
               least one element. A row with NaN or inf, or of nothing but -inf, is NaN
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
    """Return e^x divided by its sum along an axis, after subtracting the maximum."""
    x = np.asarray(x, np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, as it should be
        powers = np.exp(x - x.max(axis=dim, keepdims=True))
    made: npt.NDArray[np.float64] = powers / powers.sum(axis=dim, keepdims=True)
    return made


# --- Three launches --------------------------------------------------------------------------


@cuda.jit
def softmax_max_kernel(x, best):
    """Compute the maximum of each row, one thread per row.

    New here   the first of three launches: each writes what the next one needs to memory
    Shapes     x (rows, cols), best (rows,)
    Launch     block BLOCK, grid ceil_div(rows, BLOCK); x = row
    Cost       bytes: itemsize rows (cols + 1); flops: 0, comparisons are not counted; barriers: 0
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
    """One load per element, one store per row."""
    return Cost(bytes=itemsize * rows * (cols + 1), flops=0)


@cuda.jit
def softmax_sum_kernel(x, best, total):
    """Sum e^(x - best) along each row, one thread per row.

    New here   no exponential is above 1, and that of the maximum is 1: the sum can neither
               overflow nor be 0
    Shapes     x (rows, cols), best (rows,), total (rows,)
    Launch     block BLOCK, grid ceil_div(rows, BLOCK); x = row
    Cost       bytes: itemsize rows (cols + 2); flops: 3 rows cols, one of three the call of exp;
               barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 4.1
    """
    row = cuda.grid(1)
    if row < x.shape[0]:
        maximum = best[row]
        acc = x.dtype.type(0)
        for j in range(x.shape[1]):
            acc += math.exp(x[row, j] - maximum)
        total[row] = acc


def softmax_sum_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Per element a load, a difference, exp and an addition."""
    return Cost(bytes=itemsize * rows * (cols + 2), flops=3 * rows * cols)


@cuda.jit
def softmax_three_pass_kernel(x, best, total, out):
    """Divide the exponentials of each row by their sum, one block per row.

    New here   the last of the three launches; since nothing is summed here, neighbouring threads
               take neighbouring elements. Each recomputes its exponential: an array of them
               would be written and read once more between the launches
    Shapes     x (rows, cols), best (rows,), total (rows,), out (rows, cols)
    Launch     block BLOCK or any other, grid rows; x = index in the row
    Cost       bytes: itemsize rows (2 cols + 2 BLOCK); flops: 3 rows cols; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 4.1
    """
    row = cuda.blockIdx.x
    maximum, sum_of_row = best[row], total[row]
    for j in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        out[row, j] = math.exp(x[row, j] - maximum) / sum_of_row


def softmax_three_pass_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """A load, a store and three operations per element, two loads per thread."""
    return Cost(bytes=2 * itemsize * rows * (cols + BLOCK), flops=3 * rows * cols)


# --- One launch ------------------------------------------------------------------------------


@cuda.jit
def softmax_thread_kernel(x, out):
    """Compute the softmax of each row in one launch, one thread per row.

    New here   intermediate results stay in registers instead of memory. But neighbouring
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
    """Three loads and a store per element; exp, a difference and one more operation, twice."""
    return Cost(bytes=4 * itemsize * rows * cols, flops=6 * rows * cols)


@cuda.jit(device=True)
def inner_row_max(x, o, k):
    """Return the maximum of the row x[o, :, k]."""
    best = x[o, 0, k]
    for j in range(1, x.shape[1]):
        value = x[o, j, k]
        if larger(value, best):
            best = value
    return best


@cuda.jit
def softmax_inner_kernel(x, out):
    """Compute the softmax along an axis that is not the last, one thread per row.

    New here   the same loops, but coalesced: the elements of a row are `inner` apart, but
               neighbouring rows are adjacent, and so are the elements that a warp reads: no
               shuffles, no transposed copy. The exponentials are stored in out meanwhile
    Shapes     x (outer, n, inner), out (outer, n, inner)
    Launch     block BLOCK, grid (ceil_div(inner, BLOCK), outer), or fewer along y; x = index into
               the inner axis, y = index into the outer one
    Cost       bytes: 5 itemsize outer n inner; flops: 4 outer n inner; barriers: 0
    Source     gpukit
    """
    k = cuda.grid(1)
    if k < x.shape[2]:
        for o in range(cuda.blockIdx.y, x.shape[0], cuda.gridDim.y):
            best = inner_row_max(x, o, k)
            total = x.dtype.type(0)
            for j in range(x.shape[1]):
                exponential = math.exp(x[o, j, k] - best)
                out[o, j, k] = exponential
                total += exponential
            for j in range(x.shape[1]):
                out[o, j, k] /= total


def softmax_inner_cost(outer: int, n: int, inner: int, itemsize: int = 4) -> Cost:
    """Three loads and two stores per element; a difference, exp, a sum and a division."""
    return Cost(bytes=5 * itemsize * outer * n * inner, flops=4 * outer * n * inner)


# One thread per row of an array of three axes, along the middle one.
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
