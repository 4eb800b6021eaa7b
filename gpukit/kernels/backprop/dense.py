"""Dense (linear) layer, forward and backward: the chain rule, one kernel per gradient.

    out = x weight^T + bias             E is the error, a scalar function of out
    grad_out    = dE/d out              from the layer above
    grad_x      = grad_out weight       for the layer below
    grad_weight = grad_out^T x          dE/dw_oi = sum over samples of dE/dnet_o * dnet_o/dw_oi
    grad_bias   = sum of grad_out over the samples

All three are matrix products with one or the other factor transposed, and the fast variants are
those of `matmul`: `nt` forward, `tn` for the weights. The kernels here define what is computed.

Legend
    N, n   samples in the batch  64
    I, i   inputs of the layer   4096
    O, o   outputs of the layer  512
    x      the inputs of a batch, PyTorch's `input`
    k      the summed axis; the docstring of each kernel says which
    TILE   side of the block     16

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.backprop.columns import column_sum
from gpukit.kernels.matmul import matmul, nt, vectorized
from gpukit.kernels.matmul.naive import TILE
from gpukit.launch import Cost, Variant

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def linear_reference(
    input: npt.ArrayLike, weight: npt.ArrayLike, bias: npt.ArrayLike | None = None
) -> Float64:
    """Return input weight^T + bias."""
    return nt.matmul_nt_reference(input, weight, bias)


def linear_backward_reference(
    grad_out: npt.ArrayLike, input: npt.ArrayLike, weight: npt.ArrayLike
) -> tuple[Float64, Float64, Float64]:
    """Return the gradients of input, weight and bias."""
    grad, x, weight = (np.asarray(array, np.float64) for array in (grad_out, input, weight))
    return grad @ weight, grad.T @ x, grad.sum(axis=0)


# --- Forward kernels -------------------------------------------------------------------------


@cuda.jit
def linear_naive_kernel(x, weight, bias, out):
    """Compute a dense layer, one thread per output of one sample.

    New here   the sum starts from the bias; k is the input, the last axis of both x and weight,
               so neighbouring threads read weights I elements apart: not coalesced
    Shapes     x (N, I), weight (O, I), bias (O,) or (0,), out (N, O); any sizes >= 1, C order
    Launch     block (TILE, TILE), grid (ceil_div(O, TILE), ceil_div(N, TILE)); x = output,
               y = sample
    Cost       bytes: itemsize N O (2 I + 2); flops: 2 N O I; barriers: 0
    Source     gpukit
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        acc = out.dtype.type(0)
        if bias.shape[0] > 0:
            acc = bias[col]
        for k in range(x.shape[1]):
            acc += x[row, k] * weight[col, k]
        out[row, col] = acc


def linear_naive_cost(n: int, i: int, o: int, itemsize: int = 4) -> Cost:
    """Per output: the bias, I inputs and I weights loaded, one store."""
    return Cost(bytes=itemsize * n * o * (2 * i + 2), flops=2 * n * o * i)


# --- Backward kernels ------------------------------------------------------------------------


@cuda.jit
def linear_grad_x_kernel(grad_out, weight, grad_x):
    """Compute the gradient of the input, grad_out weight, one element per thread.

    New here   k is the output: an input affects the error through every output it feeds, and
               the chain rule sums over those paths; loads of weight are coalesced
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
    """Per input: O gradients and O weights loaded, one store."""
    return Cost(bytes=itemsize * n * i * (2 * o + 1), flops=2 * n * o * i)


@cuda.jit
def linear_grad_weight_kernel(grad_out, x, grad_weight):
    """Compute the gradient of the weights, grad_out^T x, one thread per weight.

    New here   k is the sample: every sample of the batch uses the same weight, so their gradients
               are summed; loads of x are coalesced, and grad_out is one element per row of threads
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
    """Per weight: N gradients and N inputs loaded, one store."""
    return Cost(bytes=itemsize * o * i * (2 * n + 1), flops=2 * n * o * i)


