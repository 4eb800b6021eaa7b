"""Bias and activation fused into one kernel, forward and backward.

After the product of a layer, adding the bias and applying an activation are two kernels with little
to compute: the first stores the sums only for the second to load them again. Fused, they stay in
registers. Bytes of memory traffic per element of a float32 matrix:

                 separate                                      fused
    forward      add_bias 12, relu 8             20 bytes      bias_relu 12
    backward     relu_grad 12, column_sum 4      16 bytes      bias_relu_grad 12

and one launch instead of two. In the backward pass the gradient of the bias is a sum over rows, to
which each block adds the gradients that it holds in registers, as in `columns`: sums of chunks of
rows first, in an order that is the same in every run.

Legend
    rows, cols  samples, and outputs of the layer: x is (rows, cols)  50000, 512
    row, col    the element that this thread works on
    grad        dE/d out
    y           the result of the forward pass
    partials    (chunks, cols): sums of grad_x over each chunk of rows
    tx, ty      the thread's column and row in its block              [0, WIDTH), [0, HEIGHT)
    ACROSS      columns per block in the forward pass                 64
    MOST_ROWS   maximum number of blocks along y                      65535
    WIDTH       columns per block in the backward pass                64
    HEIGHT      rows per block in the backward pass                   4

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the arithmetic
    Launch     block (ACROSS, 1), grid (ceil_div(cols, ACROSS), min(rows, MOST_ROWS)), or any
               other height; backward block (WIDTH, HEIGHT), grid (ceil_div(cols, WIDTH), chunks);
               x = column, y = row
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do, and
               in the backward pass a block of (WIDTH, HEIGHT)
    Source     gpukit
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels import activations, activations_grad
from gpukit.kernels.activations import HALF, LIMIT, SQRT_HALF
from gpukit.kernels.activations_grad import PEAK
from gpukit.kernels.backprop.columns import HEIGHT, WIDTH, add_columns, chunks_of, store_column_sums
from gpukit.launch import Cost, Variant

ACROSS = 64
MOST_ROWS = launch.GRID_LIMIT[1]

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def add_bias_reference(x: npt.ArrayLike, bias: npt.ArrayLike) -> Float64:
    """Return x with the bias added to each row."""
    made: Float64 = np.asarray(x, np.float64) + np.asarray(bias, np.float64)
    return made


def bias_relu_reference(x: npt.ArrayLike, bias: npt.ArrayLike) -> Float64:
    """Return relu(x + bias)."""
    return activations.relu_reference(add_bias_reference(x, bias))


def bias_gelu_reference(x: npt.ArrayLike, bias: npt.ArrayLike) -> Float64:
    """Return gelu(x + bias)."""
    return activations.gelu_reference(add_bias_reference(x, bias))


def bias_relu_backward_reference(
    grad_out: npt.ArrayLike, y: npt.ArrayLike
) -> tuple[Float64, Float64]:
    """Return the gradients of x and bias; y is the result of bias_relu."""
    grad = activations_grad.relu_grad_reference(grad_out, y)
    return grad, grad.sum(axis=0)


def bias_gelu_backward_reference(
    grad_out: npt.ArrayLike, x: npt.ArrayLike, bias: npt.ArrayLike
) -> tuple[Float64, Float64]:
    """Return the gradients of x and bias."""
    grad = activations_grad.gelu_grad_reference(grad_out, add_bias_reference(x, bias))
    return grad, grad.sum(axis=0)


# --- Forward kernels -------------------------------------------------------------------------


@cuda.jit
def add_bias_kernel(x, bias, out):
    """Add a bias to each row, one element per thread, or several where there are many rows.

    New here   one vector for all rows: neighbouring threads read neighbouring elements of it. A
               grid has at most 65535 blocks along y, so a thread strides by the grid's height
    Shapes     x (rows, cols), bias (cols,), out (rows, cols); any sizes >= 1
    Cost       bytes: 3 itemsize rows cols; flops: rows cols; barriers: 0
    """
    col = cuda.grid(1)
    if col < out.shape[1]:
        for row in range(cuda.blockIdx.y, out.shape[0], cuda.gridDim.y):
            out[row, col] = x[row, col] + bias[col]


def add_bias_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """Two loads, an addition and a store per element."""
    return Cost(bytes=3 * itemsize * rows * cols, flops=rows * cols)


@cuda.jit
def bias_relu_kernel(x, bias, out):
    """Compute relu(x + bias), one element per thread.

    New here   add_bias_kernel and relu_kernel fused: the sum never leaves its register
    Shapes     x (rows, cols), bias (cols,), out (rows, cols); any sizes >= 1
    Cost       bytes: 3 itemsize rows cols; flops: rows cols; barriers: 0
    """
    col = cuda.grid(1)
    zero = x.dtype.type(0)
    if col < out.shape[1]:
        for row in range(cuda.blockIdx.y, out.shape[0], cuda.gridDim.y):
            value = x[row, col] + bias[col]
            out[row, col] = zero if value <= zero else value


@cuda.jit
def bias_gelu_kernel(x, bias, out):
    """Compute gelu(x + bias), one element per thread.

    New here   add_bias_kernel and gelu_kernel fused
    Shapes     x (rows, cols), bias (cols,), out (rows, cols); any sizes >= 1
    Cost       bytes: 3 itemsize rows cols; flops: 6 rows cols, one of them the call of erf;
               barriers: 0
    """
    col = cuda.grid(1)
    one, half = x.dtype.type(1), x.dtype.type(HALF)
    sqrt_half, limit = x.dtype.type(SQRT_HALF), x.dtype.type(LIMIT)
    if col < out.shape[1]:
        for row in range(cuda.blockIdx.y, out.shape[0], cuda.gridDim.y):
            value = x[row, col] + bias[col]
            bounded = -limit if value < -limit else value
            out[row, col] = half * bounded * (one + math.erf(bounded * sqrt_half))


def bias_gelu_cost(rows: int, cols: int, itemsize: int = 4) -> Cost:
    """The loads and the store of add_bias_cost; its addition, and the five operations of gelu."""
    return Cost(bytes=3 * itemsize * rows * cols, flops=6 * rows * cols)


# --- Backward kernels ------------------------------------------------------------------------


@cuda.jit
def bias_relu_grad_kernel(grad, y, grad_x, partials):
    """Compute the gradient of x, and its sums over chunks of rows for that of the bias.

    New here   relu_grad_kernel and column_sum_kernel fused: each value is added while it is in
               a register
    Shapes     grad, y, grad_x (rows, cols), partials (chunks, cols); any sizes >= 1
    Shared     HEIGHT * WIDTH * itemsize bytes, static
    Cost       bytes: itemsize cols (3 rows + chunks); flops: cols (rows + (HEIGHT - 1) chunks);
               barriers: 1
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * WIDTH + tx
    tile = cuda.shared.array((HEIGHT, WIDTH), grad.dtype)
    length = (grad.shape[0] + partials.shape[0] - 1) // partials.shape[0]
    first = cuda.blockIdx.y * length
    acc = zero = grad.dtype.type(0)
    if col < grad.shape[1]:
        for row in range(first + ty, min(first + length, grad.shape[0]), HEIGHT):
            above = grad[row, col]
            value = zero if y[row, col] <= zero else above
            grad_x[row, col] = value
            acc += value
    store_column_sums(acc, tile, partials, tx, ty, col)


