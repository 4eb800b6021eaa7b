"""Clipping by the norm of all gradients together, without one look from the host.

    norm = sqrt(sum of all g^2)
    g *= min(1, max_norm / (norm + EPS))

All gradients shrink by one factor, so the step keeps its direction. The factor depends on every
gradient, and so the work takes three launches one after the other: sums of squares, one for each
block; the norm and the factor from these; the scaling. The factor stays on the device, where the
third launch reads it: the host need not wait, and the sum is the same in every run.

Legend
    n          elements of one gradient, all axes together             1000
    x          a gradient on one axis
    i          the element this thread works on                        [0, n)
    k          the four elements that it moves at once                 [0, n / 4)
    tid        the thread in its block                                 [0, BLOCK)
    acc        the sum of squares that this thread holds
    totals     the sum of each warp of the block
    partials   sums of squares, one for each block of the first launches
    at         where the sums of this gradient begin in partials
    scale      (1,): the factor
    EPS        keeps the divisor from 0, as in PyTorch                 1e-6
    BLOCK      threads in a block                                      256
    WARPS      warps in a block                                        8

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for all arrays and the accumulator
    Source     Pascanu, Mikolov and Bengio, "On the Difficulty of Training Recurrent Neural
               Networks", ICML 2013
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_sum
from gpukit.kernels.optimizers.fused import BLOCK, choose, takes_float4
from gpukit.launch import Cost, Variant, stride_blocks
from gpukit.primitives.wide import WIDTH, load4, store4

WARPS = BLOCK // WARP
EPS = 1e-6


# --- References ------------------------------------------------------------------------------


def square_sum_reference(x: npt.ArrayLike) -> float:
    """Return the sum of squares of x, added in float64."""
    return float(np.sum(np.square(x, dtype=np.float64)))


def clip_grad_norm_reference(
    grads: Sequence[npt.ArrayLike], max_norm: float
) -> tuple[list[npt.NDArray[np.float64]], float]:
    """Return the clipped gradients, and the norm that they had together."""
    norm = math.sqrt(sum(map(square_sum_reference, grads)))
    scale = min(1.0, max_norm / (norm + EPS))
    return [np.asarray(grad, np.float64) * scale for grad in grads], norm


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def square_sum_kernel(x, at, partials):
    """Add up the squares of x, a sum for each block.

    New here   no atomic: each block stores its sum in a place of its own, behind those of the
               gradients before this one, so the order of additions is the same in every run
    Shapes     x (n,), partials (at + blocks or more,); any n >= 1
    Launch     block BLOCK, grid stride_blocks(n, BLOCK); x = element
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 2 n + (5 BLOCK + WARPS - 1) blocks;
               barriers: 1
    Errors     the kernel assumes its block to be BLOCK, and room in partials
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, x.dtype)
    acc = x.dtype.type(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        value = x[i]
        acc += value * value
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        partials[at + cuda.blockIdx.x] = acc


def square_sum_cost(n: int, itemsize: int = 4, *, tile: int = BLOCK) -> Cost:
    """One product and one sum for each element; shuffles in every warp, then one thread.

    A block takes `tile` elements at a time.
    """
    blocks = stride_blocks(n, BLOCK, tile=tile)
    flops = 2 * n + (5 * BLOCK + WARPS - 1) * blocks
    return Cost(bytes=itemsize * (n + blocks), flops=flops)


@cuda.jit
def square_sum_vectorised_kernel(x, at, partials):
    """Add up the squares of x, a sum for each block, four elements at a load.

    New here   loads of 16 bytes
    Shapes     x (n,) at a multiple of 16 bytes, partials (at + blocks or more,); any n >= 1
    Dtypes     float32, as the accumulator
    Launch     block BLOCK, grid stride_blocks(n, BLOCK, tile=4 BLOCK); x = four elements
    Shared     WARPS * 4 bytes, static
    Cost       bytes: 4 (n + blocks); flops: 2 n + (5 BLOCK + WARPS - 1) blocks, and one more for
               each thread that has an element behind the last four; barriers: 1
    Errors     the kernel assumes its block to be BLOCK, and room in partials
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, np.float32)
    fours = x.shape[0] // WIDTH
    acc = np.float32(0)
    for k in range(cuda.grid(1), fours, cuda.gridsize(1)):
        a, b, c, d = load4(x, k)
        acc += (a * a + b * b) + (c * c + d * d)
    i = fours * WIDTH + cuda.grid(1)
    if i < x.shape[0]:
        value = x[i]
        acc += value * value
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        partials[at + cuda.blockIdx.x] = acc


@cuda.jit
def clip_scale_kernel(partials, max_norm, norm, scale):
    """Make the norm and the factor from the sums of all blocks, in one block.

    New here   a number for later launches: thread 0 leaves it in an array of one element. A NaN is
               not above 1, so it stays and spoils every gradient, which is noticed; 1 would hide it
    Shapes     partials (blocks,), norm (1,), scale (1,); any number of blocks >= 1
    Launch     block BLOCK, grid 1; x = partial sum
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (blocks + 2); flops: blocks + 5 BLOCK + WARPS + 2, one of them the
               call of sqrt; barriers: 1
    Errors     the kernel assumes its block to be BLOCK, alone, and max_norm in the dtype of norm
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, norm.dtype)
    acc = norm.dtype.type(0)
    for k in range(tid, partials.shape[0], BLOCK):
        acc += partials[k]
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        one = norm.dtype.type(1)
        length = math.sqrt(acc)
        factor = max_norm / (length + norm.dtype.type(EPS))
        norm[0] = length
        scale[0] = one if factor > one else factor


