"""A dense layer forwards and backwards: the chain rule, one gradient for each kernel.

    out = x weight^T + bias             E is the error, some number made from out
    grad_out    = dE/d out              comes from the layer above
    grad_x      = grad_out weight       handed to the layer below
    grad_weight = grad_out^T x          dE/dw_oi = sum over samples of dE/dnet_o * dnet_o/dw_oi
    grad_bias   = sum of grad_out over the samples

Legend
    N, n   samples in the batch                        64
    I, i   inputs of the layer                         4096
    O, o   outputs of the layer                        512
    k      the axis that is summed away; the docstring of each kernel says which
    TILE   side of the block, and of the tiles in shared memory       16
    PADDED width of a tile with the column that nobody uses           17
    BLOCK  threads of a block of the bias kernel                      256

All kernels, unless one says otherwise
    Dtypes     float32 or float64, one for all arrays and the accumulator
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.launch import Cost, Rung, ceil_div

TILE = 16
PADDED = TILE + 1  # named here: a GPU compiler takes no sum as a shape
BLOCK = 256

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def linear_reference(x: npt.ArrayLike, weight: npt.ArrayLike, bias: npt.ArrayLike) -> Float64:
    """Return x weight^T + bias."""
    x, weight = np.asarray(x, np.float64), np.asarray(weight, np.float64)
    out: Float64 = x @ weight.T + np.asarray(bias, np.float64)
    return out


def linear_backward_reference(
    x: npt.ArrayLike, weight: npt.ArrayLike, grad_out: npt.ArrayLike
) -> tuple[Float64, Float64, Float64]:
    """Return the gradients of x, weight and bias."""
    x, weight = np.asarray(x, np.float64), np.asarray(weight, np.float64)
    grad_out = np.asarray(grad_out, np.float64)
    return grad_out @ weight, grad_out.T @ x, grad_out.sum(axis=0)


# --- Forward kernels -------------------------------------------------------------------------


@cuda.jit
def linear_naive_kernel(x, weight, bias, out):
    """Compute a dense layer, one thread for one output of one sample.

    New here   the sum starts from the bias; k is the input, the last axis of both x and weight,
               so neighbouring threads read weights I elements apart: not coalesced
    Shapes     x (N, I), weight (O, I), bias (O,), out (N, O); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(O, TILE), ceil_div(N, TILE)); x = output,
               y = sample
    Cost       bytes: itemsize N O (2 I + 2); flops: 2 N O I; barriers: 0
    Source     ours
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = bias[col]
        for k in range(x.shape[1]):
            acc += x[row, k] * weight[col, k]
        out[row, col] = acc


def linear_naive_cost(n: int, i: int, o: int, itemsize: int = 4) -> Cost:
    """For each output: the bias, I inputs and I weights loaded, one store."""
    return Cost(bytes=itemsize * n * o * (2 * i + 2), flops=2 * n * o * i)


@cuda.jit
def linear_tiled_kernel(x, weight, bias, out):
    """Compute a dense layer, one block for one TILE x TILE tile of out.

    New here   both tiles are loaded along k, so every load is coalesced; the transposing
               happens in shared memory, where a column of padding keeps the threads of a warp,
               which read down weight_tile, out of one another's banks
    Shapes     x (N, I), weight (O, I), bias (O,), out (N, O); any sizes >= 1, C order
    Dtypes     float32 or float64, one for all arrays, the accumulator and both tiles
    Launch     block (TILE, TILE), grid (ceil_div(O, TILE), ceil_div(N, TILE)); x = output,
               y = sample
    Shared     TILE * (TILE + PADDED) * itemsize bytes, static
    Cost       bytes: itemsize (N I ceil_div(O, TILE) + O I ceil_div(N, TILE) + 2 N O);
               flops: 2 N' O' I' + N O, each primed size rounded up to a multiple of TILE;
               barriers: 2 ceil_div(I, TILE)
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do, and
               its block to be exactly (TILE, TILE)
    Source     ours; padding from Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++", 2013
    """
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_col = cuda.blockIdx.x * TILE
    x_tile = cuda.shared.array((TILE, TILE), out.dtype)
    weight_tile = cuda.shared.array((TILE, PADDED), out.dtype)
    acc = out.dtype.type(0)
    for t in range(0, x.shape[1], TILE):
        k = t + tx
        o = first_col + ty  # the row of weight this thread loads, not the output it computes
        x_tile[ty, tx] = x[row, k] if row < x.shape[0] and k < x.shape[1] else out.dtype.type(0)
        inside = o < weight.shape[0] and k < x.shape[1]
        weight_tile[ty, tx] = weight[o, k] if inside else out.dtype.type(0)
        cuda.syncthreads()  # both tiles are full before any thread reads them
        for kt in range(TILE):
            acc += x_tile[ty, kt] * weight_tile[tx, kt]
        cuda.syncthreads()  # all have read both tiles before any thread loads the next ones
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc + bias[col]


