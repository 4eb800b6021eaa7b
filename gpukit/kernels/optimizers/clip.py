"""Gradient clipping by global norm, without synchronizing with the host.

    norm = sqrt(sum of all g^2)
    g *= min(1, max_norm / (norm + EPS))

All gradients are scaled by one factor, so the step keeps its direction. The factor depends on every
gradient, so the work takes three dependent launches: sums of squares, one per block; the norm and
the factor from these; the scaling. The factor stays on the device, where the third launch reads it:
the host does not wait, and the sum is the same in every run.

Legend
    n          elements of one gradient, all axes together        1000
    x          a gradient on one axis
    i          the element this thread works on                   [0, n)
    k          the group of four elements of a vectorized kernel  [0, n / 4)
    tid        the thread in its block                            [0, BLOCK)
    acc        this thread's accumulator of squares
    totals     the sum of each warp of the block
    partials   sums of squares, one per block of the first launches
    at         index in partials of the first sum of this gradient
    scale      (1,): the factor
    EPS        keeps the divisor from 0, as in PyTorch            1e-6
    BLOCK      threads per block                                  256
    WARPS      warps per block                                    8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator
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
from gpukit.kernels.vector import elementwise_cost
from gpukit.launch import Cost, Variant, stride_blocks
from gpukit.primitives.vectorized import WIDTH, load4, store4

WARPS = BLOCK // WARP
EPS = 1e-6


# --- References ------------------------------------------------------------------------------


def square_sum_reference(x: npt.ArrayLike) -> float:
    """Return the sum of squares of x, accumulated in float64."""
    return float(np.sum(np.square(x, dtype=np.float64)))


def clip_grad_norm_reference(
    grads: Sequence[npt.ArrayLike], max_norm: float
) -> tuple[list[npt.NDArray[np.float64]], float]:
    """Return the clipped gradients, and the norm of all of them before."""
    norm = math.sqrt(sum(map(square_sum_reference, grads)))
    scale = min(1.0, max_norm / (norm + EPS))
    return [np.asarray(grad, np.float64) * scale for grad in grads], norm


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def square_sum_kernel(x, at, partials):
    """Sum the squares of x, one partial sum per block.

    New here   no atomic: each block stores its sum to an index of its own, after those of the
               gradients before this one, so the order of additions is the same in every run
    Shapes     x (n,), partials (at + blocks or more,); any n >= 1
    Launch     block BLOCK, grid stride_blocks(n, BLOCK); x = element
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (n + blocks); flops: 2 n + (5 BLOCK + WARPS - 1) blocks;
               barriers: 1
    Errors     the kernel assumes a block of BLOCK, and partials large enough
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
    """One product and one sum per element; shuffles in every warp, then one thread.

    A block sums `tile` elements at a time.
    """
    blocks = stride_blocks(n, BLOCK, tile=tile)
    flops = 2 * n + (5 * BLOCK + WARPS - 1) * blocks
    return Cost(bytes=itemsize * (n + blocks), flops=flops)


@cuda.jit
def square_sum_vectorized_kernel(x, at, partials):
    """Sum the squares of x, one partial sum per block, with 16-byte loads.

    New here   16-byte loads
    Shapes     x (n,) aligned to 16 bytes, partials (at + blocks or more,); any n >= 1
    Dtypes     float32, as the accumulator
    Launch     block BLOCK, grid stride_blocks(n, BLOCK, tile=4 BLOCK); x = group of four elements
    Shared     WARPS * 4 bytes, static
    Cost       bytes: 4 (n + blocks); flops: 2 n + (5 BLOCK + WARPS - 1) blocks, and one more for
               per thread with an element after the last group of four; barriers: 1
    Errors     the kernel assumes a block of BLOCK, and partials large enough
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
    """Compute the norm and the clipping factor from the sums of all blocks, in one block.

    New here   a scalar for later launches: thread 0 stores it to an array of one element. NaN is
               not above 1, so it propagates to every gradient and is noticed; 1 would hide it
    Shapes     partials (blocks,), norm (1,), scale (1,); any number of blocks >= 1
    Launch     block BLOCK, grid 1; x = partial sum
    Shared     WARPS * itemsize bytes, static
    Cost       bytes: itemsize (blocks + 2); flops: blocks + 5 BLOCK + WARPS + 2, one of them the
               call of sqrt; barriers: 1
    Errors     the kernel assumes a block of BLOCK, a grid of 1, and max_norm of the dtype of norm
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
    """A load and a sum per partial sum, the sum of a block, and sqrt, a sum, a division."""
    flops = blocks + 5 * BLOCK + WARPS - 1 + 3
    return Cost(bytes=itemsize * (blocks + 2), flops=flops)


