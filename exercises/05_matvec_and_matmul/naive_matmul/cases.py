"""Cases of the naive product: whole blocks, and partial ones in each direction."""

import numpy as np

from gpukit.course import Case, products

TILE = 16  # threads of a block, along x and along y
# M, K, N
SHAPES = {**products.in_tiles(TILE), "many tiles, the last ones ragged": (64, 61, 56)}


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    grid = (-(-n // TILE), -(-m // TILE))
    return products.case(rng, m, k, n, grid=grid, block=(TILE, TILE))
