"""Rows for kernels with a warp per row, and numbers with which people begin a maximum."""

from __future__ import annotations

import numpy as np

from gpukit.course.case import Array

WARP = 32
LEAST = float(np.finfo(np.float32).min)  # of all finite float32
# Numbers with which people begin a maximum instead of minus infinity, as float32 holds them.
STARTS = tuple(
    float(np.float32(start))
    for start in (-1e2, -1e3, -1e4, -1e5, -1e6, -1e9, -1e10, -1e20, -1e30, -1e37, -1e38, -3e38)
)
# Rows and columns at which kernels with a warp per row go wrong, in blocks of four warps.
SHAPES = {
    "a column for each lane": (4, 32),
    "two columns for each lane": (4, 64),
    "one number": (1, 1),
    "one column more": (4, 33),
    "one column less": (5, 31),
    "a column for each second lane": (5, 16),
    "one row": (1, 129),
    "one column": (127, 1),
    "two primes": (61, 83),
    "as many rows as threads": (128, 17),
    "many rows": (64, 264),
}


def logits(rng: np.random.Generator, rows: int, cols: int) -> Array:
    """Return rows of logits around several centres; every seventh row has one far above the others.

    In such a row only subtracting the maximum keeps every exponent small: no other number of the
    row does, nor the mean, nor the maximum of some of the columns. The lowest centre is the least
    float32.
    """
    around = np.resize([0, 1000, -1e6, 50, 50, LEAST, -1e30], rows)
    x = rng.normal(0, 2, (rows, cols)) + around[:, None]
    high = np.arange(4, rows, 7)
    x[high, rng.integers(0, cols, high.size)] += 300
    return np.asarray(x, np.float32)
