"""Cases of relu: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    x = rng.normal(size=n).astype(np.float32)
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": np.maximum(x, np.float32(0))},
        mistakes={
            "Only the positive numbers were written. Where x is negative, out must become 0.": {
                "out": np.where(x > 0, x, poison(n))
            },
            "These are the absolute values: a negative number became positive, not 0.": {
                "out": np.abs(x)
            },
            "The positive numbers became 0 and the negative ones stayed: min for max.": {
                "out": np.minimum(x, np.float32(0))
            },
            "The numbers are as they were: the negative ones did not become 0.": {"out": x},
        },
    )
