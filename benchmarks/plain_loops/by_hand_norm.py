"""Loops by hand for the book's random numbers and norms (`by_hand.py`)."""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import numba
import numpy as np

from benchmarks.plain_loops.by_hand_sums import tree
from benchmarks.plain_loops.plain import OPTIONS
from gpukit.kernels import philox

njit = numba.njit(**OPTIONS)
words_of = njit(philox.philox.py_func)
uniform = njit(philox.uniform.py_func)
LANES = 32  # places to add up in, so that sums fill vectors


@njit
def rand(grid, block, seed, offset, out):
    words = np.empty(4, np.uint32)
    for first in range(0, out.size, 4):
        words[0], words[1], words[2], words[3] = words_of(seed, np.uint64(first // 4), offset)
        part = out[first : first + 4]
        for t in range(part.size):
            part[t] = uniform(words[t])


@njit
def dropout(grid, block, x, p, scale, seed, offset, out):
    words = np.empty(4, np.uint32)
    for first in range(0, out.size, 4):
        words[0], words[1], words[2], words[3] = words_of(seed, np.uint64(first // 4), offset)
        given, part = x[first : first + 4], out[first : first + 4]
        for t in range(part.size):
            part[t] = given[t] * scale if uniform(words[t]) >= p else 0


@njit
def add_apart(acc, row, centre):
    """Add the distances of numbers from one."""
    for first in range(0, row.size, LANES):
        part = row[first : first + LANES]
        for t in range(part.size):
            acc[t] += part[t] - centre


@njit
def add_squares(acc, row, centre):
    """Add the squares of the distances of numbers from one."""
    for first in range(0, row.size, LANES):
        part = row[first : first + LANES]
        for t in range(part.size):
            acc[t] += (part[t] - centre) * (part[t] - centre)


@njit
def layer_norm(grid, block, x, weight, bias, eps, mean, rstd, out):
    acc, cols = np.empty(LANES, x.dtype), x.dtype.type(x.shape[1])
    for row in range(x.shape[0]):
        acc[:] = 0
        add_apart(acc, x[row], x[row, 0])
        tree(acc, LANES)
        centre = x[row, 0] + acc[0] / cols
        acc[:] = 0
        add_squares(acc, x[row], centre)
        tree(acc, LANES)
        scale = x.dtype.type(1) / np.sqrt(acc[0] / cols + eps)
        for col in range(x.shape[1]):
            out[row, col] = (x[row, col] - centre) * scale * weight[col] + bias[col]
        mean[row], rstd[row] = centre, scale


@njit
def add_gradients(total, along, grad, x, centre, scale, weight):
    """Add gradients, and their products with the normalised numbers."""
    for first in range(0, x.size, LANES):
        g, part = grad[first : first + LANES], x[first : first + LANES]
        w = weight[first : first + LANES]
        for t in range(part.size):
            total[t] += g[t] * w[t]
            along[t] += g[t] * w[t] * ((part[t] - centre) * scale)


@njit
def layer_norm_grad_input(grid, block, grad, x, mean, rstd, weight, out):
    total, along = np.empty(LANES, x.dtype), np.empty(LANES, x.dtype)
    cols = x.dtype.type(x.shape[1])
    for row in range(x.shape[0]):
        total[:], along[:] = 0, 0
        add_gradients(total, along, grad[row], x[row], mean[row], rstd[row], weight)
        tree(total, LANES)
        tree(along, LANES)
        straight, turned = total[0] / cols, along[0] / cols
        for col in range(x.shape[1]):
            y = (x[row, col] - mean[row]) * rstd[row]
            out[row, col] = (grad[row, col] * weight[col] - straight - y * turned) * rstd[row]


@njit
def batch_norm_stats(grid, block, x, momentum, running_mean, running_var, mean, var):
    acc, count = np.empty(LANES, x.dtype), x.dtype.type(x.shape[0] * x.shape[2])
    one = x.dtype.type(1)
    for c in range(x.shape[1]):
        acc[:] = 0
        for n in range(x.shape[0]):
            add_apart(acc, x[n, c], x[0, c, 0])
        tree(acc, LANES)
        centre = x[0, c, 0] + acc[0] / count
        acc[:] = 0
        for n in range(x.shape[0]):
            add_squares(acc, x[n, c], centre)
        tree(acc, LANES)
        mean[c], var[c] = centre, acc[0] / count
        sample = var[c] * (count / (count - one))
        running_mean[c] = (one - momentum) * running_mean[c] + momentum * centre
        running_var[c] = (one - momentum) * running_var[c] + momentum * sample


@njit
def batch_norm_grad_weight(grid, block, grad, x, mean, var, eps, grad_weight, grad_bias):
    total, along = np.empty(LANES, x.dtype), np.empty(LANES, x.dtype)
    ones = np.ones(x.shape[2], x.dtype)
    for c in range(x.shape[1]):
        total[:], along[:] = 0, 0
        scale = x.dtype.type(1) / np.sqrt(var[c] + eps)
        for n in range(x.shape[0]):
            add_gradients(total, along, grad[n, c], x[n, c], mean[c], scale, ones)
        tree(total, LANES)
        tree(along, LANES)
        grad_weight[c], grad_bias[c] = along[0], total[0]


LOOPS = {
    "rand": rand,
    "dropout": dropout,
    "layer_norm_two_pass": layer_norm,
    "layer_norm_block": layer_norm,
    "layer_norm_grad_input": layer_norm_grad_input,
    "batch_norm_stats": batch_norm_stats,
    "batch_norm_grad_weight": batch_norm_grad_weight,
}
