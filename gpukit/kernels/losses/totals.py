"""Reduce many losses to one: their sum or mean, in one block, bit-identical in every run.

Legend
    n           losses                             10 000
    losses      one per row or element, or one partial sum per block
    counted     the divisor of the sum, a vector of one element: the number of losses for a
                mean, 1 for a sum
    totals      the sum of each warp of the block  WARPS of them
    BLOCK       threads per block                  256
    WARPS       warps per block                    8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all floating-point arrays and the accumulator
    Launch     block BLOCK, grid 1; x = element
    Shared     BLOCK / 32 * itemsize bytes, static
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import WARP, block_sum
from gpukit.launch import Cost, Variant

BLOCK = 256
WARPS = BLOCK // WARP
REDUCTIONS = ("mean", "sum", "none")


# --- References ------------------------------------------------------------------------------


def loss_total_reference(losses: npt.ArrayLike, counted: npt.ArrayLike) -> float:
    """Return the sum of the losses divided by counted; of no losses divided by 0, NaN."""
    with np.errstate(invalid="ignore"):
        total: np.float64 = np.sum(losses, dtype=np.float64) / np.asarray(counted, np.float64)[0]
    return float(total)


def count_targets_reference(target: npt.ArrayLike, ignore_index: int) -> float:
    """Return the number of targets other than ignore_index."""
    return float(np.count_nonzero(np.asarray(target) != ignore_index))


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def loss_total_kernel(losses, counted, out):
    """Sum losses and divide by counted, in one block.

    New here   a mean whose divisor is in device memory, written by another launch: nothing waits
               for the host
    Shapes     losses (n,), counted (1,), out (1,); any n >= 0
    Cost       bytes: itemsize (n + 2); flops: n + 5 BLOCK + WARPS; barriers: 1
    Errors     the kernel assumes a block of BLOCK and a grid of 1
    Source     gpukit
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, losses.dtype)
    acc = losses.dtype.type(0)
    for i in range(tid, losses.shape[0], BLOCK):
        acc += losses[i]
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        out[0] = acc / counted[0]


def loss_total_cost(n: int, itemsize: int = 4) -> Cost:
    """One addition per loss, the sum over the block, and a division by thread 0."""
    return Cost(bytes=itemsize * (n + 2), flops=n + 5 * BLOCK + WARPS)


@cuda.jit
def count_targets_kernel(target, ignore_index, counted):
    """Count the targets other than ignore_index, in one block.

    New here   a count is a sum of ones; it is a float, ready to divide by
    Shapes     target (n,), counted (1,); any n >= 0
    Dtypes     int32 or int64 in, float32 or float64 out and accumulator
    Cost       bytes: targetsize n + itemsize; flops: n + 5 BLOCK + WARPS - 1; barriers: 1
    Errors     the kernel assumes a block of BLOCK and a grid of 1
    Source     gpukit
    """
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, counted.dtype)
    zero, one = counted.dtype.type(0), counted.dtype.type(1)
    acc = zero
    for i in range(tid, target.shape[0], BLOCK):
        acc += zero if target[i] == ignore_index else one
    acc = block_sum(acc, totals, tid, WARPS)
    if tid == 0:
        counted[0] = acc


def count_targets_cost(n: int, targetsize: int = 4, itemsize: int = 4) -> Cost:
    """One load and one addition per target, then the sum over the block."""
    return Cost(bytes=targetsize * n + itemsize, flops=n + 5 * BLOCK + WARPS - 1)


# --- What the host functions of losses share -------------------------------------------------


def check_reduction(function: str, reduction: str) -> None:
    """Raise ValueError for an unknown reduction."""
    if reduction not in REDUCTIONS:
        names = ", ".join(map(repr, REDUCTIONS))
        raise ValueError(
            f"{function}: expected reduction to be one of {names}, got {reduction!r}. Pick one."
        )


def scales(
    function: str,
    grad_out: Any,
    shape: tuple[int, ...],
    reduction: str,
    dtype: np.dtype[Any],
    stream: Any,
) -> Any:
    """Return the gradient of a loss as a vector on the device.

    A number, or an array of one element, gives a vector of one; with "none" it may have the shape
    of the losses.
    """
    if isinstance(grad_out, (int, float, np.number)):
        return launch.to_device(np.full(1, grad_out, dtype), stream)
    grad_out = launch.as_array(grad_out)
    launch.check_array(function, "grad_out", grad_out, ndim=None, dtypes=(dtype.type,))
    if grad_out.size != 1:
        wanted = shape if reduction == "none" else ()
        launch.check_shape(function, "grad_out", grad_out, wanted, "It has the shape of the loss.")
    return launch.to_device(launch.flatten(function, "grad_out", grad_out), stream)


_variant = functools.partial(Variant, block=BLOCK, most_blocks=1)
VARIANTS = (
    _variant("total", loss_total_kernel, loss_total_cost, loss_total_reference),
    _variant("count", count_targets_kernel, count_targets_cost, count_targets_reference),
)
TOTAL, COUNT = VARIANTS
__all__ = launch.public_names(globals())
