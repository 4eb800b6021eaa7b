"""Loops written by hand for the book's sums, extremes, scans and histograms."""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import numba
import numpy as np

from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)
BLOCK = 256


# --- Sums ---------------------------------------------------------------------------------------


@njit
def load(tile, part):
    """Copy a part of an array to a tile and fill the rest with zeros."""
    tile[: part.size] = part
    tile[part.size :] = 0


@njit
def tree(tile, size):
    """Add the upper half of a tile to the lower one until one element is left."""
    half = size // 2
    while half > 0:
        for t in range(half):
            tile[t] += tile[t + half]
        half //= 2


@njit
def sum_interleaved(grid, block, x, partials):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        load(tile, x[b * BLOCK : (b + 1) * BLOCK])
        step = 1
        while step < BLOCK:
            for t in range(0, BLOCK, 2 * step):
                tile[t] += tile[t + step]
            step *= 2
        partials[b] = tile[0]


@njit
def sum_sequential(grid, block, x, partials):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        load(tile, x[b * BLOCK : (b + 1) * BLOCK])
        tree(tile, BLOCK)
        partials[b] = tile[0]


@njit
def sum_first_add(grid, block, x, partials):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        first = x[2 * b * BLOCK : (2 * b + 1) * BLOCK]
        second = x[(2 * b + 1) * BLOCK : (2 * b + 2) * BLOCK]
        load(tile, first)
        for t in range(second.size):
            tile[t] += second[t]
        tree(tile, BLOCK)
        partials[b] = tile[0]


@njit
def sum_grid_stride(grid, block, x, out):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        tile[:] = 0
        for first in range(b * BLOCK, x.size, grid[0] * BLOCK):
            part = x[first : first + BLOCK]
            for t in range(part.size):
                tile[t] += part[t]
        tree(tile, BLOCK)
        out[0] += tile[0]


@njit
def sum_vectorized(grid, block, x, out):
    """Four elements per thread and iteration; the first block adds the remainder."""
    tile = np.empty(BLOCK, x.dtype)
    fours = x.size // 4
    for b in range(grid[0]):
        tile[:] = 0
        for first in range(b * BLOCK, fours, grid[0] * BLOCK):
            part = x[4 * first : 4 * min(first + BLOCK, fours)]
            for t in range(part.size // 4):
                tile[t] += (part[4 * t] + part[4 * t + 1]) + (part[4 * t + 2] + part[4 * t + 3])
        if b == 0:
            for i in range(4 * fours, x.size):
                tile[i - 4 * fours] += x[i]
        tree(tile, BLOCK)
        out[0] += tile[0]


@njit
def dot_shuffle(grid, block, x, y, out):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        tile[:] = 0
        for first in range(b * BLOCK, x.size, grid[0] * BLOCK):
            x_part, y_part = x[first : first + BLOCK], y[first : first + BLOCK]
            for t in range(x_part.size):
                tile[t] += x_part[t] * y_part[t]
        tree(tile, BLOCK)
        out[0] += tile[0]


# --- Extremes -----------------------------------------------------------------------------------


@njit
def larger(value, best):
    """Return whether value is larger than best; NaN is larger than every number."""
    return best == best and not value <= best


@njit
def _largest(grid, x, sign, found):
    best = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        best[:] = -np.inf
        for first in range(b * BLOCK, x.size, grid[0] * BLOCK):
            part = x[first : first + BLOCK]
            for t in range(part.size):
                value = sign * part[t]
                best[t] = value if larger(value, best[t]) else best[t]
        top = best[0]
        for t in range(1, BLOCK):
            if larger(best[t], top):
                top = best[t]
        found[b] = sign * top


@njit
def max_loops(grid, block, x, found):
    _largest(grid, x, x.dtype.type(1), found)


@njit
def min_loops(grid, block, x, found):
    _largest(grid, x, x.dtype.type(-1), found)


# --- Scans --------------------------------------------------------------------------------------


@njit
def _load(x, first, shift, tile):
    """Copy BLOCK elements, shifted by `shift`; elements outside the array are 0."""
    begin = first - shift
    if begin >= 0 and begin + BLOCK <= x.size:
        tile[:] = x[begin : begin + BLOCK]
    else:
        for t in range(BLOCK):
            tile[t] = x[begin + t] if 0 <= begin + t < x.size else 0


@njit
def _store(tile, first, out, sums, b):
    part = out[first : first + BLOCK]
    part[:] = tile[: part.size]
    sums[b] = tile[BLOCK - 1]


@njit
def scan_block(grid, block, x, shift, out, sums):
    tile, other = np.empty(BLOCK, out.dtype), np.empty(BLOCK, out.dtype)
    for b in range(grid[0]):
        _load(x, b * BLOCK, shift, tile)
        step = 1
        while step < BLOCK:
            other[:step] = tile[:step]
            for t in range(BLOCK - step):
                other[t + step] = tile[t + step] + tile[t]
            tile, other = other, tile
            step *= 2
        _store(tile, b * BLOCK, out, sums, b)


@njit
def scan_blelloch(grid, block, x, shift, out, sums):
    tile, own = np.empty(BLOCK, out.dtype), np.empty(BLOCK, out.dtype)
    for b in range(grid[0]):
        _load(x, b * BLOCK, shift, own)
        tile[:] = own
        step = 1
        while step < BLOCK:
            for last in range(2 * step - 1, BLOCK, 2 * step):
                tile[last] += tile[last - step]
            step *= 2
        tile[BLOCK - 1] = 0
        while step > 1:
            step //= 2
            for last in range(2 * step - 1, BLOCK, 2 * step):
                left = tile[last - step]
                tile[last - step] = tile[last]
                tile[last] += left
        for t in range(BLOCK):
            tile[t] += own[t]
        _store(tile, b * BLOCK, out, sums, b)


# --- Histogram ----------------------------------------------------------------------------------


@njit
def histogram_privatized(grid, block, x, out):
    bins, threads = out.shape[0], block[0]
    mine = np.empty(bins, np.int32)
    for b in range(grid[0]):
        mine[:] = 0
        for first in range(b * threads, x.size, grid[0] * threads):
            for value in x[first : first + threads]:
                if 0 <= value < bins:
                    mine[value] += 1
        for k in range(bins):
            out[k] += mine[k]


LOOPS = {
    "sum_interleaved": sum_interleaved,
    "sum_sequential": sum_sequential,
    "sum_first_add": sum_first_add,
    "sum_unrolled": sum_first_add,  # the same additions, with fewer barriers
    "sum_grid_stride": sum_grid_stride,
    "sum_shuffle": sum_grid_stride,  # shuffles only save barriers
    "sum_vectorized": sum_vectorized,
    "dot_shuffle": dot_shuffle,
    "max": max_loops,
    "min": min_loops,
    "scan_block": scan_block,
    "scan_blelloch": scan_blelloch,
    "scan_padded": scan_blelloch,  # a CPU has no banks
    "histogram_privatized": histogram_privatized,
}
