"""Sum reduction in several launches: four reduction trees, one partial sum per block, ever faster.

The trees differ in which threads add and in how often the block synchronizes. The numbers of warps,
branches and barriers are for one full block, as `gpukit.profile` counts them. `reduce.sum` launches
a kernel again until one sum is left; the variants of `reduce` itself need one launch.

Legend
    n          elements to add                                          1000
    i          the element that this thread loads, or the first of two  range [0, n)
    tid        the thread in its block                                  range [0, BLOCK)
    lane       the thread in its warp                                   range [0, WARP)
    tile       the block's values in shared memory, summed in place
    step       distance to the sum that is added                        1, 2, ..., 128
    half       threads that still add, halved at every level            128, 64, ..., 1
    acc        this thread's accumulator, a register
    partials   one sum per block                                        4 for n = 1000, or 2
    chunk      elements that a block sums                               BLOCK or 2 BLOCK
    BLOCK      threads per block, a power of two >= 64                  256
    WARP       threads in a warp                                        32

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for both arrays and the tree
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Errors     the host function rejects other dtypes; the kernel assumes its block is BLOCK
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import WARP, block_tree_sum
from gpukit.launch import Cost, Variant, ceil_div

BLOCK = 256


# --- Reference -------------------------------------------------------------------------------


def partials_reference(x: npt.ArrayLike, chunk: int) -> npt.NDArray[np.float64]:
    """Return the sum of each chunk of x, of which the last may be shorter, in float64."""
    x = np.asarray(x, np.float64)
    return np.array([x[first : first + chunk].sum() for first in range(0, len(x), chunk)])


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def sum_interleaved_kernel(x, partials):
    """Sum BLOCK elements per block with interleaved addressing, neighbours first.

    New here   cooperation within a block: a tree in shared memory, with a barrier between its
               levels; adding the partial sums is left to another launch. Deliberately slow: the
               active threads move ever further apart, so all 8 warps execute the first five
               levels, with 16, 8, 4, 2 and then 1 active lane of 32. Warps diverge at 48 of 144
               branches; there are no bank conflicts
    Shapes     x (n,), partials (ceil_div(n, BLOCK),); any n >= 1
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: (BLOCK - 1) blocks; barriers: 1 + log2(BLOCK)
    Source     Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, reduction 1
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, x.dtype)
    tile[tid] = x[i] if i < x.shape[0] else x.dtype.type(0)
    cuda.syncthreads()  # the tile is full before any thread reads another thread's element
    step = 1
    while step < BLOCK:
        if tid % (2 * step) == 0:
            tile[tid] += tile[tid + step]
        cuda.syncthreads()  # the sums of this level are written before the next level reads them
        step *= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]


def sum_interleaved_cost(n: int, itemsize: int = 4) -> Cost:
    """One load per element; a tree over BLOCK values has BLOCK - 1 additions."""
    blocks = ceil_div(n, BLOCK)
    return Cost(bytes=itemsize * (n + blocks), flops=(BLOCK - 1) * blocks)


