"""Cases of the sums of columns: fewer and more samples than threads, ragged columns."""

import numpy as np

from gpukit.course import Case, poison

ACROSS, DOWN = 32, 8
# Samples and outputs.
SHAPES = {
    "a sample for each thread": (8, 32),
    "one number": (1, 1),
    "one less each way": (7, 31),
    "one more each way": (9, 33),
    "one sample": (1, 67),
    "one output": (37, 1),
    "two primes": (61, 83),
    "no sample at all": (0, 5),
    "many samples": (93, 120),
}


def case(rng: np.random.Generator, samples: int, outputs: int) -> Case:
    """Return the case of so many samples and outputs."""
    grad = rng.normal(0.5, 1, (samples, outputs)).astype(np.float32)
    wide = grad.astype(np.float64)
    right = wide.sum(axis=0)

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad_bias": values.astype(np.float32)}

    return Case(
        args={"grad_out": grad, "grad_bias": poison(outputs)},
        grid=-(-outputs // ACROSS),
        block=(ACROSS, DOWN),
        expected=left(right),
        scale={"grad_bias": np.abs(wide).sum(axis=0)},
        per="block",
    )
