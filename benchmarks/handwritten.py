"""The tiled matrix product as loops written by hand: what the compiler should come close to.

The loops are those that a person makes of `matmul_tiled_kernel`: tile by tile of out, step by
step along K, and in that the threads of the block as two loops, the row outside and the column
inside, so that the inner loop runs along memory. Loading and multiplying are functions of their
own and whole tiles are loaded without a test: numba makes the fastest code of this form (written
as one function, it unrolls the loops over 16 and then vectorises nothing).

Legend
    row, col  where the present tile of out begins       0, 16, 32, ...
    t         where the present tile begins along K      0, 16, 32, ...
    tx, ty    the thread's column and row in its block   [0, TILE)
    k         the summed axis inside a tile              [0, TILE)
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import numba
import numpy as np

TILE = 16
# Unsigned indices spare the test for Python's negative ones in every access.
U = np.uint64
njit = numba.njit(nogil=True, error_model="numpy")


@njit
def load(source, top, left, tile):
    """Copy a tile out of a matrix; what lies outside is zero."""
    rows, cols, size = U(source.shape[0]), U(source.shape[1]), U(TILE)
    if top + size <= rows and left + size <= cols:
        for ty in range(U(tile.shape[0])):
            for tx in range(U(tile.shape[1])):
                tile[ty, tx] = source[top + ty, left + tx]
    else:
        for ty in range(U(tile.shape[0])):
            for tx in range(U(tile.shape[1])):
                inside = top + ty < rows and left + tx < cols
                tile[ty, tx] = source[top + ty, left + tx] if inside else np.float32(0)


@njit
def multiply(acc, a_tile, b_tile):
    """Add a_tile b_tile to acc."""
    for ty in range(U(acc.shape[0])):
        for k in range(U(a_tile.shape[1])):
            for tx in range(U(acc.shape[1])):
                acc[ty, tx] += a_tile[ty, k] * b_tile[k, tx]


@njit
def matmul_tiled(a, b, out):
    """Multiply float32 matrices a (M, K) and b (K, N) into out (M, N), tile by tile."""
    m, k_size, n, size = U(a.shape[0]), U(a.shape[1]), U(b.shape[1]), U(TILE)
    a_tile = np.empty((TILE, TILE), np.float32)
    b_tile = np.empty((TILE, TILE), np.float32)
    acc = np.empty((TILE, TILE), np.float32)
    for row in range(U(0), m, size):
        for col in range(U(0), n, size):
            acc[:] = np.float32(0)
            for t in range(U(0), k_size, size):
                load(a, row, t, a_tile)
                load(b, t, col, b_tile)
                multiply(acc, a_tile, b_tile)
            for ty in range(min(size, m - row)):
                for tx in range(min(size, n - col)):
                    out[row + ty, col + tx] = acc[ty, tx]


def compiled() -> Any:
    """Return the loops: no bounds checks, NumPy's division, no GIL."""
    return matmul_tiled
