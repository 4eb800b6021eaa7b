"""Dot product of two vectors: multiply element by element, and sum the products.

The reduction is that of `reduce`. Products and sums have the dtype of the vectors, and the atomics
of the blocks add in any order, so the last bits may differ between runs.

Legend
    n          elements of each vector             1000
    i          the element this thread multiplies  range [0, n)
    tid        the thread in its block             range [0, BLOCK)
    tile       the block's products in shared memory, summed in place
    acc        this thread's accumulator, a register
    totals     the sum of each warp of the block   WARPS of them
    BLOCK      threads per block, a power of two   256
    WARPS      warps per block                     8

All kernels, unless stated otherwise
    Errors     the host function rejects unequal lengths and dtypes; the kernel assumes its
               block is BLOCK and that out[0] is 0 before the launch
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import block_sum, block_tree_sum
from gpukit.kernels.reduce import WARPS
from gpukit.kernels.reduce_trees import BLOCK
from gpukit.launch import Cost, Variant, ceil_div, stride_blocks

# --- Reference -------------------------------------------------------------------------------


def dot_reference(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return the dot product, accumulated in float64."""
    return float(np.dot(np.asarray(x, np.float64), np.asarray(y, np.float64)))


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def dot_tree_kernel(x, y, out):
    """Compute a dot product with a tree per block, BLOCK elements and one atomic per block.

    New here   a map fused with the reduction of sum_atomic_kernel: the products are never
               written to global memory, so nothing is read twice
    Shapes     x (n,), y (n,), out (1,); any n >= 1
    Dtypes     float32 or float64, the same for all arrays and the tree
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Shared     BLOCK * itemsize bytes, static
    Cost       bytes: 2 itemsize (n + blocks); flops: n + BLOCK blocks; barriers: 1 + log2(BLOCK)
    Source     Sanders and Kandrot, CUDA by Example, 2010, chapter 5
    """
    i = cuda.grid(1)
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(BLOCK, x.dtype)
    tile[tid] = x[i] * y[i] if i < x.shape[0] else x.dtype.type(0)
    block_tree_sum(tile, tid)
    if tid == 0:
        cuda.atomic.add(out, 0, tile[0])


def dot_tree_cost(n: int, itemsize: int = 4) -> Cost:
    """Two loads and a product per element; a tree and an atomic per block."""
    blocks = ceil_div(n, BLOCK)
    return Cost(bytes=2 * itemsize * (n + blocks), flops=n + BLOCK * blocks)


@cuda.jit
def dot_shuffle_kernel(x, y, out):
    """Compute a dot product with a grid-stride loop per thread and warp shuffles.

    New here   the grid-stride loop and the shuffles of sum_shuffle_kernel: a thread multiplies
               and adds many times in a register before it exchanges anything
    Shapes     x (n,), y (n,), out (1,); any n >= 1
    Dtypes     float32 or float64, the same for all arrays and the accumulator
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or any other; x = element
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: 2 itemsize (n + blocks); flops: 2 n + (5 BLOCK + WARPS) blocks;
               barriers: 1
    Source     Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, x.dtype)
    acc = x.dtype.type(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        acc += x[i] * y[i]
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        cuda.atomic.add(out, 0, acc)


def dot_shuffle_cost(n: int, blocks: int | None = None, itemsize: int = 4) -> Cost:
    """A product and an addition per element; then the work of sum_shuffle_cost."""
    blocks = stride_blocks(n, BLOCK) if blocks is None else blocks
    return Cost(bytes=2 * itemsize * (n + blocks), flops=2 * n + (5 * BLOCK + WARPS) * blocks)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: n, y: n")
def dot(x: Any, y: Any, *, variant: str = "shuffle", stream: Any = 0) -> Any:
    """Return the dot product of two float32 or float64 vectors of one length and dtype.

    (n,) and (n,) give a scalar of the same dtype: `[1. 2.]` and `[3. 4.]` give `11.`, and empty
    vectors 0.
    """
    chosen = launch.pick("dot", VARIANTS, variant)
    if x.shape[0] == 0:
        return x.dtype.type(0)
    out = launch.zeros((1,), x.dtype, stream)  # the atomics add to its contents
    chosen.kernel[chosen.grid("dot", x.shape[0]), chosen.block, stream](x, y, out)
    return launch.to_host(out, stream)[0]


_variant = functools.partial(Variant, reference=dot_reference, block=BLOCK)
VARIANTS = (
    _variant("tree", dot_tree_kernel, dot_tree_cost),
    _variant("shuffle", dot_shuffle_kernel, dot_shuffle_cost, grid_stride=True),
)
__all__ = launch.public_names(globals())