def clip_scale_cost(blocks: int, itemsize: int = 4) -> Cost:
    """A load and a sum for each partial sum, the sum of a block, and sqrt, a sum, a division."""
    flops = blocks + 5 * BLOCK + WARPS - 1 + 3
    return Cost(bytes=itemsize * (blocks + 2), flops=flops)


@cuda.jit
def scale_kernel(scale, x):
    """Multiply x by a number that lies on the device, one thread for one element.

    New here   scale[0] is one address for all threads: a warp reads it in one access
    Shapes     scale (1,), x (n,); any n >= 1
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: 3 itemsize n; flops: n; barriers: 0
    Errors     none
    """
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= scale[0]


def scale_cost(n: int, itemsize: int = 4) -> Cost:
    """For each element: it and the scale loaded, one product, one store."""
    return Cost(bytes=3 * itemsize * n, flops=n)


@cuda.jit
def scale_vectorised_kernel(scale, x):
    """Multiply x by a number that lies on the device, one thread for four elements.

    New here   accesses of 16 bytes, and the scale read once for four elements
    Shapes     scale (1,), x (n,) at a multiple of 16 bytes; any n >= 1
    Dtypes     float32
    Launch     block BLOCK, grid ceil_div(n, 4 BLOCK); x = four elements
    Cost       bytes: 8 n, and 4 for each four elements and each behind the last four; flops: n;
               barriers: 0
    Errors     none
    """
    k, fours = cuda.grid(1), x.shape[0] // WIDTH
    if k < fours:
        factor = scale[0]
        a, b, c, d = load4(x, k)
        store4(x, k, factor * a, factor * b, factor * c, factor * d)
    i = fours * WIDTH + k
    if i < x.shape[0]:
        x[i] *= scale[0]


def scale_vectorised_cost(n: int) -> Cost:
    """A load, a product and a store for each element, the scale for each four of them."""
    return Cost(bytes=8 * n + 4 * (n // WIDTH + n % WIDTH), flops=n)


# --- Host function ---------------------------------------------------------------------------


def clip_grad_norm(grads: Any, max_norm: float, *, stream: Any = 0) -> Any:
    """Scale gradients in place so that their norm, of all together, is at most `max_norm`.

    `grads` is an array or a list of them, all float32 or all float64. Returns the norm before, an
    array of one element that lies where the gradients lie: with device arrays nothing is copied to
    the host or waited for. Gradients with a NaN or an infinity become NaN, and the norm says so.
    """
    function = "clip_grad_norm"
    many = list(grads) if isinstance(grads, list | tuple) else [grads]
    if not many:
        raise ValueError(f"{function}: expected grads to hold an array, got none. Pass one.")
    arrays, norm = _takes(len(many)).bind(function, many, stream=stream)
    result, vectors = norm.of((1,)), [array.reshape(array.size) for array in arrays]
    dtype = vectors[0].dtype
    scale = launch.empty((1,), dtype)
    partials = _square_sums(function, [x for x in vectors if x.size], dtype, stream)
    CLIP_SCALE.kernel[1, BLOCK, stream](partials, dtype.type(max_norm), result.array, scale)
    for grad, vector in zip(norm.inputs.values(), vectors, strict=True):
        if vector.size:
            variant = choose(SCALE_VARIANTS, vector)
            variant.kernel[variant.grid(function, vector.size), BLOCK, stream](scale, vector)
            launch.bring_back(grad, vector, stream)
    return result.get()


@functools.cache
def _takes(count: int) -> signature.Signature:
    """Return what takes so many gradients, each of a shape of its own."""
    line = ", ".join(f"grads[{k}]!: axes{k}..." for k in range(count))
    return signature.Signature(f"{line} -> norm", layout="C")


def _square_sums(function: str, vectors: list[Any], dtype: Any, stream: Any) -> Any:
    """Return the sums of squares of all vectors, one for each block of a launch for each."""
    if not vectors:
        return launch.to_device(np.zeros(1, dtype), stream)
    variants = [choose(SQUARE_SUM_VARIANTS, x) for x in vectors]
    grids = [variant.grid(function, x.size) for variant, x in zip(variants, vectors, strict=True)]
    partials = launch.empty((sum(blocks for (blocks,) in grids),), dtype)
    at = 0
    for variant, grid, x in zip(variants, grids, vectors, strict=True):
        variant.kernel[grid, BLOCK, stream](x, at, partials)
        at += grid[0]
    return partials


_variant = functools.partial(Variant, block=BLOCK)
SQUARE_SUM_VARIANTS = (
    _variant(
        "square_sum", square_sum_kernel, square_sum_cost, square_sum_reference, grid_stride=True
    ),
    takes_float4(
        "square_sum_vectorised",
        square_sum_vectorised_kernel,
        functools.partial(square_sum_cost, tile=WIDTH * BLOCK),
        square_sum_reference,
        grid_stride=True,
    ),
)
CLIP_SCALE = _variant("clip_scale", clip_scale_kernel, clip_scale_cost, clip_grad_norm_reference)
SCALE_VARIANTS = (
    _variant("scale", scale_kernel, scale_cost, clip_grad_norm_reference),
    takes_float4(
        "scale_vectorised", scale_vectorised_kernel, scale_vectorised_cost, clip_grad_norm_reference
    ),
)
VARIANTS = (*SQUARE_SUM_VARIANTS, CLIP_SCALE, *SCALE_VARIANTS)
__all__ = launch.public_names(globals())