def bias_relu_grad_cost(
    rows: int, cols: int, itemsize: int = 4, *, chunks: int | None = None
) -> Cost:
    """Two loads, a store and an addition per element, then as column_sum_cost."""
    chunks = chunks_of(rows) if chunks is None else chunks
    flops = cols * (rows + (HEIGHT - 1) * chunks)
    return Cost(bytes=itemsize * cols * (3 * rows + chunks), flops=flops)


@cuda.jit
def bias_gelu_grad_kernel(grad, x, bias, grad_x, partials):
    """Compute the gradient of x, and its sums over chunks of rows for that of the bias.

    New here   gelu needs x + bias, which was not saved: recomputing it takes an addition
    Shapes     grad, x, grad_x (rows, cols), bias (cols,), partials (chunks, cols); any sizes >= 1
    Shared     HEIGHT * WIDTH * itemsize bytes, static
    Cost       bytes: itemsize cols (4 rows + chunks); flops: cols (13 rows + (HEIGHT - 1) chunks),
               two per element calls of erf and exp; barriers: 1
    """
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * WIDTH + tx
    tile = cuda.shared.array((HEIGHT, WIDTH), grad.dtype)
    length = (grad.shape[0] + partials.shape[0] - 1) // partials.shape[0]
    first = cuda.blockIdx.y * length
    acc = grad.dtype.type(0)
    one, half, peak = x.dtype.type(1), x.dtype.type(HALF), x.dtype.type(PEAK)
    sqrt_half, limit = x.dtype.type(SQRT_HALF), x.dtype.type(LIMIT)
    if col < grad.shape[1]:
        for row in range(first + ty, min(first + length, grad.shape[0]), HEIGHT):
            value = x[row, col] + bias[col]
            bounded = -limit if value < -limit else value
            bounded = limit if bounded > limit else bounded
            below = half * (one + math.erf(bounded * sqrt_half))
            density = peak * math.exp(-(half * bounded * bounded))
            made = grad[row, col] * (below + bounded * density)
            grad_x[row, col] = made
            acc += made
    store_column_sums(acc, tile, partials, tx, ty, col)


