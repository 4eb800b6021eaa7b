"""Where threads read and write: few blocks for much data, gather and scatter, atomics, tables."""

from __future__ import annotations

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan, unset
from gpukit import cuda

BLOCK = 256
FEW = 20  # blocks


def saxpy_few_blocks_kernel(n, a, x, y):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, n, stride):
        y[i] = a * x[i] + y[i]


def saxpy_few_blocks() -> Case:
    n = 2_000_003
    x, y, a = floats(n), floats(n, seed=8), np.float32(2.5)
    expected = 2.5 * x.astype(float) + y
    return case(saxpy_few_blocks_kernel, FEW, BLOCK, (n, a, x, y), expected, terms=2)


def scale_while_kernel(x, factor, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    while i < x.size:
        out[i] = factor * x[i]
        i += cuda.blockDim.x * cuda.gridDim.x


def scale_while() -> Case:
    n = 4_000_037
    x, out = floats(n), nan(n)
    return case(scale_while_kernel, FEW, 100, (x, np.float32(3), out), 3 * x.astype(float))


def sum_atomics_kernel(x, total):
    acc = 0.0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        acc += x[i]
    cuda.atomic.add(total, 0, acc)


def sum_atomics() -> Case:
    x, total = floats(4_000_037), np.zeros(1)
    expected = np.array([x.sum(dtype=float)])
    return case(sum_atomics_kernel, FEW, BLOCK, (x, total), expected, terms=len(x))


def gather_kernel(x, places, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[places[i]]


def gather() -> Case:
    n, m = 500_009, 2_000_003
    x, places, out = floats(n), integers(0, n, m), nan(m)
    return case(gather_kernel, covering(BLOCK, m), BLOCK, (x, places, out), x[places])


def scatter_kernel(x, places, out):
    i = cuda.grid(1)
    if i < x.size:
        out[places[i]] = x[i]


def scatter() -> Case:
    n = 1_000_003
    x, places, out = floats(n), np.random.default_rng(7).permutation(n), nan(n)
    expected = np.empty_like(x)
    expected[places] = x
    return case(scatter_kernel, covering(BLOCK, n), BLOCK, (x, places, out), expected)


def permute_rows_kernel(x, order, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[order[row], col]


def permute_rows() -> Case:
    rows, cols, block = 4001, 777, (32, 8)
    x, order = floats(rows, cols), np.random.default_rng(7).permutation(rows).astype(np.int32)
    arguments = (x, order, nan(rows, cols))
    return case(permute_rows_kernel, covering(block, cols, rows), block, arguments, x[order])


def reverse_kernel(x, out):
    i = cuda.grid(1)
    n = x.shape[0]
    if i < n:
        out[n - 1 - i] = x[i]


def reverse() -> Case:
    n = 4_000_037
    x, out = floats(n), nan(n)
    return case(reverse_kernel, covering(BLOCK, n), BLOCK, (x, out), x[::-1])


def transpose_odd_kernel(x, out):
    tx = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    ty = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if tx >= x.shape[1] or ty >= x.shape[0]:
        return
    out[tx, ty] = x[ty, tx]


def transpose_odd() -> Case:
    rows, cols, block = 1801, 1503, (33, 3)
    x, out = floats(rows, cols), nan(cols, rows)
    return case(transpose_odd_kernel, covering(block, cols, rows), block, (x, out), x.T)


def interleave_kernel(red, green, blue, out):
    i = cuda.grid(1)
    if i < red.size:
        out[3 * i] = red[i]
        out[3 * i + 1] = green[i]
        out[3 * i + 2] = blue[i]


def interleave() -> Case:
    n = 4_000_037
    planes = [integers(0, 256, n, dtype=np.uint8, seed=seed) for seed in (7, 8, 9)]
    out = np.zeros(3 * n, np.uint8)
    expected = np.stack(planes, axis=1).ravel()
    return case(interleave_kernel, covering(BLOCK, n), BLOCK, (*planes, out), expected)


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


def find_first_kernel(text, wanted, found):
    i = cuda.grid(1)
    if i > text.size - wanted.size:
        return
    for k in range(wanted.size):
        if text[i + k] != wanted[k]:
            return
    cuda.atomic.min(found, 0, i)


def find_first() -> Case:
    n = 2_000_003
    text, wanted = integers(97, 101, n, dtype=np.uint8), np.frombuffer(b"abcabcddcab", np.uint8)
    first = np.array([text.tobytes().find(wanted.tobytes())])
    arguments = (text, wanted.copy(), unset(1, dtype=np.int64))
    assert first[0] > 0  # else nothing is found
    return case(find_first_kernel, covering(BLOCK, n), BLOCK, arguments, first)


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


CASES = (
    saxpy_few_blocks,
    scale_while,
    sum_atomics,
    gather,
    scatter,
    permute_rows,
    reverse,
    transpose_odd,
    interleave,
    histogram_global,
    find_first,
    linear_probing,
    binary_search,
)
