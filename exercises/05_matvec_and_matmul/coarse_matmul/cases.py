"""Cases of the coarsened product: whole blocks, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison

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
    a = rng.normal(size=(m, k)).astype(np.float32)
    b = rng.normal(size=(k, n)).astype(np.float32)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    right = (wide_a @ wide_b).astype(np.float32)
    across, down = -(-n // BLOCK[0]), -(-m // (BLOCK[1] * EACH))
    return Case(
        args={"a": a, "b": b, "out": poison((m, n))},
        grid=(across, down),
        block=BLOCK,
        expected={"out": right},
        scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
    )
