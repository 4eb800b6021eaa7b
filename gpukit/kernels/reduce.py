"""Sum reduction in one launch: trees or shuffles within a block, atomics across blocks.

Read `reduce_trees` first: its variants leave a partial sum per block and need more launches.
`sum` takes the variants of both. `gpukit.collectives` has the reductions of a block.

Legend
    n          elements to add                                    1000
    i          the element this thread loads                      range [0, n)
    tid        the thread in its block                            range [0, BLOCK)
    tile       the block's values in shared memory, summed in place
    acc        this thread's accumulator, a register
    k          the group of four elements that this thread loads  range [0, n / 4)
    totals     the sum of each warp of the block                  WARPS of them
    WIDTH      elements per 16-byte load                          4
    BLOCK      threads per block, a power of two                  256
    WARPS      warps per block                                    8

All kernels, unless stated otherwise
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or any other; x = element
    Errors     the host function rejects other dtypes; the kernel assumes its block is BLOCK
               and that out[0] is 0 before the launch
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_sum, block_tree_sum
from gpukit.kernels import reduce_trees
from gpukit.kernels.reduce_trees import BLOCK
from gpukit.launch import Cost, Variant, ceil_div, stride_blocks
from gpukit.primitives.vectorized import WIDTH, is_aligned, load4

WARPS = BLOCK // WARP


# --- Reference -------------------------------------------------------------------------------


def sum_reference(x: npt.ArrayLike) -> float:
    """Return the sum of x, accumulated in float64."""
    return float(np.sum(x, dtype=np.float64))


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def sum_atomic_kernel(x, out):
    """Sum a vector in one launch, BLOCK elements and one atomic per block.

    New here   the blocks add their sums to out[0] with atomics, so that no addition is lost; the
               order of the blocks, and with it the last bits, may differ between runs
    Shapes     x (n,), out (1,); any n >= 1
    Dtypes     float32 or float64, the same for both arrays and the tree
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: itemsize (n + 2 blocks); flops: BLOCK blocks; barriers: 1 + log2(BLOCK)
    Source     gpukit
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, x.dtype)
    tile[tid] = x[i] if i < x.shape[0] else x.dtype.type(0)
    block_tree_sum(tile, tid)
    if tid == 0:
        cuda.atomic.add(out, 0, tile[0])


def sum_atomic_cost(n: int, itemsize: int = 4) -> Cost:
    """The tree of sum_interleaved_cost; each block also loads out, adds to it and stores it."""
    blocks = ceil_div(n, BLOCK)
    return Cost(bytes=itemsize * (n + 2 * blocks), flops=BLOCK * blocks)


