"""Cases of gradient clipping: long, short and zero vectors, lengths around the block size."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
# The length, and the index of one of these norms.
NORMS = (0.0, 0.8, 1.25, 30.0, 1.0001, 0.9999, 1e15)
SHAPES = {name: (*n, 3) for name, n in lengths(BLOCK).items()} | {
    "a little too long": (67, 2),
    "a short vector": (67, 1),
    "all zeros": (131, 0),
    "barely too long": (67, 4),
    "almost too long": (67, 5),
    "much too long": (259, 6),
}


def case(rng: np.random.Generator, n: int, kind: int) -> Case:
    """Return the case of n gradients with the norm NORMS[kind]."""
    drawn = rng.normal(1, 1, n)
    unit = drawn / max(np.sqrt((drawn**2).sum()), 1e-9)
    grad = (NORMS[min(kind, len(NORMS) - 1)] * unit).astype(np.float32)
    wide = grad.astype(np.float64)
    norm = np.sqrt((wide**2).sum())
    return Case(
        args={"grad": grad, "out": poison(n)},
        grid=1,
        block=BLOCK,
        expected={"out": (wide / max(norm, 1)).astype(np.float32)},
        per="block",
    )
