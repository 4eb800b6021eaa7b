"""Quantization to int8, symmetric and per channel: x is about scale q, with q from -127 to 127.

    scale   = largest magnitude of the channel / 127
    q       = x / scale, rounded to the nearest integer, ties to even

A channel is a row: one output of a layer's weights. A scale per row costs four bytes per row, and a
row of small weights then keeps its digits beside a row of large ones. A batch of activations has
one scale, for all rows. -128 is not used, so that the range is symmetric and zero is exactly 0.

Rows of q are padded with zeros to a multiple of four, so that they can be read as int32 words of
four int8, as `dot4` takes them; zeros change no sum.

Legend
    C, n        channels (rows), and elements of each                     10, 64
    n'          n rounded up to a multiple of PACKED                      64
    tid         the thread in its block                                   [0, BLOCK)
    acc         the largest magnitude this thread has seen
    totals      the largest magnitude of each warp, in shared memory
    LIMIT       the largest quantized magnitude                           127
    ROUNDS      from here on every float32 is an integer                  1.5 * 2^23
    BLOCK       threads per block of the kernel with a block per channel  256
    BLOCK_X, BLOCK_Y   columns and rows of the other kernels' blocks      32, 8

All kernels, unless stated otherwise
    Launch     block (BLOCK_X, BLOCK_Y), grid (ceil_div(columns of out, BLOCK_X), ceil_div(rows of
               out, BLOCK_Y)); x = column, y = row
    Errors     the host functions reject shapes that do not fit; the kernels assume that they do
    Source     Jacob and others, "Quantization and Training of Neural Networks for Efficient
               Integer-Arithmetic-Only Inference", CVPR 2018; symmetric as in Krishnamoorthi,
               "Quantizing Deep Convolutional Networks for Efficient Inference", 2018
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.collectives import WARP, block_max, larger
from gpukit.launch import Cost, Variant, ceil_div
from gpukit.primitives.dot4 import PACKED

LIMIT = 127
ROUNDS = np.float32(1.5 * 2**23)
BLOCK = 256
WARPS = BLOCK // WARP
BLOCK_X, BLOCK_Y = 32, 8

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def channel_scales_reference(x: npt.ArrayLike) -> Float64:
    """Return the largest magnitude of each row over LIMIT; 1 for a row of zeros."""
    largest = np.abs(np.asarray(x, np.float64)).max(axis=1, initial=0)
    return np.where(largest == 0, 1, largest / LIMIT)


def quantize_reference(x: npt.ArrayLike, scale: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return x / scale rounded to even and limited, rows padded with zeros."""
    x, scale = np.asarray(x, np.float32), np.asarray(scale, np.float32)
    q = np.clip(np.rint(x / scale[:, None]), -LIMIT, LIMIT).astype(np.int8)
    return np.pad(q, ((0, 0), (0, padded(x.shape[1]) - x.shape[1])))


def dequantize_reference(q: npt.ArrayLike, scale: npt.ArrayLike) -> Float64:
    """Return scale q."""
    return np.asarray(q, np.float64) * np.asarray(scale, np.float64)[:, None]


def dequantize_sums_reference(
    sums: npt.ArrayLike, x_scale: npt.ArrayLike, scale: npt.ArrayLike, bias: npt.ArrayLike
) -> Float64:
    """Return the numbers that integer sums of products stand for, plus the bias."""
    factor = np.asarray(x_scale, np.float64) * np.asarray(scale, np.float64)
    made: Float64 = np.asarray(sums, np.float64) * factor + np.asarray(bias)
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def channel_scales_kernel(x, scale):
    """Compute the scale of each row: its largest magnitude over LIMIT, one block per row.

    New here   a maximum that becomes a unit: one quantized step. A row of zeros gets scale 1, since
               0 / 0 would be NaN. NaN propagates: the scale of such a row is NaN
    Shapes     x (C, n), scale (C,); any sizes >= 1
    Dtypes     float32
    Launch     block BLOCK, grid C; x = index in the row
    Shared     WARPS * 4 bytes, static
    Cost       bytes: 4 C (n + 1); flops: C; barriers: 1
    Errors     the kernel assumes a block of BLOCK and one block per row
    """
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    totals = cuda.shared.array(WARPS, np.float32)
    acc = np.float32(0)
    for col in range(tid, x.shape[1], BLOCK):
        magnitude = abs(x[row, col])
        if larger(magnitude, acc):
            acc = magnitude
    acc = block_max(acc, totals, tid, WARPS)
    if tid == 0:
        step = acc / np.float32(LIMIT)
        scale[row] = np.float32(1) if step == np.float32(0) else step


