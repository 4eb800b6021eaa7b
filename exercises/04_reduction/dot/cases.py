"""Cases of the dot product: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, lengths, products

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    a, b = rng.normal(0.5, 1, (2, n)).astype(np.float32)
    right, sizes = products.dot(a, b)
    return Case(
        args={"a": a, "b": b, "out": np.zeros(1, np.float32)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": np.array([right])},
        scale={"out": np.array([sizes])},
        per="block",
    )
