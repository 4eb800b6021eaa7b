"""Batch norm: normalize each channel over the whole batch to mean 0 and variance 1.

    out = (x - mean) / sqrt(var + eps) weight + bias       one value per channel in each

In training mean and var are those of the batch, and update running averages; in inference the
running averages replace them, so that the result for an image does not depend on its batch. The
running variance is unbiased, divided by the number of elements minus 1; var is not.

The kernels take images. A batch of vectors (N, C) becomes one image with C channels of N elements,
by the transpose of chapter 03: then the elements of a channel are contiguous.

The gradients are in batch_norm_grad.py.

Legend
    N, n        images of the batch                              64
    C, c        channels                                         32
    S, s        elements of a channel in an image, all axes together 1024
    M           elements of a channel in the batch, N S          65536
    first       the first element of the channel
    centre      the mean of the channel's distances from `first`
    totals      the sum of each warp of the block, in shared memory
    BLOCK       threads per block that sums a channel            256
    start       the index s of thread 0                          0, BLOCK, ... below S
    BLOCK_X, BLOCK_Y  elements and channels per block of output  64, 4

All kernels
    Dtypes     float32 or float64, the same for all arrays, scalars and accumulators
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_all_sum
from gpukit.kernels import transpose
from gpukit.kernels.layer_norm import parameter
from gpukit.launch import Cost, Variant
from gpukit.results import Result

Float64 = npt.NDArray[np.float64]

BLOCK = 256
BLOCK_WARPS = BLOCK // WARP
LEVELS = WARP.bit_length() - 1
BLOCK_X = 64
BLOCK_Y = 4


# --- References ------------------------------------------------------------------------------


def batch_stats_reference(x: npt.ArrayLike) -> tuple[Float64, Float64]:
    """Return the mean and the variance of each channel of (N, C, S)."""
    x = np.asarray(x, np.float64)
    return x.mean(axis=(0, 2)), x.var(axis=(0, 2))


def batch_norm_reference(
    x: npt.ArrayLike,
    mean: npt.ArrayLike,
    var: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    eps: float = 1e-5,
) -> Float64:
    """Return (N, C, S) minus mean, over the root of var, times weight, plus bias."""
    mean, var, weight, bias = (
        np.asarray(each, np.float64)[:, None] for each in (mean, var, weight, bias)
    )
    made: Float64 = (np.asarray(x, np.float64) - mean) / np.sqrt(var + eps) * weight + bias
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def batch_norm_stats_kernel(x, momentum, running_mean, running_var, mean, var):
    """Compute the mean and the variance of each channel, one block per channel.

    New here   a sum over two axes with a third one between them: a loop over images, and over the
               elements of each, BLOCK at a time. The running averages are updated in place
    Shapes     x (N, C, S), all others (C,); C and S >= 1, N S >= 2, C order
    Launch     block BLOCK, grid C; x = element
    Shared     BLOCK / 32 * itemsize bytes, static
    Cost       bytes: itemsize C (2 M + BLOCK + 6); flops: C (6 M + 26 BLOCK + 12); barriers: 4
    Errors     the host function rejects shapes that do not fit, and M = 1; the kernel assumes
               its block is BLOCK
    Source     Ioffe and Szegedy, "Batch Normalization", 2015; Chan, Golub and LeVeque, "Algorithms
               for Computing the Sample Variance", 1983, two passes, shifted
    """
    channel, tid = cuda.blockIdx.x, cuda.threadIdx.x
    totals = cuda.shared.array(BLOCK_WARPS, x.dtype)
    count = x.dtype.type(x.shape[0] * x.shape[2])
    total, squares, first = x.dtype.type(0), x.dtype.type(0), x[0, channel, 0]
    for n in range(x.shape[0]):
        for start in range(0, x.shape[2], BLOCK):
            if start + tid < x.shape[2]:
                total += x[n, channel, start + tid] - first
    centre = block_all_sum(total, totals, tid, BLOCK_WARPS) / count
    for n in range(x.shape[0]):
        for start in range(0, x.shape[2], BLOCK):
            if start + tid < x.shape[2]:
                deviation = x[n, channel, start + tid] - first - centre
                squares += deviation * deviation
    variance = block_all_sum(squares, totals, tid, BLOCK_WARPS) / count
    if tid == 0:
        one = x.dtype.type(1)
        found = first + centre
        sample = variance * (count / (count - one))
        mean[channel] = found
        var[channel] = variance
        running_mean[channel] = (one - momentum) * running_mean[channel] + momentum * found
        running_var[channel] = (one - momentum) * running_var[channel] + momentum * sample


def batch_norm_stats_cost(n: int, c: int, s: int, itemsize: int = 4) -> Cost:
    """Two loads per element, 2 and 4 operations; each thread loads `first` as well."""
    joined = BLOCK * 2 * (LEVELS + BLOCK_WARPS - 1 + 1)
    return Cost(bytes=itemsize * c * (2 * n * s + BLOCK + 6), flops=c * (6 * n * s + joined + 12))


@cuda.jit
def batch_norm_kernel(x, mean, var, eps, weight, bias, out):
    """Normalize each channel with given statistics, one element per thread.

    New here   no reduction, so training and inference launch the same kernel: they differ in
               whose mean and variance they pass
    Shapes     x (N, C, S), out (N, C, S), all others (C,); any sizes >= 1, C order
    Launch     block (BLOCK_X, BLOCK_Y, 1), grid (ceil_div(S, BLOCK_X), ceil_div(C, BLOCK_Y), N);
               x = element, y = channel, z = image
    Cost       bytes: 6 itemsize N C S; flops: 7 N C S; barriers: 0
    Errors     the host function rejects shapes that do not fit; the kernel assumes that they do
    Source     Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by
               Reducing Internal Covariate Shift", 2015
    """
    s, c, n = cuda.grid(3)
    if c < x.shape[1] and s < x.shape[2]:
        scale = weight[c] * (x.dtype.type(1) / math.sqrt(var[c] + eps))
        out[n, c, s] = (x[n, c, s] - mean[c]) * scale + bias[c]


def batch_norm_cost(n: int, c: int, s: int, itemsize: int = 4) -> Cost:
    """Five loads, seven operations and a store per element."""
    return Cost(bytes=6 * itemsize * n * c * s, flops=7 * n * c * s)


# --- Host function ---------------------------------------------------------------------------


@signature.takes(
    "input: n c ..., running_mean?: c, running_var?: c, weight?: c, bias?: c -> n c ..."
)
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    return_stats: bool = False,
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return input with each channel normalized, times weight, plus bias.

    input is (N, C), (N, C, H, W) or with any other axes after C, all else (C,), float32 or float64
    throughout; the result has the shape of input. In training mean and variance are those of the
    batch, and running_mean and running_var, unless they are None, move by the fraction `momentum`
    towards them, in place. With `return_stats` the result is (out, mean, var), which
    batch_norm_backward needs: those of the batch in training, else the running ones.
    """
    function = "batch_norm"
    given, names = dict(out.inputs), ("running_mean", "running_var")
    held = given.pop("input")
    _check_statistics(function, input, training, given)
    channels, dtype = input.shape[1], input.dtype
    stats = [  # of the batch
        Result(function, None, (channels,), dtype, {"input": held}, stream=stream) for _ in names
    ]
    known = [
        parameter(array, channels, dtype, value, stream)
        for array, value in ((running_mean, 0), (running_var, 1), (weight, 1), (bias, 0))
    ]
    running, scale_and_shift = known[:2], known[2:]
    if input.size:
        x, used = images(function, "input", input, stream), running
        if training:
            used = [part.array for part in stats]
            VARIANTS[0].kernel[channels, BLOCK, stream](x, x.dtype.type(momentum), *running, *used)
            for name, array in zip(names, running, strict=True):
                launch.bring_back(given.get(name), array, stream)
        by_element(
            function, VARIANTS[1], out, stream, x, *used, x.dtype.type(eps), *scale_and_shift
        )
    if not return_stats:
        return out.get()
    if training:
        return (out.get(), *(part.get() for part in stats))
    return (out.get(), *map(given.get, names))


