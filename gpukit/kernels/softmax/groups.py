"""Softmax, a warp or a block for one row: neighbouring threads take neighbouring elements.

Each thread walks along its share of a row; then all that share the row find the largest element
and the sum together, and each of them needs both: warp_all_max and block_all_sum of
gpukit.collectives hand them to all.

Legend
    rows, cols  height and width of the matrix                      10 000, 1000
    row         the row that the threads of a warp or block share   ranges [0, rows)
    j           the place along the row                             ranges [0, cols)
    lane        the thread in its warp                              ranges [0, WARP)
    tid         the thread in its block                             ranges [0, BLOCK)
    best        the largest element of a thread's share, then that of the row
    total       the sum of e^(x - best) over the share, then over the row
    power       e^(x - best), 0 to 1
    kept        a row in shared memory, of at most KEPT elements    4096
    joins       the words of shared memory through which the warps of a block hand their results
    BLOCK       threads in a block that shares one row              128
    WARPS       warps in such a block                               4
    ROWS        rows of a block in which each warp has its own      8

All kernels, unless one says otherwise
    Shapes     x (rows, cols), out (rows, cols); any rows >= 1 and cols >= 1, C order
    Dtypes     float32 or float64, one for both arrays and sums
    Errors     the host function rejects other dtypes and shapes; the kernel assumes its block to
               be as Launch says. A row with NaN or inf, or with nothing but -inf, is NaN
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
    """Return, in every lane, the largest element of a row; every lane must call it."""
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

    Loads x twice, stores out once, and takes three operations an element.
    """
    best = warp_row_max(x, row, lane)
    total = x.dtype.type(0)
    if row < x.shape[0]:
        for j in range(lane, x.shape[1], WARP):
            power = math.exp(x[row, j] - best)
            out[row, j] = power
            total += power
    return best, warp_all_sum(total)


@cuda.jit(device=True)
def warp_row_total(x, row, lane):
    """Return, in every lane, the largest element of a row and the sum of its e^(x - best).

    Loads x twice, and takes three operations an element.
    """
    best = warp_row_max(x, row, lane)
    total = x.dtype.type(0)
    if row < x.shape[0]:
        for j in range(lane, x.shape[1], WARP):
            total += math.exp(x[row, j] - best)
    return best, warp_all_sum(total)


def shuffled(rows: int) -> int:
    """Return the additions of one warp_all_sum a row: all warps of a block take part."""
    return ceil_div(rows, ROWS) * ROWS * WARP * LEVELS


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def softmax_warp_kernel(x, out):
    """Compute the softmax of each row, one warp for one row.

    New here   32 lanes share a row, so their loads are coalesced, and butterflies of shuffles
               give all of them its largest element and its sum. The powers wait in out for the
               sum, where the lane that stored them finds them again: exp is called once
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
    """Three loads, two stores and four operations an element, and the shuffles of one sum."""
    return Cost(bytes=5 * itemsize * rows * cols, flops=4 * rows * cols + shuffled(rows))


@cuda.jit
def softmax_block_kernel(x, out):
    """Compute the softmax of each row, one block for one row, which it keeps on the chip.

    New here   shared memory holds the row from the first load to the store: memory is asked for
               every element once, which is the least there is. Each thread reads only what it
               stored itself, so the row needs no barrier
    Shapes     x (rows, cols), out (rows, cols); any rows >= 1, 1 <= cols <= KEPT, C order
    Launch     block BLOCK, grid rows; x = place in the row
    Shared     (KEPT + WARPS) * itemsize bytes, static
    Cost       bytes: 2 itemsize rows cols; flops: rows (4 cols + BLOCK (4 + WARPS)); barriers: 4
    Errors     the host function takes softmax_online_kernel for longer rows; the kernel assumes
               its block is BLOCK. A row with NaN or inf, or with nothing but -inf, is NaN
    Source     ours
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
        power = math.exp(kept[j] - best)
        kept[j] = power
        total += power
    total = block_all_sum(total, joins, tid, WARPS)
    for j in range(tid, x.shape[1], BLOCK):
        out[row, j] = kept[j] / total


def softmax_block_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load, one store and four operations an element, and the sum over the block."""
    return Cost(bytes=2 * itemsize * rows * cols, flops=rows * (4 * cols + _joined()))


@cuda.jit
def softmax_online_kernel(x, out):
    """Compute the softmax of each row, one block for one row, its largest and its sum in one walk.

    New here   a sum of e^(x - best) need not wait for the largest element: where a larger one
               comes, what was added so far shrinks by e^(old best - new best), and the new
               element adds 1. Shares of a row join by the same rule. So a row of any length is
               read twice, for one more multiplication an element
    Launch     block BLOCK, grid rows; x = place in the row
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
    top = block_all_max(best, joins, tid, WARPS)
    total *= math.exp(best - top)  # NaN where the largest is not finite, and that is the result
    total = block_all_sum(total, joins, tid, WARPS)
    for j in range(tid, x.shape[1], BLOCK):
        out[row, j] = math.exp(x[row, j] - top) / total


def softmax_online_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Two loads, a store and seven operations an element; three a thread, and the block's sum."""
    flops = rows * (7 * cols + 3 * BLOCK + _joined())
    return Cost(bytes=3 * itemsize * rows * cols, flops=flops)


def _joined() -> int:
    """Return the additions of block_all_sum: shuffles, then each thread the sums of all warps."""
    return BLOCK * (LEVELS + WARPS - 1)


# A warp for each row, several rows a block.
warp_variant = functools.partial(Variant, block=(WARP, ROWS), tile=ROWS)
_variant = functools.partial(Variant, reference=softmax_reference, block=BLOCK, tile=1)
VARIANTS = (
    warp_variant("warp", softmax_warp_kernel, softmax_warp_cost, softmax_reference),
    _variant("block", softmax_block_kernel, softmax_block_cost, instead="online"),
    _variant("online", softmax_online_kernel, softmax_online_cost),
)
__all__ = launch.public_names(globals())
