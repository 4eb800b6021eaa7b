"""Scan (prefix sums) in three launches: scan each block, scan the totals, add them to the blocks.

Each block scans its BLOCK elements and writes its total to `sums`, the totals are scanned, and each
block adds the total of all blocks before it.

Sums have the dtype of the array. An int32 sum wraps. A float32 sum is rounded at each addition; an
element takes part in some 20 of them per factor of BLOCK in n, in np.cumsum in up to n.

Legend
    n          elements to scan                                   1000
    i          the element of out that this thread writes         range [0, n)
    shift      0: inclusive, 1: exclusive, the same sums one index later
    tid        the thread in its block                            range [0, BLOCK)
    lane       the thread in its warp                             range [0, 32)
    acc        the sum up to this thread's element
    step       distance to the sum that is added                  1, 2, 4, ..., BLOCK / 2
    sums       the total of each block                            4 for n = 1000
    BLOCK      threads, and elements, per block, a power of two   256
    WARPS      warps per block                                    8
    PADDED     a block's elements, with a word of padding per 32  264

All kernels, unless stated otherwise
    Launch     block BLOCK, grid ceil_div(out.shape[0], BLOCK); x = element
    Errors     the kernel assumes its block is BLOCK and, with shift 1, that out does not overlap x
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import ALL_LANES, WARP
from gpukit.launch import Cost, Variant, ceil_div

BLOCK = 256
WARPS = BLOCK // WARP
PADDED = BLOCK + BLOCK // WARP
LEVELS = BLOCK.bit_length() - 1  # log2(BLOCK)
NUMBERS = (np.float32, np.int32)


# --- References ------------------------------------------------------------------------------


def inclusive_scan_reference(x: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the sums up to and including each element, in float64; of integers in int64."""
    x = np.asarray(x)
    return np.cumsum(x, dtype=np.float64 if x.dtype.kind == "f" else np.int64)


