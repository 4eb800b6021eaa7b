"""Softmax with one warp or one block per row: neighbouring threads access neighbouring elements.

Each thread walks along its elements of a row; then the threads of the row reduce their maxima and
sums, and every one of them needs both: that is what warp_all_max and block_all_sum of
gpukit.collectives are for.

Legend
    rows, cols  height and width of the matrix                    10 000, 1000
    row         the row of this warp or block                     range [0, rows)
    j           the index along the row                           range [0, cols)
    lane        the thread in its warp                            range [0, WARP)
    tid         the thread in its block                           range [0, BLOCK)
    best        the maximum of a thread's elements, then of the row
    total       the sum of e^(x - best) over a thread's elements, then over the row
    exponential  e^(x - best)                                     0 to 1
    kept        a row in shared memory, of at most KEPT elements  4096
    joins       shared memory for the results of the warps of a block
    BLOCK       threads per block with one block per row          128
    WARPS       warps per such block                              4
    ROWS        rows per block with one warp per row              8

All kernels, unless stated otherwise
    Shapes     x (rows, cols), out (rows, cols); any rows >= 1 and cols >= 1, C order
    Dtypes     float32 or float64, the same for both arrays and sums
    Errors     the host function rejects other dtypes and shapes; the kernel assumes a block
               as given under Launch. A row with NaN or inf, or of nothing but -inf, is NaN
"""

from __future__ import annotations

import functools
import math

import numpy as np

from gpukit import cuda, launch
from gpukit.collectives import (
    WARP,
    block_all_max,
    block_all_sum,
    larger,
    warp_all_max,
    warp_all_sum,
)
from gpukit.kernels.softmax.threads import softmax_reference
from gpukit.launch import Cost, Variant, ceil_div

BLOCK = 128
WARPS = BLOCK // WARP
LEVELS = WARP.bit_length() - 1  # log2(WARP)
ROWS = 8
KEPT = 4096
LOWEST = -np.inf


# --- What warps do together ------------------------------------------------------------------


@cuda.jit(device=True)
def warp_row_max(x, row, lane):
    """Return, in every lane, the maximum of a row; every lane must call it."""
    best = x.dtype.type(LOWEST)
    if row < x.shape[0]:
        for j in range(lane, x.shape[1], WARP):
            value = x[row, j]
            if larger(value, best):
                best = value
    return warp_all_max(best)


@cuda.jit(device=True)
def warp_row_powers(x, row, lane, out):
    """Write e^(x - best) to a row of out; return, in every lane, best and the sum of the row.

    Loads x twice, stores out once, and takes three operations per element.
    """
    best = warp_row_max(x, row, lane)
    total = x.dtype.type(0)
    if row < x.shape[0]:
        for j in range(lane, x.shape[1], WARP):
            exponential = math.exp(x[row, j] - best)
            out[row, j] = exponential
            total += exponential
    return best, warp_all_sum(total)


@cuda.jit(device=True)
def warp_row_total(x, row, lane):
    """Return, in every lane, the maximum of a row and the sum of its e^(x - best).

    Loads x twice, and takes three operations per element.
    """
    best = warp_row_max(x, row, lane)
    total = x.dtype.type(0)
    if row < x.shape[0]:
        for j in range(lane, x.shape[1], WARP):
            total += math.exp(x[row, j] - best)
    return best, warp_all_sum(total)


def shuffled(rows: int) -> int:
    """Return the additions of one warp_all_sum per row: all warps of a block take part."""
    return ceil_div(rows, ROWS) * ROWS * WARP * LEVELS


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def softmax_warp_kernel(x, out):
    """Compute the softmax of each row, one warp per row.

    New here   32 lanes work on a row, so their loads are coalesced, and butterfly shuffles give
               all of them its maximum and its sum. The exponentials are stored in out and loaded
               again by the same lane when the sum is known: exp is called once per element
    Launch     block (WARP, ROWS), grid ceil_div(rows, ROWS); x = lane, y = row
    Cost       bytes: 5 itemsize rows cols; flops: 4 rows cols, and 160 in each warp of the
               launch, also in those without a row; barriers: 0
    Source     Andrej Karpathy, llm.c, dev/cuda/softmax_forward.cu, kernel 3
    """
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    _, total = warp_row_powers(x, row, lane, out)
    if row < x.shape[0]:
        for j in range(lane, x.shape[1], WARP):
            out[row, j] /= total