def linear_tiled_cost(n: int, i: int, o: int, itemsize: int = 4) -> Cost:
    """Each block column loads all of x, each block row all of weight; padding is multiplied."""
    blocks_n, blocks_o, tiles = ceil_div(n, TILE), ceil_div(o, TILE), ceil_div(i, TILE)
    return Cost(
        bytes=itemsize * (n * i * blocks_o + o * i * blocks_n + 2 * n * o),
        flops=2 * blocks_n * blocks_o * tiles * TILE**3 + n * o,
    )


# --- Backward kernels ------------------------------------------------------------------------


@cuda.jit
def linear_grad_x_kernel(grad_out, weight, grad_x):
    """Compute the gradient of the input, grad_out weight, one thread for one element.

    New here   k is the output: an input reaches the error through every output it feeds, and
               the chain rule adds those paths up; loads of weight are coalesced
    Shapes     grad_out (N, O), weight (O, I), grad_x (N, I); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(I, TILE), ceil_div(N, TILE)); x = input,
               y = sample
    Cost       bytes: itemsize N I (2 O + 1); flops: 2 N O I; barriers: 0
    Source     Rumelhart, Hinton and Williams, Nature 323, 1986
    """
    col, row = cuda.grid(2)
    if row < grad_x.shape[0] and col < grad_x.shape[1]:
        acc = grad_x.dtype.type(0)
        for k in range(weight.shape[0]):
            acc += grad_out[row, k] * weight[k, col]
        grad_x[row, col] = acc


def linear_grad_x_cost(n: int, i: int, o: int, itemsize: int = 4) -> Cost:
    """For each input: O gradients and O weights loaded, one store."""
    return Cost(bytes=itemsize * n * i * (2 * o + 1), flops=2 * n * o * i)


@cuda.jit
def linear_grad_weight_kernel(grad_out, x, grad_weight):
    """Compute the gradient of the weights, grad_out^T x, one thread for one weight.

    New here   k is the sample: a weight serves every sample of the batch, so their gradients
               add up; loads of x are coalesced, and grad_out is one element for a row of threads
    Shapes     grad_out (N, O), x (N, I), grad_weight (O, I); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(I, TILE), ceil_div(O, TILE)); x = input,
               y = output
    Cost       bytes: itemsize O I (2 N + 1); flops: 2 N O I; barriers: 0
    Source     Rumelhart, Hinton and Williams, Nature 323, 1986
    """
    col, row = cuda.grid(2)
    if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
        acc = grad_weight.dtype.type(0)
        for k in range(x.shape[0]):
            acc += grad_out[k, row] * x[k, col]
        grad_weight[row, col] = acc


def linear_grad_weight_cost(n: int, i: int, o: int, itemsize: int = 4) -> Cost:
    """For each weight: N gradients and N inputs loaded, one store."""
    return Cost(bytes=itemsize * o * i * (2 * n + 1), flops=2 * n * o * i)


@cuda.jit
def linear_grad_bias_kernel(grad_out, grad_bias):
    """Compute the gradient of the bias, one thread for one output.

    New here   a sum over rows: each thread adds down its own column, and neighbouring threads
               read neighbouring elements, so no shared memory is needed
    Shapes     grad_out (N, O), grad_bias (O,); any sizes >= 1, C order
    Dtypes     float32 or float64, one for both arrays and the accumulator
    Launch     block BLOCK, grid ceil_div(O, BLOCK); x = output
    Cost       bytes: itemsize O (N + 1); flops: N O; barriers: 0
    Source     Rumelhart, Hinton and Williams, Nature 323, 1986
    """
    col = cuda.grid(1)
    if col < grad_bias.shape[0]:
        acc = grad_bias.dtype.type(0)
        for k in range(grad_out.shape[0]):
            acc += grad_out[k, col]
        grad_bias[col] = acc


