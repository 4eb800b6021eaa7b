"""Cross-entropy of logits and target classes, and its gradient, fused with log softmax.

    loss of a row  = log(sum of e^x) - x[target]  = log(total) + (best - x[target])
    its gradient   = softmax(x) - 1 at the target

The logarithm of a softmax would be -inf wherever a probability underflows. Here no exponential is
above 1 and no logarithm is of less than 1, so logits of 10 000 are as good as any.

Legend
    rows, cols  logits: rows, and classes per row     10 000, 1000
    row         the row of this warp                  range [0, rows)
    j           a class                               range [0, cols)
    target      the correct class of each row         range [0, cols)
    best, total the maximum of a row; the sum of e^(x - best), 1 to cols
    counted     the divisor of the sum of losses, a vector of one element: 1, or rows for a mean
    scale       the factor of the gradient of a row
    ROWS        rows per block with one warp per row  8

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all floating-point arrays; int32 or int64 targets
    Launch     block (WARP, ROWS), grid ceil_div(rows, ROWS); x = lane, y = row
    Errors     the host function rejects other dtypes and shapes, and targets on the host that are
               out of range. For one on the device, the kernel reads nothing out of bounds, and
               the loss and the gradient of its row are NaN
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP
from gpukit.kernels.losses.totals import COUNT, TOTAL, check_reduction, scales
from gpukit.kernels.softmax.groups import (
    ROWS,
    shuffled,
    warp_row_powers,
    warp_row_total,
    warp_variant,
)
from gpukit.launch import Cost

INTEGERS = (np.int32, np.int64)
NAN = math.nan

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def cross_entropy_reference(
    x: npt.ArrayLike, target: npt.ArrayLike, ignore_index: int = -100
) -> Float64:
    """Return the loss of each row, 0 where its target is ignore_index."""
    x, target = np.asarray(x, np.float64), np.asarray(target)
    seen = target != ignore_index
    best = x.max(axis=1)
    total = np.exp(x - best[:, None]).sum(axis=1)
    right = x[np.arange(len(x)), np.where(seen, target, 0)] if len(x) else best
    made: Float64 = np.where(seen, np.log(total) + (best - right), 0)
    return made


def cross_entropy_grad_reference(
    x: npt.ArrayLike, target: npt.ArrayLike, ignore_index: int = -100
) -> Float64:
    """Return the gradient of the sum of the losses: softmax minus 1 at the target."""
    x, target = np.asarray(x, np.float64), np.asarray(target)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    chosen = target[:, None] == np.arange(x.shape[1])
    made: Float64 = powers / powers.sum(axis=1, keepdims=True) - chosen
    made *= (target != ignore_index)[:, None]
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit(device=True)
def row_weight(x, right, ignore_index):
    """Return the weight of a row: 1, 0 where it is ignored, NaN where its target is no class."""
    weight = x.dtype.type(1)
    if right == ignore_index:
        weight = x.dtype.type(0)
    elif right < 0 or right >= x.shape[1]:
        weight = x.dtype.type(NAN)
    return weight


@cuda.jit(device=True)
def row_loss(x, row, right, weight, best, total):
    """Return the loss of a row of weight 1, and otherwise its weight, which is 0 or NaN."""
    loss = weight
    if weight == x.dtype.type(1):
        loss = math.log(total) + (best - x[row, right])
    return loss


@cuda.jit
def cross_entropy_kernel(x, target, ignore_index, losses):
    """Compute the cross-entropy of each row, one warp per row.

    New here   the loss needs only one probability of a row, so none is stored: one value per row
               is written to global memory
    Shapes     x (rows, cols), target (rows,), losses (rows,); any rows >= 1 and cols >= 1, C order
    Cost       bytes: rows (itemsize (2 cols + 2) + targetsize); flops: rows (3 cols + 3), and 160
               in each warp of the launch, also in those without a row; barriers: 0. Less for rows
               that are ignored or have no class
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 6.2
    """
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    best, total = warp_row_total(x, row, lane)
    if lane == 0 and row < x.shape[0]:
        right = target[row]
        losses[row] = row_loss(x, row, right, row_weight(x, right, ignore_index), best, total)


def cross_entropy_cost(rows: int, cols: int, targetsize: int = 4, itemsize: int = 4) -> Cost:
    """Two loads and three operations per element; per row its target, three more and a store."""
    return Cost(
        bytes=rows * (itemsize * (2 * cols + 2) + targetsize),
        flops=rows * (3 * cols + 3) + shuffled(rows),
    )


@cuda.jit
def cross_entropy_grad_kernel(x, target, ignore_index, grad_out, counted, losses, grad):
    """Compute cross-entropy and gradient of each row together, one warp per row.

    New here   the gradient needs the same maximum and sum as the loss, so one launch computes
               both and reads the logits twice. The exponentials are stored in grad meanwhile
    Shapes     x (rows, cols), target (rows,), grad_out (1,) or (rows,), counted (1,), losses
               (rows,), grad (rows, cols); any rows >= 1 and cols >= 1, C order
    Cost       bytes: rows (itemsize (5 cols + 66) + 32 targetsize); flops: rows (6 cols + 35), and
               160 in each warp of the launch, also in those without a row; barriers: 0. Less for
               rows that are ignored or have no class
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 6.2
    """
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    zero, one = x.dtype.type(0), x.dtype.type(1)
    best, total = warp_row_powers(x, row, lane, grad)
    if row < x.shape[0]:
        right = target[row]
        weight = row_weight(x, right, ignore_index)
        if lane == 0:
            losses[row] = row_loss(x, row, right, weight, best, total)
        scale = weight
        if weight == one:
            scale = grad_out[row if grad_out.shape[0] > 1 else 0] / counted[0]
        for j in range(lane, x.shape[1], WARP):
            grad[row, j] = (grad[row, j] / total - (one if j == right else zero)) * scale


def cross_entropy_grad_cost(rows: int, cols: int, targetsize: int = 4, itemsize: int = 4) -> Cost:
    """Three loads, two stores, six operations per element; the scale in every lane of a row."""
    return Cost(
        bytes=rows * (itemsize * (5 * cols + 2 + 2 * WARP) + WARP * targetsize),
        flops=rows * (6 * cols + 3 + WARP) + shuffled(rows),
    )


# --- Host functions --------------------------------------------------------------------------


@signature.takes("input: n c, target: n -> loss...", target=INTEGERS)
def cross_entropy(
    input: Any,
    target: Any,
    reduction: str = "mean",
    ignore_index: int = -100,
    *,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the cross-entropy of logits and target classes.

    Logits (N, C), float32 or float64, and N classes, int32 or int64, give an array of no axes, the
    mean or the sum over all targets but ignore_index; with "none", the losses (N,), 0 for ignored
    targets. `[[0. 0.]]` and `[1]` give `0.693`; the mean of no losses is NaN. A class out of range
    raises ValueError on the host; on the device its row is NaN.
    """
    function = "cross_entropy"
    _check(function, out.inputs, reduction, ignore_index)
    rows, dtype = input.shape[0], input.dtype
    result = out.of((rows,) if reduction == "none" else ())
    losses = result.flat() if reduction == "none" else launch.empty((rows,), dtype)
    if rows:
        grid = LOSS.grid(function, rows)
        LOSS.kernel[grid, LOSS.block, stream](input, target, ignore_index, losses)
    if reduction != "none":
        counted = _counted(target, reduction, ignore_index, dtype, stream)
        TOTAL.kernel[1, TOTAL.block, stream](losses, counted, result.flat())
    return result.get()


