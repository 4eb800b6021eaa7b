"""Cases of the naive product: whole blocks, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison

TILE = 16  # of threads, along x and y
# M, K, N
SHAPES = {
    "one tile": (TILE, TILE, TILE),
    "three steps along K": (TILE, 3 * TILE, TILE),
    "two by three tiles": (2 * TILE, TILE, 3 * TILE),
    "K one less than a tile": (TILE, TILE - 1, TILE),
    "one more in every direction": (TILE + 1, TILE + 1, TILE + 1),
    "three different primes": (31, 53, 37),
    "a row times a column": (1, 29, 1),
    "a single number": (1, 1, 1),
    "many tiles, the last ones ragged": (64, 61, 56),
}


def case(rng: np.random.Generator, m: int, k: int, n: int) -> Case:
    """Return the case of a (m, k) and b (k, n)."""
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    right = (wide_a @ wide_b).astype(np.float32)
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        grid=(-(-n // TILE), -(-m // TILE)),
        block=(TILE, TILE),
        expected={"out": right},
        scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
    )
