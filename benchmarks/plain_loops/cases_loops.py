"""Loops of data-dependent length, bits, and records."""

from __future__ import annotations

import numpy as np

from benchmarks.plain_loops.case import Case, case, covering, floats, integers, nan, unset
from gpukit import cuda

BLOCK = 256
FIELDS = ("x", "y", "vx", "vy")
PARTICLE = np.dtype([(name, "f4") for name in FIELDS])


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


def levels_kernel(starts, neighbours, level, levels):
    node = cuda.grid(1)
    if node < levels.size and levels[node] == level:
        for k in range(starts[node], starts[node + 1]):
            other = neighbours[k]
            if levels[other] == -1:
                levels[other] = level + 1


def levels() -> Case:
    """One step of a breadth-first search, one thread per node."""
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


def popcount_kernel(words, out):
    i = cuda.grid(1)
    if i < words.size:
        v = words[i]
        count = 0
        while v != 0:
            v &= v - 1
            count += 1
        out[i] = count


def popcount() -> Case:
    n = 1_500_007
    words, out = integers(0, 1 << 40, n, dtype=np.int64), unset(n)
    expected = np.bitwise_count(words)
    return case(popcount_kernel, covering(BLOCK, n), BLOCK, (words, out), expected)


def bit_reversal_kernel(x, bits, out):
    i = cuda.grid(1)
    if i < x.size:
        place = 0
        rest = i
        for _ in range(bits):
            place = (place << 1) | (rest & 1)
            rest >>= 1
        out[place] = x[i]


def bit_reversal() -> Case:
    bits = 18
    x, out = floats(1 << bits), nan(1 << bits)
    expected = x.reshape((2,) * bits).transpose().ravel()
    return case(bit_reversal_kernel, (1 << bits) // BLOCK, BLOCK, (x, bits, out), expected)


def _moved(x, y, vx, vy, dt):
    x, y, vx, vy = (a.astype(float) for a in (x, y, vx, vy))
    vy -= 9.81 * dt
    x, y = x + vx * dt, y + vy * dt
    below = y < 0
    return x, np.where(below, -y, y), vx, np.where(below, -0.8 * vy, vy)


def particles_records_kernel(particles, dt):
    i = cuda.grid(1)
    if i < particles.shape[0]:
        p = particles[i]
        p.vy -= np.float32(9.81) * dt
        p.x += p.vx * dt
        p.y += p.vy * dt
        if p.y < 0:
            p.y = -p.y
            p.vy = -np.float32(0.8) * p.vy


def particles_records() -> Case:
    n, dt = 1_000_003, np.float32(0.01)
    particles, expected = np.empty(n, PARTICLE), np.empty(n, [(f, "f8") for f in FIELDS])
    for seed, name in enumerate(FIELDS, 7):
        particles[name] = np.abs(floats(n, seed=seed))
    moved = _moved(*(particles[name] for name in FIELDS), dt=float(dt))
    for name, values in zip(FIELDS, moved, strict=True):
        expected[name] = values
    arguments = (particles, dt)
    grid = covering(BLOCK, n)
    return case(particles_records_kernel, grid, BLOCK, arguments, expected, terms=9, few=20)


CASES = (collatz, levels, popcount, bit_reversal, particles_records)
