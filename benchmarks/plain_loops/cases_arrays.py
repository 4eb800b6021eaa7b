"""Stencils, atomics, hash tables, searches and sparse matrices: irregular accesses to arrays."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan, unset
from gpukit import cuda

BLOCK = 256
ROW_BLOCK = 128
SQUARE, WIDE = (16, 16), (32, 8)


def window_sum_padded_kernel(x, out):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    rows, cols = x.shape
    if row >= rows or col >= cols:
        return
    total = np.float32(0)
    for i in range(3):
        for j in range(3):
            r = row + i - 1
            c = col + j - 1
            if r >= 0 and r < rows and c >= 0 and c < cols:
                total += x[r, c]
    out[row, col] = total


def window_sum_padded() -> Case:
    rows, cols = 1999, 2501
    x, out = floats(rows, cols), nan(rows, cols)
    expected = sliding_window_view(np.pad(x, 1).astype(float), (3, 3)).sum(axis=(2, 3))
    grid = covering(SQUARE, cols, rows)
    return case(window_sum_padded_kernel, grid, SQUARE, (x, out), expected, terms=9)


def life_kernel(cells, out):
    col, row = cuda.grid(2)
    rows, cols = cells.shape
    if row < rows and col < cols:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dy != 0 or dx != 0:
                    alive += cells[(row + dy + rows) % rows, (col + dx + cols) % cols]
        out[row, col] = 1 if alive == 3 or (alive == 2 and cells[row, col] == 1) else 0


def life() -> Case:
    rows, cols = 401, 503
    cells, out = integers(0, 2, rows, cols, dtype=np.uint8), np.full((rows, cols), 77, np.uint8)
    turned = [
        np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)
    ]
    alive = np.sum(turned, axis=0)
    expected = (alive == 3) | ((alive == 2) & (cells == 1))
    return case(life_kernel, covering(WIDE, cols, rows), WIDE, (cells, out), expected)


def histogram_global_kernel(values, low, high, counts):
    i = cuda.grid(1)
    if i < values.size:
        bins = counts.shape[0]
        place = int((values[i] - low) / (high - low) * bins)
        if place >= 0 and place < bins:
            cuda.atomic.add(counts, place, 1)


def histogram_global() -> Case:
    n, bins = 1_000_003, 64
    values, counts = floats(n), np.zeros(bins, np.int32)
    low, high = np.float32(-3), np.float32(3)
    # The kernel's own float32 and float64 steps: a bin's edge may not move.
    places = ((values - low) / (high - low) * np.float64(bins)).astype(int)
    inside = places[(places >= 0) & (places < bins)]
    expected = np.bincount(inside, minlength=bins)
    arguments = (values, low, high, counts)
    return case(histogram_global_kernel, covering(BLOCK, n), BLOCK, arguments, expected)


def linear_probing_kernel(keys, table, values, out):
    i = cuda.grid(1)
    if i < keys.size:
        key = keys[i]
        slot = (key * 40503) % table.size
        while True:
            if table[slot] == key:
                out[i] = values[slot]
                break
            if table[slot] == -1:
                out[i] = -1
                break
            slot += 1
            if slot == table.size:
                slot = 0


def linear_probing() -> Case:
    size, many, n = 1 << 16, 30_000, 300_007
    table, values = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    there = np.random.default_rng(7).permutation(100_000)[:many]
    for key in there:
        slot = int(key) * 40503 % size
        while table[slot] != -1:
            slot = (slot + 1) % size
        table[slot], values[slot] = key, 3 * key
    keys, out = integers(0, 100_000, n, dtype=np.int64), unset(n, dtype=np.int64)
    expected = np.where(np.isin(keys, there), 3 * keys, -1)
    arguments = (keys, table, values, out)
    return case(linear_probing_kernel, covering(BLOCK, n), BLOCK, arguments, expected)


def binary_search_kernel(ordered, wanted, out):
    i = cuda.grid(1)
    if i < wanted.shape[0]:
        low = 0
        high = ordered.shape[0]
        while low < high:
            middle = (low + high) // 2
            if ordered[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def binary_search() -> Case:
    n, m = 100_003, 200_003
    ordered, wanted = np.sort(floats(n)), floats(m, seed=8)
    expected = np.searchsorted(ordered, wanted)
    arguments = (ordered, wanted, unset(m))
    return case(binary_search_kernel, covering(BLOCK, m), BLOCK, arguments, expected)


def csr_spmv_kernel(starts, cols, values, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        acc = 0.0
        for k in range(starts[row], starts[row + 1]):
            acc += values[k] * x[cols[k]]
        y[row] = acc


def csr_spmv() -> Case:
    n = 50_021
    counts = integers(0, 60, n)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    cols, values, x = integers(0, n, starts[-1]), floats(starts[-1]), floats(n, seed=8)
    products = np.concatenate([[0], np.cumsum(values.astype(float) * x[cols])])
    expected = products[starts[1:]] - products[starts[:-1]]
    arguments = (starts, cols, values, x, nan(n))
    return case(csr_spmv_kernel, covering(ROW_BLOCK, n), ROW_BLOCK, arguments, expected, terms=60)


CASES = (window_sum_padded, life, histogram_global, linear_probing, binary_search, csr_spmv)
