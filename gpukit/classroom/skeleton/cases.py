"""Cases of multiply and add: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
# Shapes by the name of their case, easiest first.
SHAPES = {**lengths(BLOCK), "a longer prime": (4099,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements, with inputs drawn from rng only."""
    a, x, b = rng.normal(size=(3, n)).astype(np.float32)
    product = a.astype(np.float64) * x
    return Case(
        args={"a": a, "x": x, "b": b, "y": poison(n)},  # what a kernel does not write stays poison
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"y": (product + b).astype(np.float32)},
        scale={"y": np.abs(product) + np.abs(b)},  # rounding grows with the terms of a sum
    )