def exclusive_scan_reference(x: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the sums of the elements before each one; the first is 0."""
    sums = inclusive_scan_reference(x)
    return np.concatenate([np.zeros(1, sums.dtype), sums])[:-1]


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit(device=True)
def load(x, at, out):
    """Return x[at] in the dtype of out, and 0 outside x."""
    value = out.dtype.type(0)
    if 0 <= at < x.shape[0]:
        value = out.dtype.type(x[at])
    return value


@cuda.jit(device=True)
def place(k, pad):
    """Return the index of element k in the tile: with pad 1, after k // 32 words of padding."""
    return k + pad * (k // WARP)


@cuda.jit(device=True)
def sweep(tile, tid, pad):
    """Replace the tile by its exclusive scan. Every thread of the block must call it.

    In the up-sweep, the last element of each subtree becomes the sum of the subtree. In the
    down-sweep, the last element of each subtree is the sum before it: the left half gets
    that sum, the right half that plus the sum of the left half.
    """
    step = 1
    while step < BLOCK:
        cuda.syncthreads()  # the sums of half the size are written before they are read
        last = 2 * step * (tid + 1) - 1
        if last < BLOCK:
            tile[place(last, pad)] += tile[place(last - step, pad)]
        step *= 2
    if tid == 0:
        tile[place(BLOCK - 1, pad)] = 0  # only thread 0 wrote the total: no barrier is needed
    while step > 1:
        cuda.syncthreads()  # the sums before subtrees of twice the size are written
        step //= 2
        last = 2 * step * (tid + 1) - 1
        if last < BLOCK:
            left = tile[place(last - step, pad)]
            tile[place(last - step, pad)] = tile[place(last, pad)]
            tile[place(last, pad)] += left
    cuda.syncthreads()  # every element is written before its thread reads it


@cuda.jit(device=True)
def scan_lanes(acc, lane, out):
    """Return the inclusive scan of acc over the lanes. Every lane of the warp must call it."""
    step = 1
    while step < WARP:
        below = cuda.shfl_up_sync(ALL_LANES, acc, step)
        if lane >= step:
            acc = out.dtype.type(acc + below)
        step *= 2
    return acc


@cuda.jit
def scan_block_kernel(x, shift, out, sums):
    """Scan BLOCK elements per block by doubling steps (Hillis-Steele), one element per thread.

    New here   after the step of 1, 2, 4, ... each thread holds the sum of twice as many
               elements, its own the last; double buffering saves the second barrier: no thread
               reads the buffer that is being written
    Shapes     x (n,), shift 0 or 1, out (n,) or one more, sums (blocks,); any n >= 1
    Dtypes     float32 or int32 out and sums, any in; the accumulator has the dtype of out
    Shared     2 * BLOCK * 4 bytes, static
    Cost       bytes: 4 (2 n + blocks); flops: 1793 blocks for BLOCK 256; barriers: log2(BLOCK)
    Source     Hillis and Steele, "Data Parallel Algorithms", CACM 29, 1986
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array((2, BLOCK), out.dtype)
    acc = load(x, i - shift, out)
    step = 1
    buffer = 0
    while step < BLOCK:
        tile[buffer, tid] = acc
        cuda.syncthreads()  # all sums of this level are written before a neighbour's is read
        if tid >= step:
            acc = out.dtype.type(acc + tile[buffer, tid - step])
        buffer = 1 - buffer
        step *= 2
    if i < out.shape[0]:
        out[i] = acc
    if tid == BLOCK - 1:
        sums[cuda.blockIdx.x] = acc


def scan_block_cost(n: int) -> Cost:
    """Inclusive: a load and a store per element; at each level all but `step` threads add."""
    blocks = ceil_div(n, BLOCK)
    return Cost(bytes=4 * (2 * n + blocks), flops=(BLOCK * LEVELS - BLOCK + 1) * blocks)


@cuda.jit
def scan_blelloch_kernel(x, shift, out, sums):
    """Scan BLOCK elements per block in a tree (Blelloch), with less than half the additions.

    New here   a tree instead of doubling steps: sums of pairs, of pairs of pairs, ... in an
               up-sweep, then a down-sweep; 3 BLOCK additions, not 7 BLOCK. But the threads access
               words 2, 4, 8, ... apart, which is a bank conflict
    Shapes     x (n,), shift 0 or 1, out (n,) or one more, sums (blocks,); any n >= 1
    Dtypes     float32 or int32 out and sums, any in; the tree has the dtype of out
    Shared     BLOCK * 4 bytes, static
    Cost       bytes: 4 (2 n + blocks); flops: (3 BLOCK - 2) blocks; barriers: 1 + 2 log2(BLOCK)
    Source     Blelloch, "Prefix Sums and Their Applications", 1990; GPU Gems 3, chapter 39
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, out.dtype)
    own = load(x, i - shift, out)
    tile[tid] = own
    sweep(tile, tid, 0)
    acc = out.dtype.type(tile[tid] + own)
    if i < out.shape[0]:
        out[i] = acc
    if tid == BLOCK - 1:
        sums[cuda.blockIdx.x] = acc


def scan_blelloch_cost(n: int) -> Cost:
    """Inclusive: BLOCK - 1 additions up, as many down, and then each thread adds its own."""
    blocks = ceil_div(n, BLOCK)
    return Cost(bytes=4 * (2 * n + blocks), flops=(3 * BLOCK - 2) * blocks)


@cuda.jit
def scan_padded_kernel(x, shift, out, sums):
    """Scan BLOCK elements per block in a padded tree, free of bank conflicts.

    New here   a word of padding after every 32 shifts each row by a bank: words 32 apart
               are in different banks, and no conflicts are left
    Shapes     x (n,), shift 0 or 1, out (n,) or one more, sums (blocks,); any n >= 1
    Dtypes     float32 or int32 out and sums, any in; the tree has the dtype of out
    Shared     PADDED * 4 bytes, static
    Cost       bytes: 4 (2 n + blocks); flops: (3 BLOCK - 2) blocks; barriers: 1 + 2 log2(BLOCK)
    Source     Harris, Sengupta and Owens, GPU Gems 3, chapter 39
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(PADDED, out.dtype)
    own = load(x, i - shift, out)
    tile[place(tid, 1)] = own
    sweep(tile, tid, 1)
    acc = out.dtype.type(tile[place(tid, 1)] + own)
    if i < out.shape[0]:
        out[i] = acc
    if tid == BLOCK - 1:
        sums[cuda.blockIdx.x] = acc


@cuda.jit
def scan_warp_kernel(x, shift, out, sums):
    """Scan BLOCK elements per block with warp shuffles, each warp in its registers.

    New here   a shuffle passes a value between lanes without memory or a barrier; only the
               totals of warps go through shared memory, where each warp adds those of the warps
               before it: all lanes read one word, a broadcast without a conflict
    Shapes     x (n,), shift 0 or 1, out (n,) or one more, sums (blocks,); any n >= 1
    Dtypes     float32 or int32 out and sums, any in; the accumulator has the dtype of out
    Shared     WARPS * 4 bytes, static
    Cost       bytes: 4 (2 n + blocks); flops: 1928 blocks for BLOCK 256; barriers: 1
    Source     Harris and Garland, GPU Computing Gems Jade Edition, 2011, chapter 3
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    lane = tid % WARP
    warp = tid // WARP
    totals = cuda.shared.array(WARPS, out.dtype)
    acc = scan_lanes(load(x, i - shift, out), lane, out)
    if lane == WARP - 1:
        totals[warp] = acc
    cuda.syncthreads()  # the totals of warps are written before other warps read them
    for k in range(warp):
        acc = out.dtype.type(acc + totals[k])
    if i < out.shape[0]:
        out[i] = acc
    if tid == BLOCK - 1:
        sums[cuda.blockIdx.x] = acc


def scan_warp_cost(n: int) -> Cost:
    """Inclusive: 129 additions in a warp's shuffles, and one per lane and warp below."""
    blocks = ceil_div(n, BLOCK)
    flops = 129 * WARPS + WARP * WARPS * (WARPS - 1) // 2
    return Cost(bytes=4 * (2 * n + blocks), flops=flops * blocks)


@cuda.jit
def add_offsets_kernel(offsets, out):
    """Add to each block's elements the sum of all blocks before it.

    New here   the end of a launch is the only barrier across all blocks: whatever one launch
               wrote, the next one can read
    Shapes     offsets (blocks,), the exclusive scan of sums, out (n,); any n >= 1
    Dtypes     float32 or int32, the same for both
    Launch     block BLOCK, grid ceil_div(n, BLOCK), as for the scan; x = element
    Cost       bytes: 12 n; flops: n; barriers: 0
    Errors     the kernel assumes its block is BLOCK and the grid that of the scan
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., chapter 11
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] += offsets[cuda.blockIdx.x]


def add_offsets_cost(n: int) -> Cost:
    """Two loads, one addition and one store per element."""
    return Cost(bytes=12 * n, flops=n)


_variant = functools.partial(
    Variant, reference=inclusive_scan_reference, block=BLOCK, dtypes=NUMBERS
)
VARIANTS = (
    _variant("block", scan_block_kernel, scan_block_cost),
    _variant("blelloch", scan_blelloch_kernel, scan_blelloch_cost),
    _variant("padded", scan_padded_kernel, scan_blelloch_cost),
    _variant("warp", scan_warp_kernel, scan_warp_cost),
    _variant("add_offsets", add_offsets_kernel, add_offsets_cost),
)
__all__ = launch.public_names(globals())
