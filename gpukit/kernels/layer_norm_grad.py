"""Gradients of layer norm: of the input, by row, and of weight and bias, by column.

With y = (x - mean) rstd and g = grad_out weight,

    grad_input  = rstd (g - mean of g - y times the mean of g y)        means over the row
    grad_weight = sum of grad_out y over the rows
    grad_bias   = sum of grad_out over the rows

Every element of a row affects the mean and the variance, and through them all others: so two means
are subtracted. The gradient that is left neither shifts nor scales the row, because a shifted or
scaled row has the same result.

Legend
    rows, cols  rows to normalize, elements per row                    10000, 1000
    row, col    the row and the index in it                            range [0, rows), [0, cols)
    lane        the thread in its warp
    y           the normalized element
    part        the chunk of rows that a block sums                    range [0, parts)
    parts       chunks, each with its own sums, which are added later  64
    WARPS       warps per block with one warp per row                  8
    BLOCK       threads per block that sums columns                    128

All kernels
    Dtypes     float32 or float64, the same for all arrays and the accumulators
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, warp_all_sum
from gpukit.kernels.backprop import columns
from gpukit.kernels.layer_norm import BLOCK, LEVELS, WARPS, parameter, warp_variant
from gpukit.launch import Cost, Variant, ceil_div

Float64 = npt.NDArray[np.float64]

# Minimum rows per block, and maximum number of chunks: enough to fill a GPU.
MIN_ROWS = 64
MAX_PARTS = 64


# --- Reference -------------------------------------------------------------------------------


def layer_norm_backward_reference(
    grad_out: npt.ArrayLike, x: npt.ArrayLike, weight: npt.ArrayLike = 1.0, eps: float = 1e-5
) -> tuple[Float64, Float64, Float64]:
    """Return the gradients of the rows of x, of weight and of bias."""
    grad_out, x = np.asarray(grad_out, np.float64), np.asarray(x, np.float64)
    deviation = x - x.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    y, g = deviation * rstd, grad_out * weight
    means = g.mean(axis=1, keepdims=True), (g * y).mean(axis=1, keepdims=True)
    grad_x: Float64 = rstd * (g - means[0] - y * means[1])
    return grad_x, (grad_out * y).sum(axis=0), grad_out.sum(axis=0)


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def layer_norm_grad_input_kernel(grad_out, x, mean, rstd, weight, grad_x):
    """Compute the gradient of the input, one warp per row.

    New here   two sums at once, over a row that is read twice; mean and rstd of the forward pass
               save the two passes that computed them
    Shapes     grad_out, x and grad_x (rows, cols), mean and rstd (rows,), weight (cols,); any
               sizes >= 1, C order
    Launch     block (WARP, WARPS) or another (WARP, n), grid ceil_div(rows, n); x = lane, y = row
    Cost       bytes: itemsize rows (7 cols + 2 WARP); flops: 13 rows cols, and 12 in each thread
               of the launch; barriers: 0
    Errors     the host function rejects shapes that do not fit; the kernel assumes that they do,
               and a block 32 threads wide
    Source     Ba, Kiros and Hinton, "Layer Normalization", 2016; the chain rule
    """
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane, cols = cuda.threadIdx.x, x.shape[1]
    count = x.dtype.type(cols)
    total, along = x.dtype.type(0), x.dtype.type(0)
    centre, scale = x.dtype.type(0), x.dtype.type(0)
    if row < x.shape[0]:
        centre, scale = mean[row], rstd[row]
        for col in range(lane, cols, WARP):
            g = grad_out[row, col] * weight[col]
            total += g
            along += g * ((x[row, col] - centre) * scale)
    total, along = warp_all_sum(total) / count, warp_all_sum(along) / count
    if row < x.shape[0]:
        for col in range(lane, cols, WARP):
            y = (x[row, col] - centre) * scale
            grad_x[row, col] = (grad_out[row, col] * weight[col] - total - y * along) * scale


def layer_norm_grad_input_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Two loads of grad_out, x and weight and a store per element, 6 operations and 7."""
    joined = ceil_div(rows, WARPS) * WARPS * WARP * (2 * LEVELS + 2)
    return Cost(bytes=itemsize * rows * (7 * cols + 2 * WARP), flops=13 * rows * cols + joined)


