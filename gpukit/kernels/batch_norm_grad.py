"""Gradients of batch norm: two sums per channel, then the gradient of each element.

With y = (x - mean) / sqrt(var + eps) and M elements in a channel,

    grad_bias   = sum of grad_out over the channel
    grad_weight = sum of grad_out y over the channel
    grad_input  = weight / sqrt(var + eps) (grad_out - (grad_bias + y grad_weight) / M)

The term in 1 / M is how an element affects all others through mean and variance. In inference both
are constants, so it is left out.

Legend
    N, n        images of the batch                              64
    C, c        channels                                         32
    S, s        elements of a channel in an image, all axes together 1024
    M           elements of a channel in the batch, N S          65536
    inverse_m   1 / M in training, 0 in inference
    totals      the sum of each warp of the block, in shared memory
    BLOCK       threads per block that sums a channel            256
    start       the index s of thread 0                          0, BLOCK, ... below S
    BLOCK_X, BLOCK_Y  elements and channels per block of output  64, 4

All kernels
    Dtypes     float32 or float64, the same for all arrays, scalars and accumulators
    Errors     the host function rejects shapes that do not fit; the kernel assumes that they do
    Source     Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by
               Reducing Internal Covariate Shift", 2015, section 3
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import block_sum
from gpukit.kernels import vector
from gpukit.kernels.batch_norm import (
    BLOCK,
    BLOCK_WARPS,
    BLOCK_X,
    BLOCK_Y,
    LEVELS,
    by_element,
    images,
)
from gpukit.kernels.layer_norm import parameter
from gpukit.launch import Cost, Variant

Float64 = npt.NDArray[np.float64]


# --- Reference -------------------------------------------------------------------------------


def batch_norm_backward_reference(
    grad_out: npt.ArrayLike,
    x: npt.ArrayLike,
    mean: npt.ArrayLike,
    var: npt.ArrayLike,
    weight: npt.ArrayLike = 1.0,
    training: bool = True,
    eps: float = 1e-5,
) -> tuple[Float64, Float64, Float64]:
    """Return the gradients of x (N, C, S), weight and bias."""
    grad_out, x = np.asarray(grad_out, np.float64), np.asarray(x, np.float64)
    mean, var = (np.asarray(each, np.float64)[:, None] for each in (mean, var))
    rstd = 1 / np.sqrt(var + eps)
    y = (x - mean) * rstd
    along, total = (grad_out * y).sum(axis=(0, 2)), grad_out.sum(axis=(0, 2))
    inverse_m = 1 / (x.shape[0] * x.shape[2]) if training else 0
    inner = grad_out - inverse_m * (total[:, None] + y * along[:, None])
    grad_x: Float64 = np.broadcast_to(weight, total.shape)[:, None] * rstd * inner
    return grad_x, along, total


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def batch_norm_grad_weight_kernel(grad_out, x, mean, var, eps, grad_weight, grad_bias):
    """Sum the gradients of weight and bias, one block per channel.

    New here   two sums over a block at once, in an order that does not depend on the launch
    Shapes     grad_out and x (N, C, S), all others (C,); any sizes >= 1, C order
    Launch     block BLOCK, grid C; x = element
    Shared     2 BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize C (2 M + 2 BLOCK + 2); flops: C (5 M + 13 BLOCK + 14); barriers: 2
    """
    channel, tid = cuda.blockIdx.x, cuda.threadIdx.x
    along_totals = cuda.shared.array(BLOCK_WARPS, x.dtype)
    totals = cuda.shared.array(BLOCK_WARPS, x.dtype)
    along, total = x.dtype.type(0), x.dtype.type(0)
    centre, scale = mean[channel], x.dtype.type(1) / math.sqrt(var[channel] + eps)
    for n in range(x.shape[0]):
        for start in range(0, x.shape[2], BLOCK):
            if start + tid < x.shape[2]:
                g = grad_out[n, channel, start + tid]
                along += g * ((x[n, channel, start + tid] - centre) * scale)
                total += g
    along = block_sum(along, along_totals, tid, BLOCK_WARPS)
    total = block_sum(total, totals, tid, BLOCK_WARPS)
    if tid == 0:
        grad_weight[channel] = along
        grad_bias[channel] = total


def batch_norm_grad_weight_cost(n: int, c: int, s: int, itemsize: int = 4) -> Cost:
    """Two loads and five operations per element; each thread loads mean and var."""
    joined = BLOCK * (2 * LEVELS + 3) + 2 * (BLOCK_WARPS - 1)
    return Cost(bytes=itemsize * c * (2 * n * s + 2 * BLOCK + 2), flops=c * (5 * n * s + joined))


@cuda.jit
def batch_norm_grad_input_kernel(
    grad_out, x, mean, var, eps, weight, grad_weight, grad_bias, inverse_m, grad_x
):
    """Compute the gradient of the input, one element per thread.

    New here   the gradients of weight and bias are exactly the sums that this one needs, so they
               are computed first; inverse_m = 0 removes them in inference
    Shapes     grad_out, x and grad_x (N, C, S), all others (C,); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(S, BLOCK_X), ceil_div(C, BLOCK_Y), N);
               x = element, y = channel, z = image
    Cost       bytes: 8 itemsize N C S; flops: 11 N C S; barriers: 0
    """
    s, c, n = cuda.grid(3)
    if c < x.shape[1] and s < x.shape[2]:
        scale = x.dtype.type(1) / math.sqrt(var[c] + eps)
        y = (x[n, c, s] - mean[c]) * scale
        through = inverse_m * (grad_bias[c] + y * grad_weight[c])
        grad_x[n, c, s] = weight[c] * scale * (grad_out[n, c, s] - through)


def batch_norm_grad_input_cost(n: int, c: int, s: int, itemsize: int = 4) -> Cost:
    """Seven loads, eleven operations and a store per element."""
    return Cost(bytes=8 * itemsize * n * c * s, flops=11 * n * c * s)


# --- Host function ---------------------------------------------------------------------------


@signature.takes("input: n c ..., grad_out: n c ..., mean: c, var: c, weight?: c -> n c ..., c, c")
def batch_norm_backward(
    grad_out: Any,
    input: Any,
    mean: Any,
    var: Any,
    weight: Any = None,
    training: bool = True,
    eps: float = 1e-5,
    *,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradients of batch norm's input, weight and bias.

    mean and var are what batch_norm returned with `return_stats`; training and eps must be those of
    that call. grad_out and input have one shape, all else (C,). `out`, if given, is a tuple of
    three.
    """
    function = "batch_norm_backward"
    channels, results = input.shape[1], out
    by_channel, each_element = VARIANTS
    sums = [result.flat() for result in results[1:]]
    if input.size:
        grad = images(function, "grad_out", grad_out, stream)
        x = images(function, "input", input, stream)
        stats = mean, var
        scale = parameter(weight, channels, x.dtype, 1, stream)
        eps = x.dtype.type(eps)
        inverse_m = x.dtype.type(channels / input.size if training else 0)
        by_channel.kernel[channels, by_channel.block, stream](grad, x, *stats, eps, *sums)
        by_element(
            function,
            each_element,
            results[0],
            stream,
            grad,
            x,
            *stats,
            eps,
            scale,
            *sums,
            inverse_m,
        )
    else:
        for part in sums:
            vector.fill(channels, 0, dtype=part.dtype, out=part, stream=stream)
    return tuple(result.get() for result in results)


_variant = functools.partial(Variant, reference=batch_norm_backward_reference)
VARIANTS = (
    _variant(
        "grad_weight",
        batch_norm_grad_weight_kernel,
        batch_norm_grad_weight_cost,
        block=BLOCK,
        tile=1,
    ),
    _variant(
        "grad_input",
        batch_norm_grad_input_kernel,
        batch_norm_grad_input_cost,
        block=(BLOCK_X, BLOCK_Y, 1),
    ),
)
__all__ = launch.public_names(globals())
