"""Loops by hand for the book's kernels that train and whose threads meet (`by_hand.py`)."""

# ruff: noqa: ARG001  (not all loops need the shape of the launch)
from __future__ import annotations

import math

import numpy as np
from numba import njit

from gpukit.kernels.activations import LIMIT
from gpukit.kernels.activations_grad import PEAK
from gpukit.kernels.optimizers.clip import EPS

HALF, SQRT_HALF = np.float32(0.5), np.float32(math.sqrt(0.5))
PEAK_32, LIMIT_32, EPS_32 = np.float32(PEAK), np.float32(LIMIT), np.float32(EPS)


@njit
def square_sum(grid, block, x, at, partials):
    """Each block adds up a stretch of x, in as many sums as a block has threads."""
    threads, share = block[0], -(-x.size // grid[0])
    acc = np.empty(threads, x.dtype)
    for b in range(grid[0]):
        acc[:] = 0
        for first in range(b * share, min((b + 1) * share, x.size), threads):
            part = x[first : min(first + threads, (b + 1) * share)]
            for t in range(part.size):
                acc[t] += part[t] * part[t]
        partials[at + b] = acc.sum()


@njit
def clip_scale(grid, block, partials, max_norm, norm, scale):
    norm[0] = math.sqrt(partials.sum())
    scale[0] = min(np.float32(1), max_norm / (norm[0] + EPS_32))


@njit
def column_sum(grid, block, x, partials):
    chunks = partials.shape[0]
    length = (x.shape[0] + chunks - 1) // chunks
    partials[:] = 0
    for chunk in range(chunks):
        for row in range(chunk * length, min((chunk + 1) * length, x.shape[0])):
            for col in range(x.shape[1]):
                partials[chunk, col] += x[row, col]


@njit
def bias_relu_grad(grid, block, grad, y, grad_x, partials):
    for row in range(grad.shape[0]):
        for col in range(grad.shape[1]):
            grad_x[row, col] = np.float32(0) if y[row, col] <= 0 else grad[row, col]
    column_sum(grid, block, grad_x, partials)


@njit
def bias_gelu_grad(grid, block, grad, x, bias, grad_x, partials):
    for row in range(grad.shape[0]):
        for col in range(grad.shape[1]):
            value = min(max(x[row, col] + bias[col], -LIMIT_32), LIMIT_32)
            below = HALF * (np.float32(1) + math.erf(value * SQRT_HALF))
            density = PEAK_32 * math.exp(-(HALF * value * value))
            grad_x[row, col] = grad[row, col] * (below + value * density)
    column_sum(grid, block, grad_x, partials)


LOOPS = {
    "square_sum": square_sum,
    "square_sum_vectorized": square_sum,
    "clip_scale": clip_scale,
    "column_sum": column_sum,
    "bias_relu_grad": bias_relu_grad,
    "bias_gelu_grad": bias_gelu_grad,
}
