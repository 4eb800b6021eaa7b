"""Cases of the maximum of each block: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, by_block, lanes, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, all negative in most blocks, the least float32 in some."""
    x = rng.uniform(-9, -1, n).astype(np.float32)
    x[: n // 2] += 5 if n == 8 * BLOCK else 0
    if n > BLOCK:
        x[-(n % BLOCK or BLOCK) :] = lanes.LEAST
    if n > 1:
        x[-1] = -np.inf
    right = by_block(x, BLOCK, -np.inf).max(axis=1).astype(np.float32)
    return Case(
        args={"x": x, "partials": poison(right.size)},
        grid=right.size,
        block=BLOCK,
        expected={"partials": right},
        per="block",
    )
