"""Cases of relu: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
AWKWARD = np.array([-1.5, 1e-7, 8, 1e-30, -1e-30, 7.5, 0, -0.0, 3e-38], np.float32)
# At one length only: (x + abs(x)) / 2 overflows float32, and no integer type is as large.
HUGE = np.array([3.4e38, -3.4e38], np.float32)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    x = rng.normal(size=n).astype(np.float32)
    x[: AWKWARD.size] = AWKWARD[:n]
    if n == BLOCK + 1:
        x[-2:] = HUGE
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": np.maximum(x, np.float32(0))},
    )