@cuda.jit
def sum_sequential_kernel(x, partials):
    """Sum BLOCK elements per block with sequential addressing, halves first.

    New here   the active threads stay contiguous: 4, 2 and 1 warps execute the first levels with
               all their lanes, and warps diverge at 6 of 144 branches. The number of additions is
               the same, but warps execute one 12 times instead of 47 times
    Shapes     x (n,), partials (ceil_div(n, BLOCK),); any n >= 1
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: (BLOCK - 1) blocks; barriers: 1 + log2(BLOCK)
    Source     Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, reduction 3
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, x.dtype)
    tile[tid] = x[i] if i < x.shape[0] else x.dtype.type(0)
    block_tree_sum(tile, tid)
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]


@cuda.jit
def sum_first_add_kernel(x, partials):
    """Sum 2 BLOCK elements per block, the first addition during the load.

    New here   half of the threads of sum_sequential_kernel load an element and never add; here
               each adds the two that it loads, BLOCK apart so that both loads are coalesced.
               That takes half the blocks, and half the barriers, branches and partial sums
    Shapes     x (n,), partials (ceil_div(n, 2 BLOCK),); any n >= 1
    Launch     block BLOCK, grid ceil_div(n, 2 BLOCK); x = two elements, BLOCK apart
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: (2 BLOCK - 1) blocks; barriers: 1 + log2(BLOCK)
    Source     Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, reduction 4
    """
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * 2 * BLOCK + tid
    tile = cuda.shared.array(BLOCK, x.dtype)
    first = x[i] if i < x.shape[0] else x.dtype.type(0)
    second = x[i + BLOCK] if i + BLOCK < x.shape[0] else x.dtype.type(0)
    tile[tid] = first + second
    block_tree_sum(tile, tid)
    if tid == 0:
        partials[cuda.blockIdx.x] = tile[0]


def sum_first_add_cost(n: int, itemsize: int = 4) -> Cost:
    """One load per element; a tree over 2 BLOCK values has 2 BLOCK - 1 additions."""
    blocks = ceil_div(n, 2 * BLOCK)
    return Cost(bytes=itemsize * (n + blocks), flops=(2 * BLOCK - 1) * blocks)


@cuda.jit(device=True)
def add_up_last_warp(tile, lane):
    """Return, in lane 0, the sum of tile[0] to tile[63]. All lanes of one warp must call it.

    Each step takes two syncwarp: a lane writes the word that the lane 16, 8, 4 or 2 below it reads,
    so all must have read before any writes, and all have written before any reads again. The sums
    of the upper lanes are not used; masking those lanes off would only cost a branch.
    """
    acc = tile[lane] + tile[lane + 32]
    tile[lane] = acc
    cuda.syncwarp()  # all have written
    acc += tile[lane + 16]
    cuda.syncwarp()  # all have read
    tile[lane] = acc
    cuda.syncwarp()  # all have written
    acc += tile[lane + 8]
    cuda.syncwarp()  # all have read
    tile[lane] = acc
    cuda.syncwarp()  # all have written
    acc += tile[lane + 4]
    cuda.syncwarp()  # all have read
    tile[lane] = acc
    cuda.syncwarp()  # all have written
    acc += tile[lane + 2]
    cuda.syncwarp()  # all have read
    tile[lane] = acc
    cuda.syncwarp()  # all have written
    return acc + tile[lane + 1]


@cuda.jit
def sum_unrolled_kernel(x, partials):
    """Sum 2 BLOCK elements per block, the last 64 sums in one warp without barriers.

    New here   when 64 sums are left one warp adds them in unrolled steps: 3 of 9 barriers and 49
               of 144 branches remain, since the other warps are done. Harris has no syncwarp, only
               a volatile tile: that was correct while the lanes of a warp ran in lockstep. Since
               Volta (2017) they need not, so it is a race
    Shapes     x (n,), partials (ceil_div(n, 2 BLOCK),); any n >= 1
    Launch     block BLOCK, grid ceil_div(n, 2 BLOCK); x = two elements, BLOCK apart
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 640 blocks for BLOCK 256; barriers: 3
    Source     Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, reduction 5;
               Yuan Lin and Vinod Grover, "Using CUDA Warp-Level Primitives", NVIDIA blog, 2018
    """
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * 2 * BLOCK + tid
    tile = cuda.shared.array(BLOCK, x.dtype)
    first = x[i] if i < x.shape[0] else x.dtype.type(0)
    second = x[i + BLOCK] if i + BLOCK < x.shape[0] else x.dtype.type(0)
    tile[tid] = first + second
    cuda.syncthreads()  # the tile is full before any thread reads another thread's sum
    half = BLOCK // 2
    while half > WARP:
        if tid < half:
            tile[tid] += tile[tid + half]
        cuda.syncthreads()  # the sums of this level are written before the next level reads them
        half //= 2
    if tid < WARP:
        acc = add_up_last_warp(tile, tid)
        if tid == 0:
            partials[cuda.blockIdx.x] = acc


def sum_unrolled_cost(n: int, itemsize: int = 4) -> Cost:
    """The additions of sum_first_add_cost down to 64 sums; then a warp adds six times."""
    blocks = ceil_div(n, 2 * BLOCK)
    flops = 2 * BLOCK - 2 * WARP + 6 * WARP
    return Cost(bytes=itemsize * (n + blocks), flops=flops * blocks)


# --- Host function ---------------------------------------------------------------------------


def sum_in_passes(variant: Variant, x: Any, stream: Any) -> Any:
    """Sum each block's chunk, then the partial sums, until one is left.

    For `reduce.sum`, which checks x and copies it to the device. Waits for the stream.
    """
    while True:
        grid = variant.grid("sum", x.shape[0])
        partials = launch.empty(grid, x.dtype)
        variant.kernel[grid, variant.block, stream](x, partials)
        if partials.shape[0] == 1:
            return launch.to_host(partials, stream)[0]
        x = partials


_variant = functools.partial(Variant, reference=partials_reference, block=BLOCK)
VARIANTS = (
    _variant("interleaved", sum_interleaved_kernel, sum_interleaved_cost),
    _variant("sequential", sum_sequential_kernel, sum_interleaved_cost),
    _variant("first_add", sum_first_add_kernel, sum_first_add_cost, tile=2 * BLOCK),
    _variant("unrolled", sum_unrolled_kernel, sum_unrolled_cost, tile=2 * BLOCK),
)
__all__ = launch.public_names(globals())
