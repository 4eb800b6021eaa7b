"""Cases of causal attention, one block per query: short and long sequences."""

import numpy as np

from gpukit.course import Case, attention

BLOCK, MOST = 64, 128
# Positions and columns.
SHAPES = {
    "two positions": (2, 8),
    "one position": (1, 1),
    "a column for each thread": (17, BLOCK),
    "one less than a block": (BLOCK - 1, 5),
    "a key for each thread": (BLOCK, 32),
    "one more than a block": (BLOCK + 1, 3),
    "two primes": (101, 23),
    "as many as there is room for": (MOST, 2),
}


def case(rng: np.random.Generator, n: int, size: int) -> Case:
    """Return the case of at most 128 positions with at most 64 columns."""
    n, size = min(n, MOST), min(size, BLOCK)
    q, k, v = attention.vectors(rng, n, size, [0, 150, 0, -150, 1])
    q[5::16], q[5::16, :1] = 0, -(2.0**124)  # scores around -1e37
    # A warp with neither a key that the query may attend to nor a column of the values.
    idle_warps = sum(min(n, warp) for warp in range(32, BLOCK, 32) if warp >= size)
    return attention.case(q, k, v, grid=n, block=BLOCK, idle_warps=idle_warps)
