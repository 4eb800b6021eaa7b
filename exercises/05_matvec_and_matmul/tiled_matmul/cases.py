"""Cases of the tiled product: whole tiles, and ragged ones in each direction."""

from collections.abc import Iterator

import numpy as np

from gpukit.course import Case, poison

TILE = 16
SIZES = {
    "one tile": (TILE, TILE, TILE),
    "three steps along K": (TILE, 3 * TILE, TILE),
    "two by three tiles": (2 * TILE, TILE, 3 * TILE),
    "K one less than a tile": (TILE, TILE - 1, TILE),
    "one more in every direction": (TILE + 1, TILE + 1, TILE + 1),
    "three different primes": (31, 53, 37),
    "a row times a column": (1, 29, 1),
    "a single number": (1, 1, 1),
}


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases, easiest first."""
    for name, (m, k, n) in SIZES.items():
        a = rng.normal(size=(m, k)).astype(np.float32)
        b = rng.normal(size=(k, n)).astype(np.float32)
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        yield Case(
            name=name,
            args={"a": a, "b": b, "out": poison((m, n))},
            grid=(-(-n // TILE), -(-m // TILE)),
            block=(TILE, TILE),
            expected={"out": (wide_a @ wide_b).astype(np.float32)},
            scale={"out": np.abs(wide_a) @ np.abs(wide_b)},
        )