def softmax_warp_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Three loads, two stores and four operations per element, and the shuffles of one sum."""
    return Cost(bytes=5 * itemsize * rows * cols, flops=4 * rows * cols + shuffled(rows))


@cuda.jit
def softmax_block_kernel(x, out):
    """Compute the softmax of each row in shared memory, one block per row.

    New here   shared memory holds the row from the first load to the store: every element is
               loaded from global memory once, the minimum. Each thread reads only what it
               stored itself, so the row needs no barrier
    Shapes     x (rows, cols), out (rows, cols); any rows >= 1, 1 <= cols <= KEPT, C order
    Launch     block BLOCK, grid rows; x = index in the row
    Shared     (KEPT + WARPS) * itemsize bytes, static
    Cost       bytes: 2 itemsize rows cols; flops: rows (4 cols + BLOCK (4 + WARPS)); barriers: 4
    Errors     the host function launches softmax_online_kernel for longer rows; the kernel assumes
               its block is BLOCK. A row with NaN or inf, or of nothing but -inf, is NaN
    Source     gpukit
    """
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    joins = cuda.shared.array(WARPS, x.dtype)
    kept = cuda.shared.array(KEPT, x.dtype)
    best = x.dtype.type(LOWEST)
    for j in range(tid, x.shape[1], BLOCK):
        value = x[row, j]
        kept[j] = value
        if larger(value, best):
            best = value
    best = block_all_max(best, joins, tid, WARPS)
    total = x.dtype.type(0)
    for j in range(tid, x.shape[1], BLOCK):
        exponential = math.exp(kept[j] - best)
        kept[j] = exponential
        total += exponential
    total = block_all_sum(total, joins, tid, WARPS)
    for j in range(tid, x.shape[1], BLOCK):
        out[row, j] = kept[j] / total


def softmax_block_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load, one store and four operations per element, and the sum over the block."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=rows * (4 * cols + _joined()))


@cuda.jit
def softmax_online_kernel(x, out):
    """Compute the online softmax of each row, one block per row, maximum and sum in one loop.

    New here   a sum of e^(x - best) need not wait for the maximum: when a larger element appears,
               the sum so far is rescaled by e^(old best - new best), and the new element
               adds 1. The threads' results are combined by the same rule. So a row of any length
               is read twice, at the price of one more multiplication per element
    Launch     block BLOCK, grid rows; x = index in the row
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: 3 itemsize rows cols; flops: rows (7 cols + BLOCK (7 + WARPS)); barriers: 4
    Source     Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018
    """
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    joins = cuda.shared.array(WARPS, x.dtype)
    one = x.dtype.type(1)
    best = x.dtype.type(LOWEST)
    total = x.dtype.type(0)
    for j in range(tid, x.shape[1], BLOCK):
        value = x[row, j]
        factor = math.exp(-abs(value - best))
        shrink = factor if value > best else one
        more = one if value >= best else factor  # also for -inf after -inf, where factor is NaN
        total = total * shrink + more
        best = value if value > best else best
    maximum = block_all_max(best, joins, tid, WARPS)
    total *= math.exp(best - maximum)  # NaN where the maximum is not finite, and so is the result
    total = block_all_sum(total, joins, tid, WARPS)
    for j in range(tid, x.shape[1], BLOCK):
        out[row, j] = math.exp(x[row, j] - maximum) / total


def softmax_online_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Two loads, a store, seven operations per element; three per thread, and the block's sum."""
    flops = rows * (7 * cols + 3 * BLOCK + _joined())
    return Cost(bytes=3 * itemsize * rows * cols, flops=flops)


def _joined() -> int:
    """Return the additions of block_all_sum: shuffles, then each thread the sums of all warps."""
    return BLOCK * (LEVELS + WARPS - 1)


# A warp per row, several rows per block.
warp_variant = functools.partial(Variant, block=(WARP, ROWS), tile=ROWS)
_variant = functools.partial(Variant, reference=softmax_reference, block=BLOCK, tile=1)
VARIANTS = (
    warp_variant("warp", softmax_warp_kernel, softmax_warp_cost, softmax_reference),
    _variant("block", softmax_block_kernel, softmax_block_cost, instead="online"),
    _variant("online", softmax_online_kernel, softmax_online_cost),
)
__all__ = launch.public_names(globals())