def channel_scales_cost(channels: int, n: int) -> Cost:
    """One load per element, a division and a store per channel; comparisons do not count."""
    return Cost(bytes=4 * channels * (n + 1), flops=channels)


@cuda.jit
def quantize_kernel(x, scale, q):
    """Quantize rows to int8, one element per thread.

    New here   rounding in a unit that data chose: beside ROUNDS a float32 has no bits for a
               fraction, so an addition rounds to even, and a subtraction leaves the integer. What
               lies beyond the scale, in a batch other than the one that was calibrated, is limited
               (clipped), and does not wrap around
    Shapes     x (C, n), scale (C,) or (1,) for all rows, q (C, n'); any sizes >= 1
    Dtypes     float32 x and scale, int8 q; NaN becomes 0
    Cost       bytes: 8 C n + C n'; flops: 3 C n; barriers: 0
    """
    col, row = cuda.grid(2)
    if row < q.shape[0] and col < q.shape[1]:
        nearest = np.float32(0)
        if col < x.shape[1]:
            ratio = x[row, col] / scale[row if scale.shape[0] > 1 else 0]
            if ratio == ratio:
                limited = min(max(ratio, np.float32(-LIMIT)), np.float32(LIMIT))
                nearest = (limited + ROUNDS) - ROUNDS
        q[row, col] = np.int32(nearest)


def quantize_cost(channels: int, n: int) -> Cost:
    """Per element two loads, a division, a sum and a difference; padding is stored too."""
    return Cost(bytes=channels * (8 * n + padded(n)), flops=3 * channels * n)


@cuda.jit
def dequantize_kernel(q, scale, out):
    """Return int8 rows to float32, one element per thread.

    New here   one product undoes a quantization, up to half a step per element
    Shapes     q (C, n), scale (C,) or (1,) for all rows, out (C, n); any sizes >= 1
    Dtypes     int8 q, float32 scale and out
    Cost       bytes: 9 C n; flops: C n; barriers: 0
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = np.float32(q[row, col]) * scale[row if scale.shape[0] > 1 else 0]


def dequantize_cost(channels: int, n: int) -> Cost:
    """Per element a load of one byte and one of the scale, a product and a store."""
    return Cost(bytes=9 * channels * n, flops=channels * n)


@cuda.jit
def dequantize_sums_kernel(sums, x_scale, scale, bias, out):
    """Turn integer sums of a quantized layer into its float32 outputs, one per thread.

    New here   scales leave a sum of products as one factor: sum of (s q)(t p) = s t sum of q p, so
               the sum itself is of integers and exact. That is why a scale is per output, not
               per input, of which each term of the sum has another
    Shapes     sums (M, C), x_scale (1,), scale (C,) or (1,), bias (C,) or (0,), out (M, C);
               any sizes >= 1
    Dtypes     int32 sums, float32 for the others
    Cost       bytes: 16 M C, with a bias 20 M C; flops: 2 M C, with a bias 3 M C; barriers: 0
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        factor = x_scale[0] * scale[col if scale.shape[0] > 1 else 0]
        value = np.float32(sums[row, col]) * factor
        if bias.shape[0] > 0:
            value += bias[col]
        out[row, col] = value


def dequantize_sums_cost(m: int, channels: int, *, bias: bool = True) -> Cost:
    """Per output three loads, two products and a store; with a bias a load and an addition more."""
    return Cost(bytes=(16 + 4 * bias) * m * channels, flops=(2 + bias) * m * channels)


# --- Host functions --------------------------------------------------------------------------


