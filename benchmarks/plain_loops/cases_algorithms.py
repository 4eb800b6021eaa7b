"""Dynamic programming, steps of sorts, and loops that end when they end."""

from __future__ import annotations

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, integers, unset
from gpukit import cuda

BLOCK = 256
SQUARE = (16, 16)


def edit_distance_kernel(a, b, d, before, last, now):
    """Fill diagonal d of the table; index i is the row, `last` is diagonal d - 1."""
    i = cuda.grid(1)
    j = d - i
    if i > a.size or j < 0 or j > b.size:
        return
    if i == 0 or j == 0:
        now[i] = d
    else:
        best = min(last[i - 1], last[i]) + 1
        if a[i - 1] == b[j - 1]:
            best = min(best, before[i - 1])
        else:
            best = min(best, before[i - 1] + 1)
        now[i] = best


def edit_distance() -> Case:
    n = 2_000_003
    a, b = (integers(0, 4, n, dtype=np.uint8, seed=seed) for seed in (7, 8))
    before, last = integers(0, n, n + 1), integers(0, n, n + 1, seed=8)
    d, now = n, unset(n + 1)
    expected = np.full(n + 1, d)
    apart = a[:-1] != b[::-1][1:]  # a[i - 1] and b[d - i - 1]
    ways = last[:-2] + 1, last[1:-1] + 1, before[:-2] + apart
    expected[1:-1] = np.minimum.reduce(ways)
    arguments = (a, b, d, before, last, now)
    return case(edit_distance_kernel, covering(BLOCK, n + 1), BLOCK, arguments, expected)


def knapsack_row_kernel(old, weight, value, new):
    w = cuda.grid(1)
    if w < old.shape[0]:
        best = old[w]
        if w >= weight:
            best = max(best, old[w - weight] + value)
        new[w] = best


def knapsack_row() -> Case:
    n, weight, value = 4_000_037, 1237, 900
    old = np.sort(integers(0, 1_000_000, n))
    expected = old.copy()
    expected[weight:] = np.maximum(old[weight:], old[:-weight] + value)
    arguments = (old, weight, value, unset(n))
    return case(knapsack_row_kernel, covering(BLOCK, n), BLOCK, arguments, expected)


def floyd_warshall_kernel(distance, k):
    j, i = cuda.grid(2)
    n = distance.shape[0]
    if i < n and j < n:
        around = distance[i, k] + distance[k, j]
        if around < distance[i, j]:
            distance[i, j] = around


def floyd_warshall() -> Case:
    n, k = 1501, 700
    distance = integers(1, 1000, n, n)
    np.fill_diagonal(distance, 0)
    expected = np.minimum(distance, distance[:, k, None] + distance[k])
    return case(floyd_warshall_kernel, covering(SQUARE, n, n), SQUARE, (distance, k), expected)


def odd_even_kernel(x, phase):
    i = 2 * cuda.grid(1) + phase
    if i + 1 < x.shape[0]:
        if x[i] > x[i + 1]:
            kept = x[i]
            x[i] = x[i + 1]
            x[i + 1] = kept


def odd_even() -> Case:
    n = 3_000_001
    x = integers(0, 1 << 30, n)
    expected = x.copy()
    expected[1:] = np.sort(x[1:].reshape(-1, 2), axis=1).ravel()
    return case(odd_even_kernel, covering(BLOCK, n // 2), BLOCK, (x, 1), expected)


def bitonic_step_kernel(x, j, k):
    i = cuda.grid(1)
    partner = i ^ j
    if partner > i:
        if i & k == 0:
            if x[i] > x[partner]:
                x[i], x[partner] = x[partner], x[i]
        else:
            if x[i] < x[partner]:
                x[i], x[partner] = x[partner], x[i]


def bitonic_step() -> Case:
    n, j, k = 1 << 20, 64, 1024
    x = integers(0, 1 << 30, n)
    pairs = np.sort(x.reshape(-1, 2, j), axis=1)
    falling = (np.arange(n).reshape(-1, 2, j)[:, :1, :1] & k) != 0
    expected = np.where(falling, pairs[:, ::-1], pairs).ravel()
    return case(bitonic_step_kernel, n // BLOCK, BLOCK, (x, j, k), expected)


def collatz_kernel(first, steps):
    i = cuda.grid(1)
    if i < steps.shape[0]:
        n = first + i
        count = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        steps[i] = count


def collatz() -> Case:
    n, first = 30_011, 1000
    value, steps = np.arange(first, first + n), np.zeros(n, int)
    while (value != 1).any():
        going = value != 1
        value = np.where(value % 2 == 0, value // 2, 3 * value + 1)
        value[~going] = 1
        steps += going
    return case(collatz_kernel, covering(BLOCK, n), BLOCK, (first, unset(n)), steps)


def gcd_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        x = a[i]
        y = b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x


def gcd() -> Case:
    n = 100_003
    a, b = integers(1, 1 << 20, n), integers(1, 1 << 20, n, seed=8)
    return case(gcd_kernel, covering(BLOCK, n), BLOCK, (a, b, unset(n)), np.gcd(a, b))


def primes_kernel(first, flags):
    i = cuda.grid(1)
    if i < flags.size:
        n = first + i
        prime = n > 1
        d = 2
        while d * d <= n:
            if n % d == 0:
                prime = False
                break
            d += 1
        flags[i] = prime


def primes() -> Case:
    n, first = 50_021, 1_000_000
    values = np.arange(first, first + n)
    expected = np.all([values % d != 0 for d in range(2, 1025)], axis=0)
    arguments = (first, np.full(n, 77, np.uint8))
    return case(primes_kernel, covering(BLOCK, n), BLOCK, arguments, expected)


def levels_kernel(starts, neighbours, level, levels):
    node = cuda.grid(1)
    if node < levels.size and levels[node] == level:
        for k in range(starts[node], starts[node + 1]):
            other = neighbours[k]
            if levels[other] == -1:
                levels[other] = level + 1


def levels() -> Case:
    """A step of a breadth-first search, a node a thread."""
    n = 500_009
    counts = integers(0, 8, n)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    neighbours = integers(0, n, starts[-1])
    found = np.where(integers(0, 3, n) == 0, 4, -1).astype(np.int32)
    expected = found.copy()
    reached = neighbours[np.repeat(found == 4, counts)]
    expected[reached[found[reached] == -1]] = 5
    arguments = (starts, neighbours, 4, found)
    return case(levels_kernel, covering(BLOCK, n), BLOCK, arguments, expected)


CASES = (
    edit_distance,
    knapsack_row,
    floyd_warshall,
    odd_even,
    bitonic_step,
    collatz,
    gcd,
    primes,
    levels,
)
