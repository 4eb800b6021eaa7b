"""Cases of the sum of two vectors: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    a, b = rng.normal(size=(2, n)).astype(np.float32)
    return Case(
        args={"a": a, "b": b, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": a + b},
    )
