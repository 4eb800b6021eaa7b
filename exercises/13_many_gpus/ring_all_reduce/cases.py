"""Cases of the ring: one array per rank, with and without parts of different sizes."""

import numpy as np

from gpukit.course import Case, called, poison, some

# Ranks, numbers in each array.
SHAPES = {
    "two ranks": (2, 8),
    "three ranks": (3, 12),
    "parts of different sizes": (3, 11),
    "one number per rank": (3, 3),
    "fewer numbers than ranks": (3, 2),
    "one rank": (1, 5),
    "a longer array": (2, 61),
}


def case(rng: np.random.Generator, ranks: int, n: int) -> Case:
    """Return the case of `ranks` ranks with n numbers each."""
    arrays = rng.normal(0, 1, (ranks, n)).astype(np.float32)
    total = arrays.astype(np.float64).sum(axis=0).astype(np.float32)
    return called(
        args={"arrays": arrays, "out": poison((ranks, n))},
        expected={"out": np.tile(total, (ranks, 1))},
        scale={"out": np.tile(np.abs(arrays).sum(axis=0), (ranks, 1))},
        shown=f"{some(ranks, 'rank')} with {some(n, 'number')} each",
    )
