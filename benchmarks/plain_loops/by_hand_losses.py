"""Loops by hand for the book's softmax, losses and their gradients (`by_hand.py`).

A row is walked along in pieces of LANES elements, so that largest values and sums are found in
LANES places side by side, which LLVM vectorises: what the lanes of a warp do.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import math

import numba
import numpy as np

from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)
LANES = 32


@njit
def row_max(row, lanes):
    """Return the largest element of a row, NaN if there is one."""
    lanes[:] = -np.inf
    for first in range(0, row.size, LANES):
        part = row[first : first + LANES]
        for t in range(part.size):
            if lanes[t] == lanes[t] and not part[t] <= lanes[t]:
                lanes[t] = part[t]
    best = lanes[0]
    for t in range(1, LANES):
        if best == best and not lanes[t] <= best:
            best = lanes[t]
    return best


@njit
def row_powers(row, best, powers, lanes):
    """Write e^(x - best) of a row and return their sum."""
    lanes[:] = 0
    for first in range(0, row.size, LANES):
        part, made = row[first : first + LANES], powers[first : first + LANES]
        for t in range(part.size):
            power = math.exp(part[t] - best)
            made[t] = power
            lanes[t] += power
    return total_of(lanes)


@njit
def total_of(lanes):
    total = lanes[0]
    for t in range(1, LANES):
        total += lanes[t]
    return total


@njit
def row_sum(row, lanes):
    lanes[:] = 0
    for first in range(0, row.size, LANES):
        part = row[first : first + LANES]
        for t in range(part.size):
            lanes[t] += part[t]
    return total_of(lanes)


@njit
def softmax(grid, block, x, out):
    lanes = np.empty(LANES, x.dtype)
    for r in range(x.shape[0]):
        row, made = x[r], out[r]
        total = row_powers(row, row_max(row, lanes), made, lanes)
        for j in range(made.size):
            made[j] /= total


@njit
def log_softmax(grid, block, x, out):
    lanes = np.empty(LANES, x.dtype)
    for r in range(x.shape[0]):
        row, made = x[r], out[r]
        best = row_max(row, lanes)
        shift = math.log(row_powers(row, best, made, lanes))
        for j in range(made.size):
            made[j] = row[j] - best - shift


@njit
def softmax_backward(grid, block, grad, y, out):
    lanes = np.empty(LANES, y.dtype)
    for r in range(y.shape[0]):
        above, row, made = grad[r], y[r], out[r]
        for j in range(row.size):
            made[j] = above[j] * row[j]
        share = row_sum(made, lanes)
        for j in range(row.size):
            made[j] = row[j] * (above[j] - share)


@njit
def log_softmax_backward(grid, block, grad, y, out):
    lanes = np.empty(LANES, y.dtype)
    for r in range(y.shape[0]):
        above, row, made = grad[r], y[r], out[r]
        share = row_sum(above, lanes)
        for j in range(row.size):
            made[j] = above[j] - math.exp(row[j]) * share


@njit
def cross_entropy(grid, block, x, target, ignore_index, losses):
    lanes, powers = np.empty(LANES, x.dtype), np.empty(x.shape[1], x.dtype)
    for r in range(x.shape[0]):
        row = x[r]
        best = row_max(row, lanes)
        total = row_powers(row, best, powers, lanes)
        losses[r] = loss_of(row, target[r], ignore_index, best, total)


@njit
def loss_of(row, right, ignore_index, best, total):
    if right == ignore_index:
        return 0.0
    if not 0 <= right < row.size:
        return np.nan
    return math.log(total) + (best - row[right])


@njit
def cross_entropy_grad(grid, block, x, target, ignore_index, grad_out, counted, losses, grad):
    lanes = np.empty(LANES, x.dtype)
    for r in range(x.shape[0]):
        row, made, right = x[r], grad[r], target[r]
        best = row_max(row, lanes)
        total = row_powers(row, best, made, lanes)
        losses[r] = loss_of(row, right, ignore_index, best, total)
        scale = grad_out[r if grad_out.size > 1 else 0] / counted[0]
        if right == ignore_index:
            scale *= 0
        elif not 0 <= right < row.size:
            scale *= np.nan
        for j in range(made.size):
            made[j] = made[j] / total * scale
        if 0 <= right < row.size:
            made[right] -= scale


@njit
def loss_total(grid, block, losses, counted, out):
    out[0] = row_sum(losses, np.empty(LANES, losses.dtype)) / counted[0]


@njit
def count_targets(grid, block, target, ignore_index, counted):
    seen = 0
    for right in target:
        seen += right != ignore_index
    counted[0] = seen


@njit
def mse_sum(grid, block, x, target, parts):
    """Give each block a stretch: what a block adds up does not matter, only the sum of all."""
    lanes = np.empty(LANES, x.dtype)
    size = -(-x.size // grid[0])
    for b in range(grid[0]):
        lanes[:] = 0
        for first in range(b * size, min((b + 1) * size, x.size), LANES):
            last = min(first + LANES, (b + 1) * size)
            part, wanted = x[first:last], target[first:last]
            for t in range(part.size):
                difference = part[t] - wanted[t]
                lanes[t] += difference * difference
        parts[b] = total_of(lanes)


LOOPS = {
    "softmax_warp": softmax,
    "softmax_block": softmax,  # a row of a block is in the cache
    "softmax_online": softmax,
    "log_softmax": log_softmax,
    "softmax_backward": softmax_backward,
    "log_softmax_backward": log_softmax_backward,
    "cross_entropy": cross_entropy,
    "cross_entropy_grad": cross_entropy_grad,
    "loss_total": loss_total,
    "count_targets": count_targets,
    "mse_sum": mse_sum,
}
