"""Cases of a clipped step: gradients above the limit, below it, and all zeros."""

import numpy as np

from gpukit.course import Case, lengths, momentum

BLOCK = 128
LIMIT = 2.0
# The norm of the gradient, in quarters of the limit.
QUARTERS = (8, 1, 0, 3, 12, 6, 4)
# The length, and the norm of the gradient.
SHAPES = {name: (*n, q) for (name, n), q in zip(lengths(BLOCK).items(), QUARTERS, strict=True)}


def case(rng: np.random.Generator, n: int, quarters: int) -> Case:
    """Return the case of n weights and a gradient whose norm is quarters / 4 of the limit."""
    w, grad, velocity = momentum.vectors(rng, n)
    grad[:1] *= 100  # clipping each element separately would change the direction of the gradient
    before = np.linalg.norm(grad.astype(np.float64))
    grad *= np.float32(quarters / 4 * LIMIT / before if n else 1)
    norm = np.array([np.linalg.norm(grad.astype(np.float64))], np.float32)
    factor = LIMIT / max(float(norm[0]), LIMIT)
    inputs = {"w": w, "grad": grad, "norm": norm, "velocity": velocity}
    return momentum.case(inputs, factor, grid=max(1, -(-n // BLOCK)), block=BLOCK)
