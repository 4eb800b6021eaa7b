"""The tiled matrix product as loops written by hand: what the compiler should come close to.

The loops are those that a person makes of `matmul_tiled_kernel`: a block after another, in it a
tile step after another, and in that the threads as two loops, the row of the block outside and
its column inside, so that the inner loop runs along memory and is vectorised.

Legend
    bx, by    the block                                  ranges [0, ceil_div(N, TILE)), ...
    t         where the present tile begins along K      0, 16, 32, ...
    tx, ty    the thread's column and row in its block   [0, TILE)
    k         the summed axis inside a tile              [0, TILE)
"""

from __future__ import annotations

from typing import Any

import numpy as np

TILE = 16


def compiled() -> Any:
    """Return the loops compiled by numba: no bounds checks, NumPy's division, no GIL."""
    import numba

    return numba.njit(nogil=True, error_model="numpy")(matmul_tiled_loops)


def matmul_tiled_loops(a, b, out):  # type: ignore[no-untyped-def]
    """Multiply float32 matrices a (M, K) and b (K, N) into out (M, N), tile by tile."""
    m, k_size, n = a.shape[0], a.shape[1], b.shape[1]
    a_tile = np.empty((TILE, TILE), np.float32)
    b_tile = np.empty((TILE, TILE), np.float32)
    acc = np.empty((TILE, TILE), np.float32)
    # Unsigned indices spare the test for Python's negative ones in every access.
    for by in range(np.uint64((m + TILE - 1) // TILE)):
        for bx in range(np.uint64((n + TILE - 1) // TILE)):
            row, col = by * np.uint64(TILE), bx * np.uint64(TILE)
            acc[:] = np.float32(0)
            for t in range(np.uint64(0), np.uint64(k_size), np.uint64(TILE)):
                for ty in range(np.uint64(TILE)):
                    for tx in range(np.uint64(TILE)):
                        inside = row + ty < np.uint64(m) and t + tx < np.uint64(k_size)
                        a_tile[ty, tx] = a[row + ty, t + tx] if inside else np.float32(0)
                for ty in range(np.uint64(TILE)):
                    for tx in range(np.uint64(TILE)):
                        inside = t + ty < np.uint64(k_size) and col + tx < np.uint64(n)
                        b_tile[ty, tx] = b[t + ty, col + tx] if inside else np.float32(0)
                for ty in range(np.uint64(TILE)):
                    for k in range(np.uint64(TILE)):
                        for tx in range(np.uint64(TILE)):
                            acc[ty, tx] += a_tile[ty, k] * b_tile[k, tx]
            for ty in range(np.uint64(TILE)):
                for tx in range(np.uint64(TILE)):
                    if row + ty < np.uint64(m) and col + tx < np.uint64(n):
                        out[row + ty, col + tx] = acc[ty, tx]
