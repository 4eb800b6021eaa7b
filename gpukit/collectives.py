"""Warp and block reductions: the sum or the maximum of one value per thread.

    total = warp_sum(value)                        lane 0 has the sum over its warp
    best = warp_max(value)                         lane 0 has the maximum of its warp
    total = block_sum(value, totals, tid, warps)   thread 0 has the sum over the block
    best = block_max(value, totals, tid, warps)    thread 0 has the maximum of the block
    warp_all_sum, warp_all_max, block_all_sum, block_all_max    the same, for all threads
    block_tree_sum(tile, tid)                      tile[0] is the sum of tile
    larger(value, best)                            the comparison that defines the maximum

All of them, as CUB's WarpReduce and BlockReduce
    Threads    every thread of the warp or block must call it, not in a divergent branch and not
               after an early return. Blocks have whole warps, 1 to 32 of them
    Result     undefined in threads other than the first, unless "all" is in the name
    Order      the same in every run, so results are bit-identical
    Dtypes     float32, float64, int32 or int64; sums of integers are int64, as all in Numba are
    tid        the index of the thread in its block, x fastest
    totals     a shared array of the dtype of value, with one element per warp
    warps      warps per block. A GPU's compiler unrolls the loop if it is a constant;
               cuda.blockDim.x // WARP works too
    Barriers   one in block_sum and block_max, after which only thread 0 reads totals, so a barrier
               is needed before totals is used again. Two in block_all_sum and block_all_max:
               totals may be used again at once

They are plain Numba code, not primitives: every target compiles them unchanged.
"""

from __future__ import annotations

from gpukit import cuda

__all__ = [
    "ALL_LANES",
    "WARP",
    "block_all_max",
    "block_all_sum",
    "block_max",
    "block_sum",
    "block_tree_sum",
    "larger",
    "warp_all_max",
    "warp_all_sum",
    "warp_max",
    "warp_sum",
]

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

    A butterfly reduction: lanes whose indices differ in one bit exchange their values and add
    them, so that no broadcast of the result is needed.
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

    Thread 0 alone adds the sums of warps: shuffles would take five steps of a whole warp.
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

    All threads read the same word at a time: a broadcast, without bank conflicts.
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
    """Store the sum of tile in tile[0]: its size is a power of two; thread tid wrote tile[tid].

    The active threads stay contiguous, so whole warps become idle together, and they read
    neighbouring words, so there are no bank conflicts. After the last barrier inside, all
    threads may read tile[0]; another barrier is needed before tile is written again.
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
    """Return whether value is larger than best; NaN counts as larger than every number."""
    return best == best and not value <= best  # comparisons with NaN are false


@cuda.jit(device=True)
def warp_max(value):
    """Return, in lane 0, the maximum of value over the warp, NaN if there is one.

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
    """Return, in every lane, the maximum of value over the warp, NaN if there is one.

    Where 0.0 and -0.0 are both the maximum, lanes may return either.
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
    """Return, in thread 0, the maximum of value over the block, NaN if there is one.

    Source: CUB, BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS
    """
    value = warp_max(value)
    if tid % WARP == 0:
        totals[tid // WARP] = value
    cuda.syncthreads()  # every warp's maximum is written before thread 0 reads it
    if tid == 0:
        for warp in range(1, warps):
            other = totals[warp]
            if larger(other, value):
                value = other
    return value


@cuda.jit(device=True)
def block_all_max(value, totals, tid, warps):
    """Return, in every thread, the maximum of value over the block, NaN if there is one.

    Source: CUB, BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS
    """
    value = warp_max(value)
    if tid % WARP == 0:
        totals[tid // WARP] = value
    cuda.syncthreads()  # every warp's maximum is written before all threads read it
    value = totals[0]
    for warp in range(1, warps):
        other = totals[warp]
        if larger(other, value):
            value = other
    cuda.syncthreads()  # all threads have read totals before it is written again
    return value
