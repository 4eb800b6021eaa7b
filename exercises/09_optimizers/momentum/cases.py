"""Cases of a step with momentum: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, momentum

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n weights."""
    w, grad, velocity = momentum.vectors(rng, n)
    inputs = {"w": w, "grad": grad, "velocity": velocity}
    return momentum.case(inputs, grid=max(1, -(-n // BLOCK)), block=BLOCK)