def padded(n: int) -> int:
    """Return n rounded up to a multiple of PACKED, the int8 of a word."""
    return ceil_div(n, PACKED) * PACKED


@signature.takes("x: channels n -> channels", dtypes=(np.float32,))
def channel_scales(x: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the scale of each row for `quantize`: its largest magnitude over 127.

    `channel_scales([[1.27, -2.54], [0, 0]])` is `[0.02, 1.]`. For one scale of a whole batch, pass
    it as one row: `x.reshape(1, -1)`.
    """
    channels, n = x.shape
    if n == 0:  # an inner size of 1 filled with zeros gives the same result
        x = launch.zeros((channels, 1), x.dtype, stream)
    if channels:
        variant = VARIANTS[0]
        grid = variant.grid("channel_scales", channels)
        variant.kernel[grid, variant.block, stream](x, out.array)
    return out.get()


@signature.takes("x: channels n, scale: scales -> channels wide", dtypes=(np.float32,))
def quantize(x: Any, scale: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return rows as int8, x / scale rounded to nearest and limited to -127 to 127.

    scale (channels,) is per row, (1,) for all rows. The int8 rows are padded with zeros to a
    multiple of four elements: (10, 63) gives (10, 64).
    """
    channels, n = x.shape
    _check_scales("quantize", scale, channels)
    result = out._replace(dtype=np.int8).of((channels, padded(n)))
    _launch("quantize", VARIANTS[1], result, stream, x, scale)
    return result.get()


@signature.takes(
    "q: channels n, scale: scales -> channels n",
    q=(np.int8,),
    scale=(np.float32,),
    dtype=np.float32,
)
def dequantize(q: Any, scale: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the float32 numbers that int8 rows stand for, scale q.

    scale (channels,) is per row, (1,) for all rows.
    """
    _check_scales("dequantize", scale, q.shape[0])
    _launch("dequantize", VARIANTS[2], out, stream, q, scale)
    return out.get()


@signature.takes(
    "sums: m channels, x_scale: 1, scale: scales, bias?: channels -> m channels",
    sums=(np.int32,),
    dtypes=(np.float32,),
    dtype=np.float32,
)
def dequantize_sums(
    sums: Any, x_scale: Any, scale: Any, bias: Any = None, *, out: Any = None, stream: Any = 0
) -> Any:
    """Return the outputs of a layer from the sums of `int8_matmul`, sums x_scale scale + bias.

    x_scale (1,) is that of the inputs, scale (channels,) or (1,) that of the rows of weights.
    """
    _check_scales("dequantize_sums", scale, sums.shape[1])
    bias = launch.empty((0,), np.float32) if bias is None else bias
    _launch("dequantize_sums", VARIANTS[3], out, stream, sums, x_scale, scale, bias)
    return out.get()


def _check_scales(function: str, scale: Any, channels: int) -> None:
    """Raise ValueError unless there is a scale per channel, or one for all."""
    if scale.shape[0] not in (1, channels):
        raise ValueError(
            f"{function}: expected scale.shape == ({channels},) or (1,), got {tuple(scale.shape)}. "
            "Pass a scale per channel, or one for all."
        )


def _launch(function: str, variant: Variant, result: Any, stream: Any, *inputs: Any) -> None:
    """Launch a kernel with one thread per element of the result, unless it is empty."""
    rows, cols = result.shape
    if rows and cols:
        grid = variant.grid(function, cols, rows)
        variant.kernel[grid, variant.block, stream](*inputs, result.array)


_variant = functools.partial(Variant, block=(BLOCK_X, BLOCK_Y), dtypes=(np.float32,))
VARIANTS = (
    _variant(
        "channel_scales",
        channel_scales_kernel,
        channel_scales_cost,
        channel_scales_reference,
        block=BLOCK,
        tile=1,
    ),
    _variant("quantize", quantize_kernel, quantize_cost, quantize_reference),
    _variant("dequantize", dequantize_kernel, dequantize_cost, dequantize_reference),
    _variant(
        "dequantize_sums", dequantize_sums_kernel, dequantize_sums_cost, dequantize_sums_reference
    ),
)
__all__ = launch.public_names(globals())