@cuda.jit
def layer_norm_grad_weight_kernel(grad_out, x, mean, rstd, grad_weight, grad_bias):
    """Sum the gradients of weight and bias over a chunk of rows, one thread per column.

    New here   two column sums, in chunks of rows: one thread per column alone would be too few
               for a GPU, and atomics would add in an order that differs from run to run
    Shapes     grad_out and x (rows, cols), mean and rstd (rows,), grad_weight and grad_bias
               (parts, cols); any sizes >= 1, C order
    Launch     block BLOCK, grid (ceil_div(cols, BLOCK), parts); x = column, y = chunk of rows
    Cost       bytes: itemsize cols (4 rows + 2 parts); flops: 5 rows cols; barriers: 0
    Errors     the host function rejects shapes that do not fit; the kernel assumes that they do
    Source     Ba, Kiros and Hinton, "Layer Normalization", 2016; the chain rule
    """
    col, part = cuda.grid(1), cuda.blockIdx.y
    share = (x.shape[0] + grad_bias.shape[0] - 1) // grad_bias.shape[0]
    if col < x.shape[1]:
        along, total = x.dtype.type(0), x.dtype.type(0)
        for row in range(part * share, min((part + 1) * share, x.shape[0])):
            g = grad_out[row, col]
            along += g * ((x[row, col] - mean[row]) * rstd[row])
            total += g
        grad_weight[part, col] = along
        grad_bias[part, col] = total


def layer_norm_grad_weight_cost(rows: int, cols: int, parts: int = 1, itemsize: int = 4) -> Cost:
    """Four loads and five operations per element, and two stores per column and chunk."""
    return Cost(bytes=itemsize * cols * (4 * rows + 2 * parts), flops=5 * rows * cols)


# --- Host function ---------------------------------------------------------------------------


@signature.takes(
    "input: ..., grad_out: ..., mean: outer..., rstd: outer..., weight?: inner..."
    " -> ..., last..., last...",
    layout="C",
)
def layer_norm_backward(
    grad_out: Any,
    input: Any,
    mean: Any,
    rstd: Any,
    weight: Any = None,
    *,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradients of layer norm's input, weight and bias.

    mean and rstd are what layer_norm returned with `return_stats`; their shape tells which axes of
    input, which has the shape of grad_out, were normalized. The gradients of weight and bias
    have the shape of these axes, with and without a weight. `out`, if given, is a tuple of three.
    """
    function = "layer_norm_backward"
    shape, outer = tuple(input.shape), tuple(mean.shape)
    inner = shape[len(outer) :]
    launch.check_shape(function, "mean", mean, shape[: len(outer)], "It has a number for each row.")
    if weight is not None:
        launch.check_shape(function, "weight", weight, inner, "It has the last axes of input.")
    results = [out[0], *(place.of(inner) for place in out[1:])]
    if cols := math.prod(inner):
        sizes = input.size // cols, cols
        rows = [
            array.reshape(size)
            for array, size in (
                (grad_out, sizes),
                (input, sizes),
                (mean, sizes[:1]),
                (rstd, sizes[:1]),
            )
        ]
        _launch(function, rows, weight, results, stream)
    return tuple(result.get() for result in results)


def _launch(function: str, arrays: list[Any], weight: Any, results: list[Any], stream: Any) -> None:
    """Launch the kernels of the three gradients, the first only where there are rows."""
    by_row, by_column = VARIANTS
    grad, x, mean, rstd = arrays
    rows, cols = x.shape
    if rows:
        scale = parameter(weight, cols, x.dtype, 1, stream)
        by_row.kernel[by_row.grid(function, rows), by_row.block, stream](
            grad, x, mean, rstd, scale, results[0].flat().reshape(rows, cols)
        )
    parts = max(1, min(ceil_div(rows, MIN_ROWS), MAX_PARTS))
    sums = [launch.empty((parts, cols), x.dtype) for _ in range(2)]
    by_column.kernel[by_column.grid(function, cols, parts), by_column.block, stream](
        grad, x, mean, rstd, *sums
    )
    for part, result in zip(sums, results[1:], strict=True):
        columns.add_columns(function, part, result.flat(), stream)


VARIANTS = (
    warp_variant(
        "grad_input",
        layer_norm_grad_input_kernel,
        layer_norm_grad_input_cost,
        layer_norm_backward_reference,
    ),
    Variant(
        "grad_weight",
        layer_norm_grad_weight_kernel,
        layer_norm_grad_weight_cost,
        layer_norm_backward_reference,
        (BLOCK, 1),
    ),
)
__all__ = launch.public_names(globals())
