"""Cases of the sigmoid: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, a few of them far from 0."""
    x = rng.normal(0, 3, n).astype(np.float32)
    x[::7] *= 40
    wide = x.astype(np.float64)
    right = 1 / (1 + np.exp(-wide))
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": right.astype(np.float32)},
        mistakes={
            "This is the sigmoid of -x: the sign in front of x is missing or there twice.": {
                "out": (1 - right).astype(np.float32)
            },
            "This is tanh, which runs from -1 to 1.": {"out": np.tanh(wide).astype(np.float32)},
        },
    )
