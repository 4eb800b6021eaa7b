"""Loops written by hand for the book's transposes and matrix products.

Loading and multiplying tiles are functions of their own, and whole tiles are loaded without a test:
Numba compiles this form to the fastest code. Written as one function, it unrolls the loops over 16
elements and then vectorizes nothing.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import numba
import numpy as np

from benchmarks.plain_loops.by_hand_sums import tree
from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)
U = np.uint64  # spares the test for Python's negative indices at every access
WARP = 32


def transpose_tiled(width):
    """Return the loops for tiles of 32 rows and rows of `width` elements."""

    @njit
    def loops(grid, block, x, out):
        tile = np.empty((32, width), out.dtype)
        for top in range(0, x.shape[0], 32):
            for left in range(0, x.shape[1], 32):
                source = x[top : top + 32, left : left + 32]
                target = out[left : left + 32, top : top + 32]
                for r in range(source.shape[0]):
                    for c in range(source.shape[1]):
                        tile[r, c] = source[r, c]
                for r in range(target.shape[0]):
                    for c in range(target.shape[1]):
                        target[r, c] = tile[c, r]

    return loops


# --- A matrix times a vector --------------------------------------------------------------------


@njit
def matvec_warp_a_row(grid, block, a, x, y):
    """Keep one partial sum per thread of a row: a warp, or a whole block."""
    size = block[0]
    acc = np.empty(size, y.dtype)
    for row in range(a.shape[0]):
        acc[:] = 0
        for first in range(0, a.shape[1], size):
            a_part, x_part = a[row, first : first + size], x[first : first + size]
            for t in range(a_part.size):
                acc[t] += a_part[t] * x_part[t]
        tree(acc, size)
        y[row] = acc[0]


@njit
def matvec_vectorized(grid, block, a, x, y):
    """Four elements per lane; the case has rows of a multiple of four."""
    fours = a.shape[1] // 4
    acc = np.empty(WARP, y.dtype)
    for row in range(a.shape[0]):
        acc[:] = 0
        for first in range(0, fours, WARP):
            last = min(first + WARP, fours)
            a_part, x_part = a[row, 4 * first : 4 * last], x[4 * first : 4 * last]
            for t in range(a_part.size // 4):
                k = 4 * t
                low = a_part[k] * x_part[k] + a_part[k + 1] * x_part[k + 1]
                high = a_part[k + 2] * x_part[k + 2] + a_part[k + 3] * x_part[k + 3]
                acc[t] += low + high
        tree(acc, WARP)
        y[row] = acc[0]


# --- Products of matrices -----------------------------------------------------------------------


def product(rows, cols, depth):
    """Return loops over tiles of out, `rows` x `cols`, in steps of `depth` along the inner axis."""

    @njit
    def loops(grid, block, a, b, out):
        m, k_size, n = U(a.shape[0]), U(a.shape[1]), U(b.shape[1])
        a_tile = np.empty((rows, depth), out.dtype)
        b_tile = np.empty((depth, cols), out.dtype)
        acc = np.empty((rows, cols), out.dtype)
        for row in range(U(0), m, U(rows)):
            for col in range(U(0), n, U(cols)):
                acc[:] = 0
                for t in range(U(0), k_size, U(depth)):
                    _load(a, row, t, a_tile)
                    _load(b, t, col, b_tile)
                    _multiply(acc, a_tile, b_tile)
                for r in range(min(U(rows), m - row)):
                    for c in range(min(U(cols), n - col)):
                        out[row + r, col + c] = acc[r, c]

    return loops


@njit
def _multiply(acc, a_tile, b_tile):
    """Add a_tile b_tile to acc."""
    for r in range(U(acc.shape[0])):
        for k in range(U(a_tile.shape[1])):
            for c in range(U(acc.shape[1])):
                acc[r, c] += a_tile[r, k] * b_tile[k, c]


@njit
def _load(source, top, left, tile):
    """Copy a tile of a matrix; elements outside the matrix are zero."""
    part = source[top : top + U(tile.shape[0]), left : left + U(tile.shape[1])]
    if part.shape[0] < tile.shape[0] or part.shape[1] < tile.shape[1]:
        tile[:] = 0
    for r in range(part.shape[0]):
        for c in range(part.shape[1]):
            tile[r, c] = part[r, c]


matmul_tiled = product(16, 16, 16)


@njit
def matmul_batched(grid, block, a, b, out):
    for batch in range(out.shape[0]):
        matmul_tiled(grid, block, a[batch], b[batch], out[batch])


LOOPS = {
    "transpose_tiled": transpose_tiled(32),
    "transpose_padded": transpose_tiled(33),
    "matvec_warp_a_row": matvec_warp_a_row,
    "matvec_block_a_row": matvec_warp_a_row,
    "matvec_vectorized": matvec_vectorized,
    "matmul_tiled": matmul_tiled,
    "matmul_padded": matmul_tiled,  # a CPU has no banks
    "matmul_register_tile_1d": product(128, 16, 16),
    "matmul_register_tile_2d": product(128, 128, 16),
    "matmul_vectorized": product(128, 128, 16),
    "matmul_double_buffered": product(128, 128, 8),
    "matmul_batched": matmul_batched,
}
