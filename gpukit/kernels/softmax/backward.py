"""Gradients of softmax and log softmax, from the results of the forward pass.

    y = softmax(x)       grad_x = y (grad - sum of grad y)
    y = log softmax(x)   grad_x = grad - e^y sum of grad

Every result depends on every element of its row, but the Jacobian is never formed: the chain rule
reduces it to one sum per row.

Legend
    rows, cols  height and width of the matrix             10 000, 1000
    outer, n, inner  sizes of the axes before the summed axis, of it, and of those after it
    grad        the gradient of y
    y           the result of the forward pass
    total       the sum over a row                         of grad y, or of grad
    ROWS        rows per block with one warp per row       8
    BLOCK       threads per block with one thread per row  256

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and sums
    Errors     the host function rejects other dtypes and shapes; the kernel assumes a block
               as given under Launch
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.collectives import WARP, warp_all_sum
from gpukit.kernels.softmax.groups import ROWS, shuffled, warp_variant
from gpukit.kernels.softmax.threads import inner_variant
from gpukit.launch import Cost

Float64 = npt.NDArray[np.float64]

# --- References ------------------------------------------------------------------------------


def softmax_backward_reference(grad: npt.ArrayLike, y: npt.ArrayLike, dim: int = -1) -> Float64:
    """Return y (grad - the sum of grad y along an axis)."""
    grad, y = np.asarray(grad, np.float64), np.asarray(y, np.float64)
    made: Float64 = y * (grad - (grad * y).sum(axis=dim, keepdims=True))
    return made


def log_softmax_backward_reference(grad: npt.ArrayLike, y: npt.ArrayLike, dim: int = -1) -> Float64:
    """Return grad - e^y times the sum of grad along an axis."""
    grad, y = np.asarray(grad, np.float64), np.asarray(y, np.float64)
    made: Float64 = grad - np.exp(y) * grad.sum(axis=dim, keepdims=True)
    return made


# --- Kernels: along the last axis ------------------------------------------------------------


@cuda.jit
def softmax_backward_kernel(grad, y, out):
    """Compute the gradient of softmax, one warp per row.

    New here   y alone is enough, so x may be overwritten; the sum is a dot product of two rows
    Shapes     grad (rows, cols), y (rows, cols), out (rows, cols); any sizes >= 1, C order
    Launch     block (WARP, ROWS), grid ceil_div(rows, ROWS); x = lane, y = row
    Cost       bytes: 5 itemsize rows cols; flops: 4 rows cols, and 160 in each warp of the
               launch, also in those without a row; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 6.2
    """
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    total = y.dtype.type(0)
    if row < y.shape[0]:
        for j in range(lane, y.shape[1], WARP):
            total += grad[row, j] * y[row, j]
    total = warp_all_sum(total)
    if row < y.shape[0]:
        for j in range(lane, y.shape[1], WARP):
            out[row, j] = y[row, j] * (grad[row, j] - total)


def softmax_backward_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Four loads, a store and four operations per element, and the shuffles of one sum."""
    return Cost(bytes=5 * itemsize * rows * cols, flops=4 * rows * cols + shuffled(rows))


@cuda.jit
def log_softmax_backward_kernel(grad, y, out):
    """Compute the gradient of log softmax, one warp per row.

    New here   the probabilities are e^y: nothing else of the forward pass is needed
    Shapes     grad (rows, cols), y (rows, cols), out (rows, cols); any sizes >= 1, C order
    Launch     block (WARP, ROWS), grid ceil_div(rows, ROWS); x = lane, y = row
    Cost       bytes: 4 itemsize rows cols; flops: 4 rows cols, and 160 in each warp of the
               launch, also in those without a row; barriers: 0
    Source     Goodfellow, Bengio and Courville, Deep Learning, chapter 6.2
    """
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    lane = cuda.threadIdx.x
    total = y.dtype.type(0)
    if row < y.shape[0]:
        for j in range(lane, y.shape[1], WARP):
            total += grad[row, j]
    total = warp_all_sum(total)
    if row < y.shape[0]:
        for j in range(lane, y.shape[1], WARP):
            out[row, j] = grad[row, j] - math.exp(y[row, j]) * total


def log_softmax_backward_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Three loads, a store and four operations per element, and the shuffles of one sum."""
    return Cost(bytes=4 * itemsize * rows * cols, flops=4 * rows * cols + shuffled(rows))


# --- Kernels: along another axis -------------------------------------------------------------


@cuda.jit
def softmax_backward_inner_kernel(grad, y, out):
    """Compute the gradient of softmax along an axis that is not the last, one thread per row.

    New here   neighbouring rows are adjacent, as in softmax_inner_kernel: coalesced, no shuffles
    Shapes     grad, y and out (outer, n, inner); any sizes >= 1, C order
    Launch     block BLOCK, grid (ceil_div(inner, BLOCK), outer), or fewer along y; x = index into
               the inner axis, y = index into the outer one
    Cost       bytes: 5 itemsize outer n inner; flops: 4 outer n inner; barriers: 0
    Source     gpukit
    """
    k = cuda.grid(1)
    if k < y.shape[2]:
        for o in range(cuda.blockIdx.y, y.shape[0], cuda.gridDim.y):
            total = y.dtype.type(0)
            for j in range(y.shape[1]):
                total += grad[o, j, k] * y[o, j, k]
            for j in range(y.shape[1]):
                out[o, j, k] = y[o, j, k] * (grad[o, j, k] - total)


def softmax_backward_inner_cost(outer: int, n: int, inner: int, itemsize: int = 4) -> Cost:
    """Four loads, a store and four operations per element."""
    return Cost(bytes=5 * itemsize * outer * n * inner, flops=4 * outer * n * inner)


@cuda.jit
def log_softmax_backward_inner_kernel(grad, y, out):
    """Compute the gradient of log softmax along an axis that is not the last, one thread per row.

    New here   neighbouring rows are adjacent, as in softmax_inner_kernel: coalesced, no shuffles
    Shapes     grad, y and out (outer, n, inner); any sizes >= 1, C order
    Launch     block BLOCK, grid (ceil_div(inner, BLOCK), outer), or fewer along y; x = index into
               the inner axis, y = index into the outer one
    Cost       bytes: 4 itemsize outer n inner; flops: 4 outer n inner; barriers: 0
    Source     gpukit
    """
    k = cuda.grid(1)
    if k < y.shape[2]:
        for o in range(cuda.blockIdx.y, y.shape[0], cuda.gridDim.y):
            total = y.dtype.type(0)
            for j in range(y.shape[1]):
                total += grad[o, j, k]
            for j in range(y.shape[1]):
                out[o, j, k] = grad[o, j, k] - math.exp(y[o, j, k]) * total


def log_softmax_backward_inner_cost(outer: int, n: int, inner: int, itemsize: int = 4) -> Cost:
    """Three loads, a store and four operations per element."""
    return Cost(bytes=4 * itemsize * outer * n * inner, flops=4 * outer * n * inner)


VARIANTS = (
    warp_variant(
        "rows", softmax_backward_kernel, softmax_backward_cost, softmax_backward_reference
    ),
    warp_variant(
        "log_rows",
        log_softmax_backward_kernel,
        log_softmax_backward_cost,
        log_softmax_backward_reference,
    ),
    inner_variant(
        "inner",
        softmax_backward_inner_kernel,
        softmax_backward_inner_cost,
        softmax_backward_reference,
    ),
    inner_variant(
        "log_inner",
        log_softmax_backward_inner_kernel,
        log_softmax_backward_inner_cost,
        log_softmax_backward_reference,
    ),
)
__all__ = launch.public_names(globals())