@signature.takes("input: n c, target: n -> n c", target=INTEGERS)
def cross_entropy_backward(
    input: Any,
    target: Any,
    reduction: str = "mean",
    ignore_index: int = -100,
    *,
    grad_out: Any = 1.0,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradient of the logits: softmax minus 1 at the target, divided by N for a mean.

    `[[0. 0.]]` and `[1]` give `[[0.5 -0.5]]`. grad_out is the gradient of the loss: a number, an
    array of one element, or with "none" (N,). Rows of ignore_index get 0. The inputs are those of
    cross_entropy; none of its results is needed.
    """
    function = "cross_entropy_backward"
    _check(function, out.inputs, reduction, ignore_index)
    above = scales(function, grad_out, input.shape[:1], reduction, input.dtype, stream)
    _launch_grad(function, input, target, reduction, ignore_index, above, out.array, stream)
    return out.get()


@signature.takes("input: n c, target: n -> loss..., n c", target=INTEGERS)
def cross_entropy_with_grad(
    input: Any,
    target: Any,
    reduction: str = "mean",
    ignore_index: int = -100,
    *,
    out: Any = None,
    stream: Any = 0,
) -> tuple[Any, Any]:
    """Return the mean or sum of the losses and the gradient of the logits, from one kernel.

    The results of cross_entropy and cross_entropy_backward, for half the reads; the mean takes two
    small launches more. `out` is a pair.
    """
    function = "cross_entropy_with_grad"
    total, grad = out
    _check(function, grad.inputs, reduction, ignore_index)
    loss = total.of((input.shape[0],) if reduction == "none" else ())
    above = scales(function, 1.0, (), reduction, input.dtype, stream)
    losses, counted = _launch_grad(
        function,
        input,
        target,
        reduction,
        ignore_index,
        above,
        grad.array,
        stream,
        losses=loss.flat() if reduction == "none" else None,
    )
    if reduction != "none":
        TOTAL.kernel[1, TOTAL.block, stream](losses, counted, loss.flat())
    return loss.get(), grad.get()


def _check(function: str, inputs: Mapping[str, Any], reduction: str, ignore_index: int) -> None:
    """Raise ValueError for an unknown reduction, or a target on the host that is out of range."""
    check_reduction(function, reduction)
    launch.check_int(function, "ignore_index", ignore_index, least=-(2**63))
    classes, target = inputs["input"].shape[1], inputs["target"]
    if isinstance(target, np.ndarray):
        wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
        if wrong.any():
            raise ValueError(
                f"{function}: expected classes in [0, {classes}) in target, got "
                f"{target[wrong][0]}. Number the classes from 0, or pass it as ignore_index."
            )


def _counted(
    target: Any, reduction: str, ignore_index: int, dtype: np.dtype[Any], stream: Any
) -> Any:
    """Return, on the device, the divisor of the sum of the losses."""
    if reduction != "mean":
        return launch.to_device(np.ones(1, dtype), stream)
    counted = launch.empty((1,), dtype)
    COUNT.kernel[1, COUNT.block, stream](target, ignore_index, counted)
    return counted


def _launch_grad(
    function: str,
    x: Any,
    target: Any,
    reduction: str,
    ignore_index: int,
    grad_out: Any,
    grad: Any,
    stream: Any,
    losses: Any = None,
) -> tuple[Any, Any]:
    """Write the gradient; return the loss of each row and the divisor of their sum."""
    rows = x.shape[0]
    losses = launch.empty((rows,), x.dtype) if losses is None else losses
    counted = _counted(target, reduction, ignore_index, x.dtype, stream)
    if rows:
        grid = GRAD.grid(function, rows)
        arguments = (x, target, ignore_index, grad_out, counted, losses, grad)
        GRAD.kernel[grid, GRAD.block, stream](*arguments)
    return losses, counted


VARIANTS = (
    warp_variant("loss", cross_entropy_kernel, cross_entropy_cost, cross_entropy_reference),
    warp_variant(
        "grad", cross_entropy_grad_kernel, cross_entropy_grad_cost, cross_entropy_grad_reference
    ),
)
LOSS, GRAD = VARIANTS
__all__ = launch.public_names(globals())
