"""Cases of softplus: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Just above 10, where softplus still differs from x, and out to the largest finite numbers.
AWKWARD = np.array(
    [-95, 10.2, 3e38, -3e38, 1e20, -1e20, 100, -20, -85, 0, 11, 12, -86.5], np.float32
)
# Only one length has numbers in this interval, where 1 + exp(x) cancels digits, so that the result
# of a mistake depends on the last bits of exp.
MIDDLE = (-18, -2.5)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, a few of them far from 0."""
    x = rng.normal(0, 3, n).astype(np.float32)
    x[::5] *= 30
    x[: AWKWARD.size] = AWKWARD[:n]
    if n != BLOCK + 1:
        x = np.where((x > MIDDLE[0]) & (x < MIDDLE[1]), -x, x)
    right = np.logaddexp(0, x.astype(np.float64))
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": right.astype(np.float32)},
        scale={"out": right},  # widens the tolerance for mistakes that subtract
    )
