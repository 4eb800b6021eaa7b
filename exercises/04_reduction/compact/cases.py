"""Cases of the compacted vector: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Values that a cast to an integer or a tolerance would treat as 0, and infinity.
SMALL = (0.3, 0.7, 1e-6, 1e-37, 1e37, np.inf, -0.3, -1e-6, -0.0)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, some of them 0."""
    x = np.round(rng.normal(0, 2, n)).astype(np.float32)
    small = rng.random(n) < 0.25
    x[small] = rng.choice(np.array(SMALL, np.float32), int(small.sum()))
    kept = x[x > 0]
    ends = np.cumsum(x > 0).astype(np.int32)
    return Case(
        args={"x": x, "ends": ends, "out": poison(kept.size)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": kept},
        per="block",
    )