def linear_grad_bias_cost(n: int, o: int, itemsize: int = 4) -> Cost:
    """For each output: N gradients loaded and added, one store."""
    return Cost(bytes=itemsize * o * (n + 1), flops=n * o)


# --- Host functions --------------------------------------------------------------------------


def linear(x: Any, weight: Any, bias: Any, *, rung: str = "tiled") -> npt.NDArray[Any]:
    """Return the outputs of a dense layer, x weight^T + bias.

    x (N, I), weight (O, I) and bias (O,) give (N, O). All float32 or all float64. Raises
    LaunchError (a ValueError) for N above 65535 * TILE.
    """
    chosen = launch.pick("linear", FORWARD_LADDER, rung)
    _check("linear", "weight", weight, 2, x=x)
    _check("linear", "bias", bias, 1, x=x)
    (n, i), o = x.shape, weight.shape[0]
    launch.check_shape("linear", "weight", weight, (o, i), "Its rows are as long as those of x.")
    launch.check_shape("linear", "bias", bias, (o,), "There is one bias for each row of weight.")
    out = launch.empty((n, o), x.dtype)
    _launch("linear", chosen, out, x, weight, bias)
    return launch.to_host(out)


def linear_backward(
    x: Any, weight: Any, grad_out: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the gradients of x, weight and bias of a dense layer.

    x (N, I), weight (O, I) and grad_out (N, O) give (N, I), (O, I) and (O,). All float32 or all
    float64.
    """
    function = "linear_backward"
    _check(function, "weight", weight, 2, x=x)
    _check(function, "grad_out", grad_out, 2, x=x)
    (n, i), o = x.shape, weight.shape[0]
    launch.check_shape(function, "weight", weight, (o, i), "Its rows are as long as those of x.")
    advice = "It has the shape of the outputs of the layer."
    launch.check_shape(function, "grad_out", grad_out, (n, o), advice)
    x, weight, grad_out = (launch.to_device(array) for array in (x, weight, grad_out))
    grad_x, grad_weight, grad_bias = (
        launch.empty(shape, x.dtype) for shape in ((n, i), (o, i), (o,))
    )
    by_x, by_weight, by_bias = BACKWARD_LADDER
    _launch(function, by_x, grad_x, grad_out, weight)
    _launch(function, by_weight, grad_weight, grad_out, x)
    _launch(function, by_bias, grad_bias, grad_out)
    return launch.to_host(grad_x), launch.to_host(grad_weight), launch.to_host(grad_bias)


def _check(function: str, name: str, array: Any, ndim: int, *, x: Any) -> None:
    """Raise unless x is a matrix of floats and `array` has `ndim` axes and the dtype of x."""
    launch.check_array(function, "x", x, ndim=2, dtypes=launch.FLOATS)
    launch.check_array(function, name, array, ndim=ndim, dtypes=launch.FLOATS)
    launch.check_same_dtype(function, x=x, **{name: array})


def _launch(function: str, rung: Rung, out: Any, *inputs: Any) -> None:
    """Launch a kernel with one thread for each element of `out`, unless there is none."""
    if out.size:
        grid = rung.grid(function, *out.shape[::-1])
        rung.kernel[grid, rung.block](*(launch.to_device(array) for array in inputs), out)


FORWARD_LADDER = (
    Rung("naive", linear_naive_kernel, linear_naive_cost, linear_reference, (TILE, TILE)),
    Rung("tiled", linear_tiled_kernel, linear_tiled_cost, linear_reference, (TILE, TILE)),
)

_backward = functools.partial(Rung, reference=linear_backward_reference, block=(TILE, TILE))
BACKWARD_LADDER = (
    _backward("grad_x", linear_grad_x_kernel, linear_grad_x_cost),
    _backward("grad_weight", linear_grad_weight_kernel, linear_grad_weight_cost),
    _backward("grad_bias", linear_grad_bias_kernel, linear_grad_bias_cost, block=BLOCK),
)

LADDER = (*FORWARD_LADDER, *BACKWARD_LADDER)
__all__ = launch.public_names(globals())
