"""Layer norm: normalize each row to mean 0 and variance 1, then scale and shift it.

    mean[row]   = sum of x over the row / cols
    rstd[row]   = 1 / sqrt(sum of (x - mean)^2 over the row / cols + eps)
    out         = (x - mean) rstd weight + bias

A row is read for its mean, again for its variance, which needs the mean, and again for the output.
The one-pass formula, mean of squares minus square of mean, subtracts two large and nearly equal
numbers: for values around 1e5 with a spread of 10 the result is noise, in float32 even negative
variances. So both variants have all three steps; the second reads the row from shared memory.

Sums lose digits too where values are far from 0. So both kernels sum the distances from the
row's first element: they are as small as the spread, and subtracting close numbers is exact.

The gradients are in layer_norm_grad.py.

Legend
    rows, cols  rows to normalize, elements per row       10000, 1000
    row, col    the row and the index in it               range [0, rows), [0, cols)
    lane, tid   the thread in its warp, in its block
    first       the first element of the row
    centre      the mean of the row's distances from `first`
    deviation   the deviation of an element from the mean
    kept        the row's distances from `first`, in shared memory
    totals      the sum of each warp of the block, in shared memory
    WARPS       warps per block with one warp per row     8
    BLOCK       threads per block with one block per row  128

All kernels
    Shapes     x (rows, cols), weight (cols,), bias (cols,), mean (rows,), rstd (rows,),
               out (rows, cols); any sizes >= 1, C order
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_all_sum, warp_all_sum
from gpukit.kernels import vector
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.results import Result

WARPS = 8
BLOCK = 128
BLOCK_WARPS = BLOCK // WARP
LEVELS = WARP.bit_length() - 1  # log2(WARP), the additions of a thread in warp_all_sum
# The bytes of 48 KiB of shared memory that are left for the row after the sums of warps.
MOST_KEPT = 48 * 1024 - 8 * BLOCK_WARPS

Float64 = npt.NDArray[np.float64]


# --- Reference -------------------------------------------------------------------------------


def layer_norm_reference(
    x: npt.ArrayLike, weight: npt.ArrayLike = 1.0, bias: npt.ArrayLike = 0.0, eps: float = 1e-5
) -> Float64:
    """Return the rows of a matrix, each with mean 0 and variance 1, times weight, plus bias."""
    x = np.asarray(x, np.float64)
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    made: Float64 = (x - mean) / np.sqrt(variance + eps) * weight + bias
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def layer_norm_two_pass_kernel(x, weight, bias, eps, mean, rstd, out):
    """Normalize each row in two passes for its statistics and one for the output, a warp per row.

    New here   sums that all lanes need: butterfly shuffles leave them in every lane. The row is
               loaded three times; from the second time on possibly from a cache
    Dtypes     float32 or float64, the same for all arrays, eps and the accumulators
    Launch     block (WARP, WARPS) or another (WARP, n), grid ceil_div(rows, n); x = lane, y = row
    Cost       bytes: itemsize (rows (6 cols + WARP + 2)); flops: rows (11 cols + 1), and 15 in each
               thread of the launch; barriers: 0
    Errors     the host function rejects shapes that do not fit; the kernel assumes that they do,
               and a block 32 threads wide
    Source     Ba, Kiros and Hinton, "Layer Normalization", 2016; Chan, Golub and LeVeque,
               "Algorithms for Computing the Sample Variance", 1983, two passes, shifted
    """
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane, cols = cuda.threadIdx.x, x.shape[1]
    count = x.dtype.type(cols)
    total, squares, first = x.dtype.type(0), x.dtype.type(0), x.dtype.type(0)
    if row < x.shape[0]:
        first = x[row, 0]
        for col in range(lane, cols, WARP):
            total += x[row, col] - first
    centre = warp_all_sum(total) / count
    if row < x.shape[0]:
        for col in range(lane, cols, WARP):
            deviation = x[row, col] - first - centre
            squares += deviation * deviation
    scale = x.dtype.type(1) / math.sqrt(warp_all_sum(squares) / count + eps)
    if row < x.shape[0]:
        for col in range(lane, cols, WARP):
            out[row, col] = (x[row, col] - first - centre) * scale * weight[col] + bias[col]
        if lane == 0:
            mean[row] = first + centre
            rstd[row] = scale


def layer_norm_two_pass_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Three loads per element, and 2, 4 and 5 operations; each lane loads `first` as well."""
    joined = ceil_div(rows, WARPS) * WARPS * WARP * (2 * LEVELS + 5)
    return Cost(
        bytes=itemsize * rows * (6 * cols + WARP + 2), flops=rows * (11 * cols + 1) + joined
    )


