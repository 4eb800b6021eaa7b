"""Cases of the grid-stride loop: the grid stays small, whatever the length."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
BLOCKS = 2
ALL = BLOCKS * BLOCK
SHAPES = {**lengths(BLOCK), "a long one": (2**14 - 1,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(size=n).astype(np.float32)
    whole, fixed = poison(n), poison(n)
    whole[: n // ALL * ALL] = x[: n // ALL * ALL] ** 2
    fixed[: ALL * ALL] = x[: ALL * ALL] ** 2
    return Case(args={"x": x, "out": poison(n)}, grid=BLOCKS, block=BLOCK, expected={"out": x * x})
