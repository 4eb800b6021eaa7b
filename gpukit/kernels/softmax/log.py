"""Log softmax, along the last axis and along another one.

    log softmax(x)_j = x_j - best - log(sum of e^(x - best))

The logarithm of a computed softmax would be -inf as soon as the probability underflows, from about
e^-103 down in float32. This formula takes the logarithm of the sum alone, which is at least 1.

Legend
    rows, cols  height and width of the matrix             10 000, 1000
    outer, n, inner  sizes of the axes before the summed axis, of it, and of those after it
    best        the maximum of a row
    total       the sum of e^(x - best) over a row, 1 to cols
    shift       the logarithm of total
    ROWS        rows per block with one warp per row       8
    BLOCK       threads per block with one thread per row  256

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for both arrays and sums
    Errors     the host function rejects other dtypes and shapes; the kernel assumes a block
               as given under Launch. A row with NaN or inf, or of nothing but -inf, is NaN
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import WARP
from gpukit.kernels.softmax.groups import ROWS, shuffled, warp_row_total, warp_variant
from gpukit.kernels.softmax.threads import inner_row_max, inner_variant
from gpukit.launch import Cost

# --- Reference -------------------------------------------------------------------------------


def log_softmax_reference(x: npt.ArrayLike, dim: int = -1) -> npt.NDArray[np.float64]:
    """Return x minus the logarithm of the sum of e^x along an axis."""
    x = np.asarray(x, np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, as it should be
        shifted = x - x.max(axis=dim, keepdims=True)
    made: npt.NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def log_softmax_kernel(x, out):
    """Compute the log softmax of each row, one warp per row.

    New here   a difference of logarithms instead of the logarithm of a quotient, in this order:
               x - best is exact or nearly so, while best + shift could have a rounding error
               larger than the result
    Shapes     x (rows, cols), out (rows, cols); any rows >= 1 and cols >= 1, C order
    Launch     block (WARP, ROWS), grid ceil_div(rows, ROWS); x = lane, y = row
    Cost       bytes: 4 itemsize rows cols; flops: rows (5 cols + 32), and 160 in each warp of the
               launch, also in those without a row; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 4.1
    """
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    best, total = warp_row_total(x, row, lane)
    if row < x.shape[0]:
        shift = math.log(total)
        for j in range(lane, x.shape[1], WARP):
            out[row, j] = x[row, j] - best - shift


def log_softmax_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Three loads, a store and five operations per element, a logarithm per lane, the shuffles."""
    flops = rows * (5 * cols + WARP) + shuffled(rows)
    return Cost(bytes=4 * itemsize * rows * cols, flops=flops)


@cuda.jit
def log_softmax_inner_kernel(x, out):
    """Compute the log softmax along an axis that is not the last, one thread per row.

    New here   neighbouring rows are adjacent, as in softmax_inner_kernel: coalesced, no shuffles
    Shapes     x (outer, n, inner), out (outer, n, inner); any sizes >= 1, C order
    Launch     block BLOCK, grid (ceil_div(inner, BLOCK), outer), or fewer along y; x = index into
               the inner axis, y = index into the outer one
    Cost       bytes: 4 itemsize outer n inner; flops: outer inner (5 n + 1); barriers: 0
    Source     gpukit
    """
    k = cuda.grid(1)
    if k < x.shape[2]:
        for o in range(cuda.blockIdx.y, x.shape[0], cuda.gridDim.y):
            best = inner_row_max(x, o, k)
            total = x.dtype.type(0)
            for j in range(x.shape[1]):
                total += math.exp(x[o, j, k] - best)
            shift = math.log(total)
            for j in range(x.shape[1]):
                out[o, j, k] = x[o, j, k] - best - shift


def log_softmax_inner_cost(outer: int, n: int, inner: int, itemsize: int = 4) -> Cost:
    """Three loads, a store and five operations per element, and a logarithm per row."""
    return Cost(bytes=4 * itemsize * outer * n * inner, flops=outer * inner * (5 * n + 1))


VARIANTS = (
    warp_variant("rows", log_softmax_kernel, log_softmax_cost, log_softmax_reference),
    inner_variant("inner", log_softmax_inner_kernel, log_softmax_inner_cost, log_softmax_reference),
)
__all__ = launch.public_names(globals())
