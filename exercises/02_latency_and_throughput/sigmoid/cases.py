"""Cases of the sigmoid: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Only one length has numbers in this interval, where a subtraction cancels digits, so that the
# result of a mistake depends on the last bits of exp.
MIDDLE = (-18, -2.5)
FAR = (-700, 700)  # where exp overflows float32, but not float64


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, a few of them far from 0."""
    x = rng.uniform(MIDDLE[1], 16, n)
    x[3::7] = rng.uniform(-86, -21, x[3::7].size)
    x[5::7] = rng.uniform(-200, -100, x[5::7].size)
    x[6::7] = rng.uniform(100, 200, x[6::7].size)
    x[:1], x[1:2] = -2.25, 0
    x[12:13], x[13:14] = -3e38, 3e38
    if n == BLOCK + 1:
        x[1::2] = rng.uniform(*MIDDLE, x[1::2].size)
    x = x.astype(np.float32)
    right = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), *FAR)))
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": right.astype(np.float32)},
    )
