"""Windows over images and grids: each thread reads the neighbours of its element."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.plain_loops.case import Case, case
from gpukit import cuda
from gpukit.launch import ceil_div

BLOCK = (32, 8)


def grid(rows: int, cols: int, block: tuple[int, int] = BLOCK) -> tuple[int, int]:
    return ceil_div(cols, block[0]), ceil_div(rows, block[1])


def picture(rows: int, cols: int):
    return np.random.default_rng(7).standard_normal((rows, cols), np.float32)


def nan(*shape: int):
    return np.full(shape, np.nan, np.float32)


def window_min_kernel(x, out):
    """The smallest of 3 x 3, literal loops."""
    col, row = cuda.grid(2)
    if 0 < row < x.shape[0] - 1 and 0 < col < x.shape[1] - 1:
        least = x[row, col]
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                least = min(least, x[row + dy, col + dx])
        out[row, col] = least


def window_min() -> Case:
    x, out = picture(1999, 2001), nan(1999, 2001)
    expected = out.copy()
    expected[1:-1, 1:-1] = sliding_window_view(x, (3, 3)).min(axis=(2, 3))
    return case(window_min_kernel, grid(*x.shape), BLOCK, (x, out), expected)


CASES = (window_min,)
