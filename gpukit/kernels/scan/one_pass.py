"""Scan (prefix sums) in one launch, with decoupled look-back over the blocks before.

Each block scans its elements, publishes their total, its aggregate, and then walks back over the
blocks before it: it adds their aggregates until it finds a block that has published its prefix, the
sum of everything up to its end. Every element is read once and written once.

A block that waits for another one needs that block to run. The order in which a GPU starts the
blocks of a grid is undefined, so the blocks number themselves with an atomic counter: block k is
the k-th that started, and those before it have started too.

Legend
    n, i, shift, tid, lane  as in blocks.py
    block    the block's number, in the order in which blocks started  [0, blocks)
    first    this thread's first element; the others are WARP apart    [0, n)
    values   the sums up to this thread's elements, within its warp
    totals   the total of each warp
    flags    what each block has published, and the block counter      (blocks + 1,)
    sums     the aggregates, and the prefixes                          (2, blocks)
    at       the block whose flag this lane reads
    ITEMS    elements per thread                                       8
    TILE     elements per block                                        2048
"""

from __future__ import annotations

import numpy as np

from gpukit import cuda, launch
from gpukit.collectives import ALL_LANES, WARP, warp_all_sum
from gpukit.kernels.scan.blocks import (
    BLOCK,
    NUMBERS,
    WARPS,
    inclusive_scan_reference,
    load,
    scan_lanes,
)
from gpukit.launch import Cost, Variant, ceil_div

ITEMS = 8
TILE = ITEMS * BLOCK
NOTHING, AGGREGATE, PREFIX = range(3)  # the values of a flag


@cuda.jit(device=True)
def publish(flags, sums, block, flag, value):
    """Write a sum of this block, and then the flag that announces it."""
    sums[flag - 1, block] = value
    cuda.threadfence()  # a thread that sees the flag also sees the sum
    cuda.atomic.exch(flags, block, flag)


@cuda.jit(device=True)
def look_back(flags, sums, block, lane, out):
    """Return the sum of all blocks before this one. Every lane of the warp must call it."""
    before = out.dtype.type(0)
    last = block - 1
    while last >= 0:
        at = last - lane
        flag = PREFIX  # before the first block the prefix is 0
        if at >= 0:
            flag = cuda.atomic.add(flags, at, 0)
            while flag == NOTHING:
                flag = cuda.atomic.add(flags, at, 0)
            cuda.threadfence()  # the sum is read after its flag
        complete = cuda.ballot_sync(ALL_LANES, flag == PREFIX)
        value = out.dtype.type(0)
        if at >= 0 and complete & ((1 << lane) - 1) == 0:  # no nearer block has its prefix
            value = sums[flag - 1, at]
        before = out.dtype.type(before + warp_all_sum(value))
        last = last - WARP if complete == 0 else -1
    return before


@cuda.jit
def scan_one_pass_kernel(x, shift, out, flags, sums):
    """Scan a vector in one launch with decoupled look-back, ITEMS elements per thread.

    New here   blocks pass on sums while the grid runs, with a flag and a fence, where three
               launches read all elements twice; a warp reads the flags of 32 blocks at a time
    Shapes     x (n,), shift 0 or 1, out (n,) or one more, flags (blocks + 1,) of zeros, sums
               (2, blocks); any n >= 1
    Dtypes     float32 or int32 out and sums, any in, int32 flags
    Launch     block BLOCK, grid ceil_div(out.shape[0], TILE)
    Shared     (WARPS + 2) * 4 bytes, static
    Cost       bytes: 8 n, and per block 20 and up to 132 for the look-back; barriers: 3
    Errors     the kernel assumes its block is BLOCK and, with shift 1, that out does not overlap x
    Source     Merrill and Garland, "Single-pass Parallel Prefix Scan with
               Decoupled Look-back", NVIDIA technical report, 2016
    """
    tid = cuda.threadIdx.x
    lane = tid % WARP
    warp = tid // WARP
    number = cuda.shared.array(1, np.int32)
    before = cuda.shared.array(1, out.dtype)
    totals = cuda.shared.array(WARPS, out.dtype)
    values = cuda.local.array(ITEMS, out.dtype)
    if tid == 0:
        number[0] = cuda.atomic.add(flags, cuda.gridDim.x, 1)
    cuda.syncthreads()  # all threads have the number of the block
    block = number[0]
    first = block * TILE + warp * ITEMS * WARP + lane
    acc = out.dtype.type(0)
    for k in range(ITEMS):
        values[k] = acc + scan_lanes(load(x, first + k * WARP - shift, out), lane, out)
        acc = cuda.shfl_sync(ALL_LANES, values[k], WARP - 1)
    if lane == 0:
        totals[warp] = acc
    cuda.syncthreads()  # the totals of warps are written before other warps read them
    if warp == 0:
        total = out.dtype.type(0)
        for k in range(WARPS):
            total = out.dtype.type(total + totals[k])
        if lane == 0:
            publish(flags, sums, block, AGGREGATE, total)
        acc = look_back(flags, sums, block, lane, out)
        if lane == 0:
            publish(flags, sums, block, PREFIX, out.dtype.type(acc + total))
            before[0] = acc
    cuda.syncthreads()  # the sum of all blocks before this one is known
    acc = before[0]
    for k in range(warp):
        acc = out.dtype.type(acc + totals[k])
    for k in range(ITEMS):
        i = first + k * WARP
        if i < out.shape[0]:
            out[i] = acc + values[k]


def scan_one_pass_cost(n: int) -> Cost:
    """Inclusive, where each block finds the prefix of the block before it."""
    blocks = ceil_div(n, TILE)
    looks = sum(min(block, WARP) for block in range(blocks))
    rows = WARPS * ITEMS * (129 + WARP)  # in shuffles, and the rows before in the warp
    rest = WARP * WARPS + 1 + WARP * WARPS * (WARPS - 1) // 2
    return Cost(
        bytes=8 * n + 20 * blocks + 4 * looks + 4 * (blocks - 1),
        flops=blocks * (rows + rest) + (blocks - 1) * 6 * WARP + n,
    )


VARIANTS = (
    Variant(
        "one_pass",
        scan_one_pass_kernel,
        scan_one_pass_cost,
        reference=inclusive_scan_reference,
        block=BLOCK,
        tile=TILE,
        dtypes=NUMBERS,
    ),
)
__all__ = launch.public_names(globals())
