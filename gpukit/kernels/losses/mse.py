"""Mean squared error and its gradient, elementwise and summed.

    loss = mean of (x - target)^2        grad_x = 2 (x - target) / n

Legend
    n           elements of the arrays, all axes together  1000
    i           the element this thread works on           range [0, n)
    parts       the sum of squares of each block
    grad_out    the gradient of the loss, a vector of one element or of n
    slope       2, or 2 / n for a mean
    totals      the sum of each warp of the block          WARPS of them
    BLOCK       threads per block                          256
    WARPS       warps per block                            8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Errors     the host function rejects other dtypes and unequal shapes; the kernel assumes
               they match
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_sum
from gpukit.kernels.losses.totals import TOTAL, check_reduction, scales
from gpukit.kernels.vector import elementwise_cost
from gpukit.launch import Cost, Variant, stride_blocks

BLOCK = 256
WARPS = BLOCK // WARP

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def mse_terms_reference(x: npt.ArrayLike, target: npt.ArrayLike) -> Float64:
    """Return the squares of the differences."""
    made: Float64 = (np.asarray(x, np.float64) - np.asarray(target, np.float64)) ** 2
    return made


def mse_sum_reference(x: npt.ArrayLike, target: npt.ArrayLike) -> float:
    """Return the sum of the squares of the differences."""
    return float(mse_terms_reference(x, target).sum())


def mse_grad_reference(
    x: npt.ArrayLike, target: npt.ArrayLike, grad_out: npt.ArrayLike, slope: float
) -> Float64:
    """Return the difference times the gradient of the loss and the slope."""
    difference = np.asarray(x, np.float64) - np.asarray(target, np.float64)
    made: Float64 = slope * np.asarray(grad_out, np.float64) * difference
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def mse_terms_kernel(x, target, losses):
    """Compute the square of each difference, one element per thread.

    New here   losses without a reduction, for callers that weight them first
    Shapes     x (n,), target (n,), losses (n,); any n >= 1
    Cost       bytes: 3 itemsize n; flops: 2 n; barriers: 0
    Source     Bishop, Pattern Recognition and Machine Learning, chapter 1.1
    """
    i = cuda.grid(1)
    if i < losses.shape[0]:
        difference = x[i] - target[i]
        losses[i] = difference * difference


# Two loads and one store; a difference and its square.
mse_terms_cost = elementwise_cost(accesses=3, flops=2)


@cuda.jit
def mse_sum_kernel(x, target, parts):
    """Sum the squared differences of each block, with a grid-stride loop per thread.

    New here   difference, square and sum in one launch: the squares are never stored. The sums
               of the blocks are added by loss_total_kernel, so the bits are the same in every run
    Shapes     x (n,), target (n,), parts (blocks,); any n >= 0
    Launch     block BLOCK, grid stride_blocks(n, BLOCK), or any other; x = element
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize (2 n + blocks); flops: 3 n + (5 BLOCK + WARPS - 1) blocks;
               barriers: 1
    Source     Justin Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA blog, 2014
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, x.dtype)
    acc = x.dtype.type(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        difference = x[i] - target[i]
        acc += difference * difference
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        parts[cuda.blockIdx.x] = acc


def mse_sum_cost(n: int, itemsize: int = 4) -> Cost:
    """Two loads and three operations per element, then the sum over each block."""
    blocks = stride_blocks(n, BLOCK)
    flops = 3 * n + (5 * BLOCK + WARPS - 1) * blocks
    return Cost(bytes=itemsize * (2 * n + blocks), flops=flops)


@cuda.jit
def mse_grad_kernel(x, target, grad_out, slope, out):
    """Compute the gradient of the squared differences, one element per thread.

    New here   grad_out has one element for all threads, or one per thread: the condition is the
               same for all, so no warp diverges
    Shapes     x (n,), target (n,), grad_out (1,) or (n,), out (n,); any n >= 1
    Cost       bytes: 4 itemsize n; flops: 3 n; barriers: 0
    Source     Bishop, Pattern Recognition and Machine Learning, chapter 3.1
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        above = grad_out[i if grad_out.shape[0] > 1 else 0]
        out[i] = slope * above * (x[i] - target[i])


# Three loads and one store; a difference and two products.
mse_grad_cost = elementwise_cost(accesses=4, flops=3)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("input: ..., target: ... -> loss...", layout="C")
def mse_loss(
    input: Any, target: Any, reduction: str = "mean", *, out: Any = None, stream: Any = 0
) -> Any:
    """Return the mean or the sum of the squared differences, or with "none" all of them.

    `[1. 2.]` and `[1. 4.]` give `2.`: two arrays of one shape, both float32 or both float64, give
    an array of no axes, or with "none" of that shape. The mean of no elements is NaN.
    """
    check_reduction("mse_loss", reduction)
    n, dtype = input.size, input.dtype
    result = out.of(tuple(input.shape) if reduction == "none" else ())
    inputs = input.reshape(n), target.reshape(n)
    if reduction == "none":
        if n:
            TERMS.kernel[TERMS.grid("mse_loss", n), BLOCK, stream](*inputs, result.flat())
        return result.get()
    parts = launch.empty(SUM.grid("mse_loss", n), dtype)
    if n:
        SUM.kernel[parts.shape, BLOCK, stream](*inputs, parts)
    counted = launch.to_device(np.full(1, n if reduction == "mean" else 1, dtype), stream)
    TOTAL.kernel[1, TOTAL.block, stream](parts, counted, result.flat())
    return result.get()


@signature.takes("input: ..., target: ... -> ...", layout="C")
def mse_loss_backward(
    input: Any,
    target: Any,
    reduction: str = "mean",
    *,
    grad_out: Any = 1.0,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradient of the input: 2 (input - target), divided by n for a mean.

    `[1. 2.]` and `[1. 4.]` give `[0. -2.]`; that of the target is its negative. grad_out is the
    gradient of the loss: a number, an array of one element, or with "none" of the input's shape.
    """
    function = "mse_loss_backward"
    check_reduction(function, reduction)
    shape, dtype = out.shape, input.dtype
    above = scales(function, grad_out, shape, reduction, dtype, stream)
    if n := input.size:
        slope = dtype.type(2 / n if reduction == "mean" else 2)
        given = input.reshape(n), target.reshape(n), above, slope
        GRAD.kernel[GRAD.grid(function, n), BLOCK, stream](*given, out.flat())
    return out.get()


_variant = functools.partial(Variant, block=BLOCK)
VARIANTS = (
    _variant("terms", mse_terms_kernel, mse_terms_cost, mse_terms_reference),
    _variant("sum", mse_sum_kernel, mse_sum_cost, mse_sum_reference, grid_stride=True),
    _variant("grad", mse_grad_kernel, mse_grad_cost, mse_grad_reference),
)
TERMS, SUM, GRAD = VARIANTS
__all__ = launch.public_names(globals())
