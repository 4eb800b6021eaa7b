"""Loops by hand for the book's sums, extremes, scans and histograms (`by_hand.py`)."""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import numba
import numpy as np

from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)
BLOCK = 256
WARP = 32


# --- Sums ---------------------------------------------------------------------------------------


@njit
def load(tile, part):
    """Copy a part of an array to a tile; zeros follow what it lacks."""
    tile[: part.size] = part
    tile[part.size :] = 0


@njit
def tree(tile, size):
    """Add up the halves of a tile until one is left, as the threads of a block do."""
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
def sum_atomic(grid, block, x, out):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        load(tile, x[b * BLOCK : (b + 1) * BLOCK])
        tree(tile, BLOCK)
        out[0] += tile[0]


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
    """Four elements a thread at a time; the last block adds what is left of them."""
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
def dot_tree(grid, block, x, y, out):
    tile = np.empty(BLOCK, x.dtype)
    for b in range(grid[0]):
        x_part, y_part = x[b * BLOCK : (b + 1) * BLOCK], y[b * BLOCK : (b + 1) * BLOCK]
        for t in range(x_part.size):
            tile[t] = x_part[t] * y_part[t]
        tile[x_part.size :] = 0
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
    """Return whether value is larger than best, NaN being larger than every number."""
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


@njit
def argmax(grid, block, x, places):
    best = np.empty(BLOCK, x.dtype)
    at = np.empty(BLOCK, places.dtype)
    for b in range(grid[0]):
        best[:] = -np.inf
        for t in range(BLOCK):
            at[t] = b * BLOCK + t
        for first in range(b * BLOCK, x.size, grid[0] * BLOCK):
            part = x[first : first + BLOCK]
            for t in range(part.size):
                if larger(part[t], best[t]):
                    best[t] = part[t]
                    at[t] = first + t
        places[b] = at[_first(best, at)]


@njit
def _first(best, at):
    top = 0
    for t in range(1, BLOCK):
        same = not larger(best[top], best[t])
        if larger(best[t], best[top]) or (same and at[t] < at[top]):
            top = t
    return top


@njit
def argmax_finish(grid, block, x, places, out):
    at = places[0]
    for place in places:
        same = not larger(x[at], x[place])
        if larger(x[place], x[at]) or (same and place < at):
            at = place
    out[0] = at


# --- Scans --------------------------------------------------------------------------------------


@njit
def _load(x, first, shift, tile):
    """Copy BLOCK elements, shifted by `shift`; what lies outside is 0."""
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


@njit
def _scan_warps(tile, other):
    """Scan a block's elements in groups of 32, then add to each group the one before it."""
    step = 1
    while step < WARP:
        for warp in range(0, BLOCK, WARP):
            for lane in range(WARP):
                below = tile[warp + lane - step] if lane >= step else 0
                other[warp + lane] = tile[warp + lane] + below
        tile, other = other, tile
        step *= 2
    for warp in range(WARP, BLOCK, WARP):
        before = tile[warp - 1]  # which has the warps below it already
        for lane in range(WARP):
            tile[warp + lane] += before
    return tile


@njit
def scan_warp(grid, block, x, shift, out, sums):
    tile, other = np.empty(BLOCK, out.dtype), np.empty(BLOCK, out.dtype)
    for b in range(grid[0]):
        _load(x, b * BLOCK, shift, tile)
        _store(_scan_warps(tile, other), b * BLOCK, out, sums, b)


@njit
def scan_one_pass(grid, block, x, shift, out, flags, sums):
    tile, other = np.empty(BLOCK, out.dtype), np.empty(BLOCK, out.dtype)
    before = out.dtype.type(0)
    for first in range(0, out.size, BLOCK):  # in order, so nobody has to look back
        _load(x, first, shift, tile)
        made = _scan_warps(tile, other)
        part = out[first : first + BLOCK]
        for t in range(part.size):
            part[t] = made[t] + before
        before += made[BLOCK - 1]


# --- Histogram ----------------------------------------------------------------------------------


@njit
def histogram_privatised(grid, block, x, out):
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
    "sum_unrolled": sum_first_add,  # the same additions, the last levels without barriers
    "sum_atomic": sum_atomic,
    "sum_grid_stride": sum_grid_stride,
    "sum_shuffle": sum_grid_stride,  # a shuffle only saves barriers
    "sum_vectorized": sum_vectorized,
    "dot_tree": dot_tree,
    "dot_shuffle": dot_shuffle,
    "max": max_loops,
    "min": min_loops,
    "argmax": argmax,
    "argmax_finish": argmax_finish,
    "scan_block": scan_block,
    "scan_blelloch": scan_blelloch,
    "scan_padded": scan_blelloch,  # there are no banks
    "scan_warp": scan_warp,
    "scan_one_pass": scan_one_pass,
    "histogram_privatised": histogram_privatised,
}