@cuda.jit
def layer_norm_block_kernel(x, weight, bias, eps, mean, rstd, out):
    """Normalize each row, loaded once and held in shared memory, one block per row.

    New here   the second and third pass read the row from shared memory, without a barrier,
               since a thread reads what it wrote itself. Only the two sums are exchanged
    Dtypes     float32 or float64, the same for all arrays, eps, accumulators and shared memory
    Launch     block BLOCK, grid rows; x = index in the row
    Shared     BLOCK / 32 * itemsize bytes, static, and cols * itemsize, dynamic
    Cost       bytes: itemsize (rows (4 cols + BLOCK + 2)); flops: rows (9 cols + 1 + 21 BLOCK);
               barriers: 4
    Errors     the host function rejects shapes that do not fit, and launches
               layer_norm_two_pass_kernel for rows of more than MOST_KEPT bytes; the kernel assumes
               its block is BLOCK, and cols * itemsize bytes of dynamic shared memory
    Source     Ba, Kiros and Hinton, "Layer Normalization", 2016; Chan, Golub and LeVeque,
               "Algorithms for Computing the Sample Variance", 1983, two passes, shifted
    """
    row, tid, cols = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    totals = cuda.shared.array(BLOCK_WARPS, x.dtype)
    kept = cuda.shared.array(0, x.dtype)
    count = x.dtype.type(cols)
    total, squares, first = x.dtype.type(0), x.dtype.type(0), x[row, 0]
    for col in range(tid, cols, BLOCK):
        value = x[row, col] - first
        kept[col] = value
        total += value
    centre = block_all_sum(total, totals, tid, BLOCK_WARPS) / count
    for col in range(tid, cols, BLOCK):
        deviation = kept[col] - centre
        squares += deviation * deviation
    variance = block_all_sum(squares, totals, tid, BLOCK_WARPS) / count
    scale = x.dtype.type(1) / math.sqrt(variance + eps)
    for col in range(tid, cols, BLOCK):
        out[row, col] = (kept[col] - centre) * scale * weight[col] + bias[col]
    if tid == 0:
        mean[row] = first + centre
        rstd[row] = scale


def layer_norm_block_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """One load per element, and 2, 3 and 4 operations; each thread loads `first` as well."""
    joined = BLOCK * (2 * (LEVELS + BLOCK_WARPS - 1) + 5)
    return Cost(
        bytes=itemsize * rows * (4 * cols + BLOCK + 2), flops=rows * (9 * cols + 1 + joined)
    )


# --- Host function ---------------------------------------------------------------------------


@signature.takes("input: ..., weight?: inner..., bias?: inner... -> ...", layout="C")
def layer_norm(
    input: Any,
    normalized_shape: int | tuple[int, ...],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    *,
    variant: str = "two_pass",
    return_stats: bool = False,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return input with mean 0 and variance 1 over its last axes, times weight, plus bias.

    normalized_shape are the last axes of input, and the shape of weight and bias, where they are
    given. The result has the shape and dtype of input, float32 or float64. With `return_stats` it
    is (out, mean, rstd), as layer_norm_backward needs them, both of the shape of the other axes.
    A row that does not fit into shared memory falls back to the variant "two_pass".
    """
    function = "layer_norm"
    chosen = launch.pick(function, VARIANTS, variant)
    outer, inner = split_shape(function, input, normalized_shape)
    advice = "It has an element for each of them."
    for name in out.inputs.keys() - {"input"}:
        launch.check_shape(function, name, out.inputs[name], inner, advice)
    rows, cols = math.prod(outer), math.prod(inner)
    mean, rstd = (
        Result(function, None, outer, input.dtype, out.inputs, stream=stream) for _ in range(2)
    )
    if rows:
        if cols * input.dtype.itemsize > MOST_KEPT:
            chosen = VARIANTS[0]
        x = input.reshape(rows, cols)
        scale, shift = (
            parameter(array, cols, x.dtype, value, stream)
            for array, value in ((weight, 1), (bias, 0))
        )
        shared = cols * input.dtype.itemsize if chosen.name == "block" else 0
        chosen.kernel[chosen.grid(function, rows), chosen.block, stream, shared](
            x,
            scale,
            shift,
            x.dtype.type(eps),
            mean.flat(),
            rstd.flat(),
            out.flat().reshape(rows, cols),
        )
    return (out.get(), mean.get(), rstd.get()) if return_stats else out.get()


def split_shape(
    function: str, input: Any, normalized_shape: int | tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes of input before the normalized ones, and the normalized ones."""
    one = isinstance(normalized_shape, int)
    inner: tuple[int, ...] = (normalized_shape,) if one else tuple(normalized_shape)  # type: ignore
    shape = tuple(input.shape)
    outer = shape[: len(shape) - len(inner)]
    if not inner or not math.prod(inner) or (*outer, *inner) != shape:
        raise ValueError(
            f"{function}: expected normalized_shape to be the last axes of input, with an element "
            f"or more, got {inner} for shape {shape}. Pass input.shape[-1:] for the last one."
        )
    return outer, inner


def parameter(array: Any, size: int, dtype: Any, value: int, stream: Any) -> Any:
    """Return an array as a vector on the device; where it is None, one full of `value`."""
    if array is not None:
        return array.reshape(size)
    made = launch.empty((size,), dtype)
    return vector.fill(size, value, dtype=dtype, out=made, stream=stream)


# The variant with one warp per row, also for the gradient.
warp_variant = functools.partial(Variant, block=(WARP, WARPS), tile=WARPS)
VARIANTS = (
    warp_variant(
        "two_pass", layer_norm_two_pass_kernel, layer_norm_two_pass_cost, layer_norm_reference
    ),
    Variant(
        "block",
        layer_norm_block_kernel,
        layer_norm_block_cost,
        layer_norm_reference,
        BLOCK,
        tile=1,
        instead="two_pass",
    ),
)
__all__ = launch.public_names(globals())
