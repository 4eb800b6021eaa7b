"""Cases of the guarded map: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n temperatures."""
    celsius = rng.uniform(-90, 60, n).astype(np.float32)
    expected = (celsius.astype(np.float64) * 1.8 + 32).astype(np.float32)
    return Case(
        args={"celsius": celsius, "fahrenheit": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"fahrenheit": expected},
        scale={"fahrenheit": np.abs(celsius) * np.float32(1.8) + 32},
    )
