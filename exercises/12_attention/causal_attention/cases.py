"""Cases of causal attention: sequences of all lengths, up to 32 columns, scores far from 0."""

import numpy as np

from gpukit.course import Case, attention, lanes

BLOCK, MOST = 128, 32
LOW = (61, 64)  # positions of the cases in which some scores are as low as -1e37
# Positions and columns.
SHAPES = {
    "a query for each warp": (4, MOST),
    "one position": (1, 1),
    "two positions": (2, 8),
    "one position more": (5, MOST - 1),
    "one column": (9, 1),
    "a column for each second lane": (7, MOST // 2),
    "two primes": (61, 23),
    "one less than a block": (BLOCK - 1, 4),
    "as many as a block": (BLOCK, 3),
    "one more than a block": (BLOCK + 1, 2),
    "many positions": (64, MOST),
}


def case(rng: np.random.Generator, n: int, size: int) -> Case:
    """Return the case of n positions with `size` columns, at most 32."""
    size = min(size, MOST)
    q, k, v = attention.vectors(rng, n, size, [0, 150, -150, 1, 0])
    k[6::16, 0] = 12  # far above the first key for a query of 150, far below it for one of -150
    q[4::5] *= 8  # some scores far above the others
    if n in LOW:  # scores around -1e37, where some mistakes overflow
        q[7::16], q[7::16, 0] = 0, -(2.0**124)
    return attention.case(q, k, v, grid=-(-n * lanes.WARP // BLOCK), block=BLOCK)
