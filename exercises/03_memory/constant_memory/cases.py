"""Cases of the tone curve: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison, products

BLOCK = 128
SHAPES = lengths(BLOCK)
COEFFICIENTS = np.array([0, 0.75, 0, 2.5, -3.75, 1.5])


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n brightness values between 0 and 1."""
    x = rng.uniform(0, 1, n).astype(np.float32)
    x[1:2], x[2:3] = 0, 1
    powers = x.astype(np.float64)[:, None] ** np.arange(COEFFICIENTS.size)
    right, sizes = products.dot(powers, COEFFICIENTS)
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": right},
        scale={"out": sizes},
    )