@cuda.jit
def sum_grid_stride_kernel(x, out):
    """Sum a vector in one launch, with a grid-stride loop per thread and then a tree.

    New here   a grid-stride loop before the tree: most additions need no barrier and no shared
               memory. As many blocks as can be resident at once saturate the device; more would
               only add trees and atomics, so the grid is sized by the device, not by n. The order
               of additions, and with it the last bits, depends on the grid
    Shapes     x (n,), out (1,); any n >= 1
    Dtypes     float32 or float64, the same for both arrays, the accumulator and the tree
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: itemsize (n + 2 blocks); flops: n + BLOCK blocks; barriers: 1 + log2(BLOCK)
    Source     Mark Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, reduction 7
    """
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, x.dtype)
    acc = x.dtype.type(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        acc += x[i]
    tile[tid] = acc
    block_tree_sum(tile, tid)
    if tid == 0:
        cuda.atomic.add(out, 0, tile[0])


def sum_grid_stride_cost(n: int, blocks: int | None = None, itemsize: int = 4) -> Cost:
    """One addition per element, then a tree and an atomic per block."""
    blocks = stride_blocks(n, BLOCK) if blocks is None else blocks
    return Cost(bytes=itemsize * (n + 2 * blocks), flops=n + BLOCK * blocks)


@cuda.jit
def sum_shuffle_kernel(x, out):
    """Sum a vector in one launch, with warp shuffles instead of a tree in shared memory.

    New here   a shuffle passes registers between the lanes of a warp, without shared memory or a
               barrier; what remains is one word of shared memory per warp and one barrier. Lanes
               whose sums are not needed add as well: masking them off would save no time
    Shapes     x (n,), out (1,); any n >= 1
    Dtypes     float32 or float64, the same for both arrays and the accumulator
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize (n + 2 blocks); flops: n + (5 BLOCK + WARPS) blocks; barriers: 1
    Source     Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, x.dtype)
    acc = x.dtype.type(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        acc += x[i]
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        cuda.atomic.add(out, 0, acc)


def sum_shuffle_cost(
    n: int, blocks: int | None = None, itemsize: int = 4, *, tile: int = BLOCK
) -> Cost:
    """One addition per element, 5 shuffles per thread; thread 0 adds the sums of warps, and out.

    A block sums `tile` elements at a time; `blocks` is as many as the device can hold by default.
    """
    blocks = stride_blocks(n, BLOCK, tile=tile) if blocks is None else blocks
    return Cost(bytes=itemsize * (n + 2 * blocks), flops=n + (5 * BLOCK + WARPS) * blocks)


@cuda.jit
def sum_vectorized_kernel(x, out):
    """Sum a vector in one launch, with 16-byte loads of four elements.

    New here   16-byte loads: a warp requests 512 bytes at once, 16 sectors, with a quarter of the
               loads and of the iterations of the loop; the elements after the last group of four
               are loaded one at a time
    Shapes     x (n,), contiguous, at a multiple of 16 bytes; out (1,); any n >= 1
    Dtypes     float32 in, float32 out, float32 accumulator
    Launch     block BLOCK, grid stride_blocks(n, BLOCK, tile=4 BLOCK), or any other;
               x = group of four elements
    Shared     BLOCK / 32 * 4 bytes, static
    Cost       bytes: 4 (n + 2 blocks); flops: n + (5 BLOCK + WARPS) blocks; barriers: 1
    Errors     the host function rejects other dtypes and launches sum_shuffle_kernel for a
               misaligned x; the kernel assumes its block is BLOCK and that out[0] is 0 before
    Source     Justin Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA
               blog, 2013
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, np.float32)
    fours = x.shape[0] // WIDTH
    acc = np.float32(0)
    for k in range(cuda.grid(1), fours, cuda.gridsize(1)):
        a, b, c, d = load4(x, k)
        acc += (a + b) + (c + d)
    i = fours * WIDTH + cuda.grid(1)
    if i < x.shape[0]:
        acc += x[i]
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        cuda.atomic.add(out, 0, acc)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: n")
def sum(x: Any, *, variant: str = "grid_stride", stream: Any = 0) -> Any:
    """Return the sum of a float32 or float64 vector.

    (n,) gives a scalar of the same dtype: `[1. 2. 3.]` gives `6.`, and an empty vector 0. The
    variant "vectorized" loads four float32 at a time and rejects float64.
    """
    chosen = launch.pick("sum", SUM_VARIANTS, variant)
    launch.check_variant_dtype("sum", chosen, x)
    if x.shape[0] == 0:
        return x.dtype.type(0)
    if chosen in reduce_trees.VARIANTS:
        return reduce_trees.sum_in_passes(chosen, x, stream)
    if chosen.instead and not (launch.is_contiguous(x) and is_aligned(x)):
        # x[1:], for example, is not aligned to 16 bytes
        chosen = launch.pick("sum", VARIANTS, chosen.instead)
    grid = chosen.grid("sum", x.shape[0])
    out = launch.zeros((1,), x.dtype, stream)  # the atomics add to its contents
    chosen.kernel[grid, chosen.block, stream](x, out)
    return launch.to_host(out, stream)[0]


_variant = functools.partial(Variant, reference=sum_reference, block=BLOCK)
VARIANTS = (
    _variant("atomic", sum_atomic_kernel, sum_atomic_cost),
    _variant("grid_stride", sum_grid_stride_kernel, sum_grid_stride_cost, grid_stride=True),
    _variant("shuffle", sum_shuffle_kernel, sum_shuffle_cost, grid_stride=True),
    _variant(
        "vectorized",
        sum_vectorized_kernel,
        functools.partial(sum_shuffle_cost, tile=WIDTH * BLOCK),
        tile=WIDTH * BLOCK,
        dtypes=(np.float32,),
        grid_stride=True,
        instead="shuffle",
    ),
)

# All variants that `sum` accepts, from the slowest tree to the fastest loop.
SUM_VARIANTS = (*reduce_trees.VARIANTS, *VARIANTS)
__all__ = launch.public_names(globals())
