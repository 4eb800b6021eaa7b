"""Cases of the gradient of the bias: fewer and more samples than threads, ragged columns."""

import numpy as np

from gpukit.course import Case, beside, poison

ACROSS, DOWN = 32, 8
# Samples and outputs.
SHAPES = {
    "a sample for each thread": (DOWN, ACROSS),
    "one number": (1, 1),
    **beside(DOWN, ACROSS),
    "one sample": (1, 67),
    "one output": (37, 1),
    "two primes": (61, 83),
    "no sample at all": (0, 5),
    "many samples": (93, 120),
}


def case(rng: np.random.Generator, samples: int, outputs: int) -> Case:
    """Return the case of the gradients of `samples` samples and `outputs` outputs."""
    grad = rng.normal(0.5, 1, (samples, outputs)).astype(np.float32)
    wide = grad.astype(np.float64)
    return Case(
        args={"grad_out": grad, "grad_bias": poison(outputs)},
        grid=-(-outputs // ACROSS),
        block=(ACROSS, DOWN),
        expected={"grad_bias": wide.sum(axis=0).astype(np.float32)},
        scale={"grad_bias": np.abs(wide).sum(axis=0)},
        per="block",
    )
