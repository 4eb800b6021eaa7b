"""Collectives: the sum or the largest of the values that the threads of a warp or block hold.

    total = warp_sum(value)                        lane 0 has the sum over its warp
    best = warp_max(value)                         lane 0 has the largest of its warp
    total = block_sum(value, totals, tid, warps)   thread 0 has the sum over the block
    best = block_max(value, totals, tid, warps)    thread 0 has the largest of the block
    warp_all_sum, warp_all_max, block_all_sum, block_all_max    the same, for all threads
    block_tree_sum(tile, tid)                      tile[0] is the sum of tile
    larger(value, best)                            what decides which is the largest

All of them, as CUB's WarpReduce and BlockReduce
    Threads    every thread of the warp or of the block must call it, none behind a guard that
               others fail or after a return. Blocks have whole warps, 1 to 32 of them
    Result     what other threads than the first get is of no use, unless "all" is in the name
    Order      the same in every run, so the bits are, too
    Dtypes     float32, float64, int32 or int64; sums of integers are int64, as all in Numba are
    tid        the number of the thread in its block, x fastest
    totals     a shared array of the dtype of value, with a place for each warp
    warps      warps in the block. Where it is a constant a GPU's compiler writes the loop out, but
               cuda.blockDim.x // WARP will do
    Barriers   one in block_sum and block_max, behind which only thread 0 reads totals. So a barrier
               must stand before totals is used again. Two in block_all_sum and block_all_max:
               behind the second, totals may be used again at once

These are no primitives: plain Numba, which every target compiles as it stands here.
"""

from __future__ import annotations

from gpukit import cuda

__all__ = [
    "ALL_LANES", "WARP", "block_all_max", "block_all_sum", "block_max", "block_sum",
    "block_tree_sum", "larger", "warp_all_max", "warp_all_sum", "warp_max", "warp_sum",
]  # fmt: skip

WARP = 32
ALL_LANES = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(value):
    """Return, in lane 0, the sum of value over the warp.

    Source: Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    step = WARP // 2
    while step > 0:
        value += cuda.shfl_down_sync(ALL_LANES, value, step)
        step //= 2
    return value


@cuda.jit(device=True)
def warp_all_sum(value):
    """Return, in every lane, the sum of value over the warp: the same bits in all of them.

    Lanes that differ in one bit of their number swap what they hold and add it, a butterfly: no
    lane has to tell the others what came out.
    Source: CUDA C++ Programming Guide, "Warp Shuffle Functions", reduction across a warp
    """
    step = WARP // 2
    while step > 0:
        value += cuda.shfl_xor_sync(ALL_LANES, value, step)
        step //= 2
    return value


@cuda.jit(device=True)
def block_sum(value, totals, tid, warps):
    """Return, in thread 0, the sum of value over the block.

    Thread 0 adds up the warps alone: to shuffle there would take steps of all threads.
    Source: CUB, BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS
    """
    value = warp_sum(value)
    if tid % WARP == 0:
        totals[tid // WARP] = value
    cuda.syncthreads()  # every warp's sum is written before thread 0 reads it
    if tid == 0:
        for warp in range(1, warps):
            value += totals[warp]
    return value


@cuda.jit(device=True)
def block_all_sum(value, totals, tid, warps):
    """Return, in every thread, the sum of value over the block: the same bits in all of them.

    All threads read the word of one warp at a time: that is one access, and no bank is asked twice.
    Source: CUB, BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS
    """
    value = warp_sum(value)
    if tid % WARP == 0:
        totals[tid // WARP] = value
    cuda.syncthreads()  # every warp's sum is written before all threads read it
    value = totals[0]
    for warp in range(1, warps):
        value += totals[warp]
    cuda.syncthreads()  # all threads have read totals before it is written again
    return value


@cuda.jit(device=True)
def block_tree_sum(tile, tid):
    """Leave the sum of tile, a power of two of elements, in tile[0]; thread tid wrote tile[tid].

    The threads that add stay side by side, so whole warps fall idle together, and they read
    neighbouring words, so no two of a warp meet in one bank. Behind the last barrier inside, all
    threads may read tile[0]; before tile is written again there must be another one.
    Source: Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, reduction 3
    """
    cuda.syncthreads()  # the tile is full before any thread reads another thread's element
    half = tile.shape[0] // 2
    while half > 0:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # the sums of this level are written before the next level reads them
        half //= 2


@cuda.jit(device=True)
def larger(value, best):
    """Return whether value is larger than best, NaN being larger than every number."""
    return best == best and not value <= best  # NaN is at most nothing, and equals nothing


@cuda.jit(device=True)
def warp_max(value):
    """Return, in lane 0, the largest value of the warp, NaN if there is one.

    Source: Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    step = WARP // 2
    while step > 0:
        other = cuda.shfl_down_sync(ALL_LANES, value, step)
        if larger(other, value):
            value = other
        step //= 2
    return value


@cuda.jit(device=True)
def warp_all_max(value):
    """Return, in every lane, the largest value of the warp, NaN if there is one.

    Of 0.0 and -0.0, which are equal, lanes may keep either.
    Source: CUDA C++ Programming Guide, "Warp Shuffle Functions", reduction across a warp
    """
    step = WARP // 2
    while step > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, value, step)
        if larger(other, value):
            value = other
        step //= 2
    return value


@cuda.jit(device=True)
def block_max(value, totals, tid, warps):
    """Return, in thread 0, the largest value of the block, NaN if there is one.

    Source: CUB, BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS
    """
    value = warp_max(value)
    if tid % WARP == 0:
        totals[tid // WARP] = value
    cuda.syncthreads()  # every warp's largest is written before thread 0 reads it
    if tid == 0:
        for warp in range(1, warps):
            other = totals[warp]
            if larger(other, value):
                value = other
    return value


@cuda.jit(device=True)
def block_all_max(value, totals, tid, warps):
    """Return, in every thread, the largest value of the block, NaN if there is one.

    Source: CUB, BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS
    """
    value = warp_max(value)
    if tid % WARP == 0:
        totals[tid // WARP] = value
    cuda.syncthreads()  # every warp's largest is written before all threads read it
    value = totals[0]
    for warp in range(1, warps):
        other = totals[warp]
        if larger(other, value):
            value = other
    cuda.syncthreads()  # all threads have read totals before it is written again
    return value
