"""Softmax and log softmax along any axis, forward and backward.

The variants of softmax differ in the threads per row: `threads` has one, `groups` a warp or a
block. `log` and `backward` use the fastest of these. Along another axis than the last one,
neighbouring rows are adjacent in memory, and a thread per row is best: each file has a kernel
for that.
"""

from __future__ import annotations

import math
from typing import Any

from gpukit import launch, signature
from gpukit.kernels.softmax import backward, groups, log, threads
from gpukit.kernels.softmax.backward import (
    log_softmax_backward_reference,
    softmax_backward_reference,
)
from gpukit.kernels.softmax.log import log_softmax_reference
from gpukit.kernels.softmax.threads import softmax_reference
from gpukit.launch import Variant

MAX, SUM, THREE_PASS, THREAD, INNER = threads.VARIANTS
VARIANTS = (THREE_PASS, THREAD, *groups.VARIANTS)


@signature.takes("input: ... -> ...", layout="C")
def softmax(
    input: Any, dim: int = -1, *, variant: str = "warp", out: Any = None, stream: Any = 0
) -> Any:
    """Return e^x divided by its sum along an axis: positive values that add up to 1.

    `[1000. 1001.]` gives `[0.27 0.73]`: any shape gives the same shape and dtype, float32 or
    float64. A row with NaN or inf, or of nothing but -inf, is NaN. The variant is for the last
    axis; along another one each thread computes a row. Rows of more than 4096 elements, too long
    for the shared memory of "block", fall back to "online".
    """
    chosen = launch.pick("softmax", VARIANTS, variant)
    return _along("softmax", dim, (chosen, INNER), out, stream, input)


@signature.takes("input: ... -> ...", layout="C")
def log_softmax(input: Any, dim: int = -1, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the logarithm of softmax along an axis, accurate where softmax underflows.

    `[0. 1000.]` gives `[-1000. 0.]`: any shape gives the same shape and dtype, float32 or float64.
    """
    return _along("log_softmax", dim, log.VARIANTS, out, stream, input)


@signature.takes("grad_out: ..., output: ... -> ...", layout="C")
def softmax_backward(
    grad_out: Any, output: Any, dim: int = -1, *, out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of x from the gradient of output = softmax(x), and output.

    `[1. 0.]` and `[0.5 0.5]` give `[0.25 -0.25]`: two arrays of one shape, both float32 or both
    float64, give that shape and dtype.
    """
    variants = backward.VARIANTS[::2]
    return _along("softmax_backward", dim, variants, out, stream, grad_out, output)


@signature.takes("grad_out: ..., output: ... -> ...", layout="C")
def log_softmax_backward(
    grad_out: Any, output: Any, dim: int = -1, *, out: Any = None, stream: Any = 0
) -> Any:
    """Return the gradient of x from the gradient of output = log_softmax(x), and output.

    `[1. 0.]` and the logarithms of `[0.5 0.5]` give `[0.5 -0.5]`: two arrays of one shape, both
    float32 or both float64, give that shape and dtype.
    """
    variants = backward.VARIANTS[1::2]
    return _along("log_softmax_backward", dim, variants, out, stream, grad_out, output)


def _along(
    function: str, dim: int, variants: tuple[Variant, ...], out: Any, stream: Any, *arrays: Any
) -> Any:
    """Launch a kernel on arrays of one shape along an axis, and return a result of that shape.

    `variants` are one for rows along the last axis and one for rows along another.
    """
    outer, n, inner = _split(function, dim, out.shape)
    if outer * n * inner:
        sizes = (outer, n) if inner == 1 else (outer, n, inner)
        given = [array.reshape(sizes) for array in arrays]
        variant = variants[inner != 1]
        _launch(function, variant, stream, *given, out.flat().reshape(sizes))
    return out.get()


def _split(function: str, dim: int, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of elements of the axes before `dim`, of `dim`, and of those after it."""
    axes = max(len(shape), 1)  # a scalar is a row of one
    if not -axes <= launch.check_int(function, "dim", dim, least=-axes) < axes:
        raise ValueError(
            f"{function}: expected dim < {axes}, got {dim}. The input has {len(shape)} axes."
        )
    sizes = shape or (1,)
    at = dim % axes
    return math.prod(sizes[:at]), sizes[at], math.prod(sizes[at + 1 :])


def _launch(function: str, variant: Variant, stream: Any, *arrays: Any) -> None:
    """Launch a variant on matrices, one row per matrix row, or on arrays of three axes."""
    rows, cols, *behind = arrays[0].shape
    if variant.name == "block" and cols > groups.KEPT:
        variant = launch.pick(function, VARIANTS, variant.instead)
    grid = variant.grid(function, *behind, rows)
    if variant is THREE_PASS:
        x, out = arrays
        best, total = launch.empty((rows,), x.dtype), launch.empty((rows,), x.dtype)
        MAX.kernel[MAX.grid(function, rows), MAX.block, stream](x, best)
        SUM.kernel[SUM.grid(function, rows), SUM.block, stream](x, best, total)
        arrays = (x, best, total, out)
    variant.kernel[grid, variant.block, stream](*arrays)


__all__ = [
    "VARIANTS",
    "log_softmax",
    "log_softmax_backward",
    "log_softmax_backward_reference",
    "log_softmax_reference",
    "softmax",
    "softmax_backward",
    "softmax_backward_reference",
    "softmax_reference",
]