# --- Host functions --------------------------------------------------------------------------


@signature.takes("input: n i, weight: o i, bias?: o -> n o")
def linear(
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    variant: str = "tiled",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the outputs of a dense layer, input weight^T + bias.

    input (N, I), weight (O, I) and bias (O,), or None for no bias, give (N, O). All float32 or all
    float64. The variant "vectorized" has 16-byte accesses, for I and O that are multiples of 4
    and arrays aligned to 16 bytes; for others it falls back to "tiled". Raises LaunchError
    (a ValueError) for N above 65535 * TILE.
    """
    function = "linear"
    chosen = launch.pick(function, FORWARD_VARIANTS, variant)
    x, (n, i), o = input, input.shape, weight.shape[0]
    launch.check_variant_dtype(function, chosen, x)
    if i == 0:  # an inner size of 1 filled with zeros gives the same result
        x, weight = (launch.zeros((size, 1), x.dtype, stream) for size in (n, o))
    if n and o:
        arrays = x, weight
        bias = launch.empty((0,), x.dtype) if bias is None else bias
        if chosen.instead and not vectorized.fits(*arrays, out.array):
            chosen = launch.pick(function, FORWARD_VARIANTS, chosen.instead)
        chosen.kernel[chosen.grid(function, o, n), chosen.block, stream](*arrays, bias, out.array)
    return out.get()


@signature.takes("input: n i, weight: o i, grad_out: n o -> n i, o i, o")
def linear_backward(
    grad_out: Any,
    input: Any,
    weight: Any,
    *,
    of_input: bool = True,
    variant: str = "tiled",
    out: Any = None,
    stream: Any = 0,
) -> tuple[Any, Any, Any]:
    """Return the gradients of input, weight and bias of a dense layer.

    grad_out (N, O), input (N, I) and weight (O, I) give (N, I), (O, I) and (O,), in three or four
    launches. All float32 or all float64. `out`, if given, is a tuple of three arrays. Variants are
    those of `linear`; the same arrays give the same bits in every run. Without `of_input` the first
    is None: the first layer of a network does not need it.
    """
    function = "linear_backward"
    launch.pick(function, FORWARD_VARIANTS, variant)
    of_x, of_weight, of_bias = out
    if variant == "naive":
        if of_input:
            _naively(function, BACKWARD_VARIANTS[0], of_x.array, grad_out, weight, stream)
        _naively(function, BACKWARD_VARIANTS[1], of_weight.array, grad_out, input, stream)
    else:
        if of_input:
            matmul(grad_out, weight, variant=variant, out=of_x.array, stream=stream)
        product = {
            "transpose_a": True,
            "variant": variant,
            "out": of_weight.array,
            "stream": stream,
        }
        matmul(grad_out, input, **product)
    column_sum(grad_out, out=of_bias.array, stream=stream)
    return of_x.get() if of_input else None, of_weight.get(), of_bias.get()


def _naively(function: str, variant: Variant, out: Any, a: Any, b: Any, stream: Any) -> None:
    """Launch a kernel with one thread per element of out, unless out is empty."""
    if out.size:
        grid = variant.grid(function, *out.shape[::-1])
        variant.kernel[grid, variant.block, stream](a, b, out)


_naive = functools.partial(Variant, block=(TILE, TILE))
FORWARD_VARIANTS = (
    _naive("naive", linear_naive_kernel, linear_naive_cost, linear_reference),
    *nt.VARIANTS,
)
BACKWARD_VARIANTS = (
    _naive("grad_x", linear_grad_x_kernel, linear_grad_x_cost, linear_backward_reference),
    _naive(
        "grad_weight", linear_grad_weight_kernel, linear_grad_weight_cost, linear_backward_reference
    ),
)

VARIANTS = (FORWARD_VARIANTS[0], *BACKWARD_VARIANTS)
__all__ = launch.public_names(globals())