@cuda.jit
def scale_kernel(scale, x):
    """Multiply x by a scalar in device memory, one element per thread.

    New here   scale[0] is one address for all threads: a warp reads it in one access
    Shapes     scale (1,), x (n,); any n >= 1
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: 3 itemsize n; flops: n; barriers: 0
    Errors     none
    """
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= scale[0]


# Per element two loads, of it and of the scale, one product, one store.
scale_cost = elementwise_cost(accesses=3, flops=1)


@cuda.jit
def scale_vectorized_kernel(scale, x):
    """Multiply x by a scalar in device memory, four elements per thread.

    New here   16-byte accesses, and one load of the scale per four elements
    Shapes     scale (1,), x (n,) aligned to 16 bytes; any n >= 1
    Dtypes     float32
    Launch     block BLOCK, grid ceil_div(n, 4 BLOCK); x = group of four elements
    Cost       bytes: 8 n, and 4 per group of four and per element after the last one; flops: n;
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


def scale_vectorized_cost(n: int) -> Cost:
    """A load, a product and a store per element, a load of the scale per group of four."""
    return Cost(bytes=8 * n + 4 * (n // WIDTH + n % WIDTH), flops=n)


# --- Host function ---------------------------------------------------------------------------


def clip_grad_norm(grads: Any, max_norm: float, *, stream: Any = 0) -> Any:
    """Scale gradients in place so that their global norm is at most `max_norm`.

    `grads` is an array or a list of them, all float32 or all float64. Returns the norm before, an
    array of one element on the device of the gradients: with device arrays nothing is copied to
    the host, and the host does not wait. If a gradient has a NaN or an infinity, all become NaN.
    """
    function = "clip_grad_norm"
    many = list(grads) if isinstance(grads, list | tuple) else [grads]
    if not many:
        raise ValueError(f"{function}: expected grads to hold an array, got none. Pass one.")
    arrays, norm = _takes(len(many)).bind(function, many, stream=stream)
    result, vectors = norm.of((1,)), [array.reshape(array.size) for array in arrays]
    dtype = vectors[0].dtype
    scale = launch.empty((1,), dtype)
    partials = square_sums(function, [x for x in vectors if x.size], dtype, stream)
    CLIP_SCALE.kernel[1, BLOCK, stream](partials, dtype.type(max_norm), result.array, scale)
    for grad, vector in zip(norm.inputs.values(), vectors, strict=True):
        if vector.size:
            variant = choose(SCALE_VARIANTS, vector)
            variant.kernel[variant.grid(function, vector.size), BLOCK, stream](scale, vector)
            launch.bring_back(grad, vector, stream)
    return result.get()


@functools.cache
def _takes(count: int) -> signature.Signature:
    """Return the signature of a function of that many gradients, each of a shape of its own."""
    line = ", ".join(f"grads[{k}]!: axes{k}..." for k in range(count))
    return signature.Signature(f"{line} -> norm", layout="C")


def square_sums(function: str, vectors: list[Any], dtype: Any, stream: Any) -> Any:
    """Return the sums of squares of all vectors, one per block of the launch of each."""
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
        "square_sum_vectorized",
        square_sum_vectorized_kernel,
        functools.partial(square_sum_cost, tile=WIDTH * BLOCK),
        square_sum_reference,
        grid_stride=True,
    ),
)
CLIP_SCALE = _variant("clip_scale", clip_scale_kernel, clip_scale_cost, clip_grad_norm_reference)
SCALE_VARIANTS = (
    _variant("scale", scale_kernel, scale_cost, clip_grad_norm_reference),
    takes_float4(
        "scale_vectorized", scale_vectorized_kernel, scale_vectorized_cost, clip_grad_norm_reference
    ),
)
VARIANTS = (*SQUARE_SUM_VARIANTS, CLIP_SCALE, *SCALE_VARIANTS)
__all__ = launch.public_names(globals())
