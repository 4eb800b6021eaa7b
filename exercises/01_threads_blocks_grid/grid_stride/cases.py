"""Cases of the grid-stride loop: a small grid for every length."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
BLOCKS = 2
SHAPES = {**lengths(BLOCK), "a long one": (2**14 - 1,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(size=n).astype(np.float32)
    return Case(args={"x": x, "out": poison(n)}, grid=BLOCKS, block=BLOCK, expected={"out": x * x})
