"""Cases of causal attention: texts of all lengths, up to 32 columns, scores far from 0."""

import numpy as np

from gpukit.course import Case, attention, lanes

BLOCK, MOST = 128, 32
LOW = (61, 64)  # places of the cases in which some scores are as low as -1e37
# Places and columns.
SHAPES = {
    "a query for each warp": (4, MOST),
    "one place": (1, 1),
    "two places": (2, 8),
    "one place more": (5, MOST - 1),
    "one column": (9, 1),
    "a column for each second lane": (7, MOST // 2),
    "two primes": (61, 23),
    "one less than a block": (BLOCK - 1, 4),
    "as many as a block": (BLOCK, 3),
    "one more than a block": (BLOCK + 1, 2),
    "many places": (64, MOST),
}


def case(rng: np.random.Generator, n: int, size: int) -> Case:
    """Return the case of n places with so many columns, at most 32."""
    size = min(size, MOST)
    q, k, v = attention.vectors(rng, n, size, [0, 150, -150, 1, 0])
    k[6::16, 0] = 12  # far above the first for a query of 150, far below for one of -150
    q[4::5] *= 8  # some scores far above the others
    if n in LOW:  # scores below which there is hardly a number; some mistakes leave float32 there
        q[7::16], q[7::16, 0] = 0, -(2.0**124)
    return attention.case(q, k, v, grid=-(-n * lanes.WARP // BLOCK), block=BLOCK)