def bias_gelu_grad_cost(
    rows: int, cols: int, itemsize: int = 4, *, chunks: int | None = None
) -> Cost:
    """Three loads, a store and 13 operations per element, then as column_sum_cost."""
    chunks = chunks_of(rows) if chunks is None else chunks
    flops = cols * (13 * rows + (HEIGHT - 1) * chunks)
    return Cost(bytes=itemsize * cols * (4 * rows + chunks), flops=flops)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("x: rows cols, bias: cols -> rows cols", in_place=("x",))
def add_bias(x: Any, bias: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return x (rows, cols) with bias (cols,) added to each row; `out` may be x itself."""
    return _forward("add_bias", x, bias, out, stream)


@signature.takes("x: rows cols, bias: cols -> rows cols", in_place=("x",))
def bias_relu(x: Any, bias: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return relu(x + bias) of x (rows, cols) and bias (cols,); `out` may be x itself."""
    return _forward("bias_relu", x, bias, out, stream)


@signature.takes("x: rows cols, bias: cols -> rows cols", in_place=("x",))
def bias_gelu(x: Any, bias: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the exact gelu of x + bias, x (rows, cols), bias (cols,).

    `out` may be x itself, if the backward pass does not need x.
    """
    return _forward("bias_gelu", x, bias, out, stream)


@signature.takes("grad_out: rows cols, y: rows cols -> rows cols, cols")
def bias_relu_backward(
    grad_out: Any, y: Any, *, out: Any = None, stream: Any = 0
) -> tuple[Any, Any]:
    """Return the gradients of x and bias of `bias_relu`, from its result y.

    (rows, cols) and (rows, cols) give (rows, cols) and (cols,). `out` is a tuple of two arrays.
    """
    return _backward("bias_relu_backward", VARIANTS[3], out, stream, grad_out, y)


@signature.takes("grad_out: rows cols, x: rows cols, bias: cols -> rows cols, cols")
def bias_gelu_backward(
    grad_out: Any, x: Any, bias: Any, *, out: Any = None, stream: Any = 0
) -> tuple[Any, Any]:
    """Return the gradients of x and bias of `bias_gelu`.

    (rows, cols), (rows, cols) and (cols,) give (rows, cols) and (cols,). `out` is a tuple of two
    arrays.
    """
    return _backward("bias_gelu_backward", VARIANTS[4], out, stream, grad_out, x, bias)


def _forward(function: str, x: Any, bias: Any, out: Any, stream: Any) -> Any:
    """Launch the kernel named after the function, and return its result."""
    variant = launch.pick(function, VARIANTS, function)
    rows, cols = x.shape
    if rows and cols:
        grid = variant.grid(function, cols, rows)
        variant.kernel[grid, variant.block, stream](x, bias, out.array)
    return out.get()


def _backward(
    function: str, variant: Variant, out: Any, stream: Any, *arrays: Any
) -> tuple[Any, Any]:
    """Launch a kernel and the sum of its blocks' partial sums; return both gradients."""
    (rows, cols), dtype = arrays[0].shape, arrays[0].dtype
    of_x, of_bias = out
    bias = of_bias.flat()
    if cols:
        if rows:
            chunks = chunks_of(rows)
            sums = launch.empty((chunks, cols), dtype)
            grid = variant.grid(function, cols, chunks)
            variant.kernel[grid, variant.block, stream](*arrays, of_x.array, sums)
        else:
            sums = launch.zeros((1, cols), dtype, stream)
        add_columns(function, sums, bias, stream)
    return of_x.get(), of_bias.get()


_forwards = functools.partial(Variant, block=(ACROSS, 1), most_blocks=MOST_ROWS)
_backwards = functools.partial(Variant, block=(WIDTH, HEIGHT), tile=(WIDTH, 1))
VARIANTS = (
    _forwards("add_bias", add_bias_kernel, add_bias_cost, add_bias_reference),
    _forwards("bias_relu", bias_relu_kernel, add_bias_cost, bias_relu_reference),
    _forwards("bias_gelu", bias_gelu_kernel, bias_gelu_cost, bias_gelu_reference),
    _backwards(
        "bias_relu_grad", bias_relu_grad_kernel, bias_relu_grad_cost, bias_relu_backward_reference
    ),
    _backwards(
        "bias_gelu_grad", bias_gelu_grad_kernel, bias_gelu_grad_cost, bias_gelu_backward_reference
    ),
)
__all__ = launch.public_names(globals())