def _check_statistics(function: str, input: Any, training: bool, given: dict[str, Any]) -> None:
    """Raise ValueError without running statistics, or without enough elements to compute them."""
    running = [given.get(name) for name in ("running_mean", "running_var")]
    if not training and any(array is None for array in running):
        raise ValueError(
            f"{function}: expected running_mean and running_var where training is False, got None. "
            "Pass both, or training=True."
        )
    if training and input.size == input.shape[1]:
        raise ValueError(
            f"{function}: expected two elements or more of each channel in training, got shape "
            f"{tuple(input.shape)}. Pass a larger batch, or training=False."
        )
    for array in running:
        if training and isinstance(array, np.ndarray) and not array.flags.writeable:
            raise ValueError(
                f"{function}: expected running_mean and running_var to be writeable in training, "
                "got a read-only array. Copy it."
            )


def images(function: str, name: str, array: Any, stream: Any) -> Any:
    """Return a batch on the device as images (N, C, S); vectors (N, C) as (1, C, N)."""
    n, channels = array.shape[:2]
    if array.ndim == 2:
        turned = transpose.transpose(launch.to_device(array, stream), stream=stream)
        return turned.reshape(1, channels, n)
    flat = launch.to_device(launch.flatten(function, name, array), stream)
    return flat.reshape(n, channels, flat.size // (n * channels))


def by_element(
    function: str, variant: Variant, result: Any, stream: Any, x: Any, *rest: Any
) -> None:
    """Launch a kernel with one thread per element of x, and return its result."""
    n, channels, places = x.shape
    vectors = len(result.array.shape) == 2
    out = launch.empty(x.shape, x.dtype) if vectors else result.flat().reshape(x.shape)
    grid = variant.grid(function, places, channels, n)
    variant.kernel[grid, variant.block, stream](x, *rest, out)
    if vectors:
        transpose.transpose(out.reshape(channels, places), out=result.array, stream=stream)


VARIANTS = (
    Variant(
        "stats", batch_norm_stats_kernel, batch_norm_stats_cost, batch_stats_reference, BLOCK, 1
    ),
    Variant(
        "batch_norm",
        batch_norm_kernel,
        batch_norm_cost,
        batch_norm_reference,
        (BLOCK_X, BLOCK_Y, 1),
    ),
)
__all__ = launch.public_names(globals())
