"""Cases of the product with thread coarsening: whole blocks, and partial ones in each direction."""

import numpy as np

from gpukit.course import Case, products

BLOCK = (32, 2)
EACH = 4
# M, K, N
SHAPES = {
    "one block": (8, 48, 32),
    "one row less": (7, 16, 32),
    "one more in every direction": (9, 17, 33),
    "one column less": (8, 5, 31),
    "a row times a column": (1, 29, 1),
    "a single number": (1, 1, 1),
    "three different primes": (31, 53, 37),
    "many rows": (62, 61, 56),
}


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    grid = (-(-n // BLOCK[0]), -(-m // (BLOCK[1] * EACH)))
    return products.case(rng, m, k, n, grid=grid, block=BLOCK)
