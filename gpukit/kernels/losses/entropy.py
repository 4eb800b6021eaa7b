"""Cross-entropy of logits and classes, and its gradient, in one walk or two along each row.

    loss of a row  = log(sum of e^x) - x[target]  = log(total) + (best - x[target])
    its gradient   = softmax(x) - 1 at the target

Softmax, then a logarithm would be -inf wherever a probability is too small for the dtype. Here no
power is above 1 and no logarithm is of less than 1, so logits of 10 000 are as good as any.

Legend
    rows, cols  logits: rows, and the classes of each               10 000, 1000
    row         the row that the lanes of a warp share              ranges [0, rows)
    j           a class                                             ranges [0, cols)
    target      the class of each row that is right                 ranges [0, cols)
    best, total the largest logit of a row; the sum of e^(x - best), 1 to cols
    counted     a vector of one element that losses are divided by: 1, or the rows of a mean
    scale       what the gradient of a row is multiplied by
    ROWS        rows of a block in which each warp has its own      8

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for all arrays of floats; int32 or int64 targets
    Launch     block (WARP, ROWS), grid ceil_div(rows, ROWS); x = lane, y = row
    Errors     the host function rejects other dtypes and shapes, and targets of the host that are
               no class. Where one on the device is none, the kernel reads nothing outside, and
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
    """Return the loss of each row, 0 where its target is to be ignored."""
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
    """Return the gradient of the sum of the losses: softmax, less 1 at the target."""
    x, target = np.asarray(x, np.float64), np.asarray(target)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    chosen = target[:, None] == np.arange(x.shape[1])
    made: Float64 = powers / powers.sum(axis=1, keepdims=True) - chosen
    made *= (target != ignore_index)[:, None]
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit(device=True)
def row_weight(x, right, ignore_index):
    """Return what a row counts: 1, 0 where it is ignored, NaN where its target is no class."""
    weight = x.dtype.type(1)
    if right == ignore_index:
        weight = x.dtype.type(0)
    elif right < 0 or right >= x.shape[1]:
        weight = x.dtype.type(NAN)
    return weight


@cuda.jit(device=True)
def row_loss(x, row, right, weight, best, total):
    """Return the loss of a row of weight 1, and else its weight, which is 0 or NaN."""
    loss = weight
    if weight == x.dtype.type(1):
        loss = math.log(total) + (best - x[row, right])
    return loss


@cuda.jit
def cross_entropy_kernel(x, target, ignore_index, losses):
    """Compute the loss of each row, one warp for one row.

    New here   of all probabilities of a row one is asked for, so none is stored: what leaves the
               chip is one number a row
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
    """Two loads and three operations an element; for a row its target, three more, one store."""
    return Cost(
        bytes=rows * (itemsize * (2 * cols + 2) + targetsize),
        flops=rows * (3 * cols + 3) + shuffled(rows),
    )


@cuda.jit
def cross_entropy_grad_kernel(x, target, ignore_index, grad_out, counted, losses, grad):
    """Compute loss and gradient of each row together, one warp for one row.

    New here   the gradient needs the same largest element and sum as the loss, so both come from
               one launch, which reads the logits twice. The powers wait in grad for their sum
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
    """Three loads, two stores and six operations an element; the scale by every lane of a row."""
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
    """Return the cross-entropy of logits and the classes that are right.

    Logits (N, C), float32 or float64, and N classes, int32 or int64, give an array of no axes, the
    mean or the sum over all targets but ignore_index, and with "none" the losses (N,), 0 for those.
    `[[0. 0.]]` and `[1]` give `0.693`; the mean of nothing is NaN. A class that does not exist is
    a ValueError if it lies on the host; on the device its row is NaN.
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
    """Return the gradient of the logits: softmax, less 1 at the target, divided by N for a mean.

    `[[0. 0.]]` and `[1]` give `[[0.5 -0.5]]`. grad_out is the gradient of the loss: a number, an
    array of one element, or with "none" (N,). Rows of ignore_index get 0. What cross_entropy takes
    is taken, and nothing that it computed is needed.
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
    """Return the mean or the sum of the losses, and the gradient of the logits, from one launch.

    What cross_entropy and cross_entropy_backward return, for half of the reading. `out` is a pair.
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
    """Raise unless the reduction is one, and targets of the host are classes."""
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
    """Return, on the device, what the sum of the losses is divided by."""
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
    """Write the gradient; return the loss of each row and what their sum is to be divided by."""
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
