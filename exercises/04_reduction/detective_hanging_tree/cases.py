"""Cases of the largest of each block: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lanes, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, all negative in most blocks, as low as there are in some."""
    x = rng.uniform(-9, -1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    x[: n // 2] += 5 if n == 8 * BLOCK else 0
    if n > BLOCK:
        x[-(n % BLOCK or BLOCK) :] = lanes.LEAST
    if n > 1:
        x[-1] = -np.inf
    padded = np.full(blocks * BLOCK, -np.inf, np.float32)
    padded[:n] = x
    rows = padded.reshape(blocks, BLOCK)
    right = rows.max(axis=1)
    return Case(
        args={"x": x, "partials": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected={"partials": right},
        per="block",
    )
