"""Cases of the block sums: full and partial blocks, one element, none."""

import numpy as np

from gpukit.course import Case, by_block, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    rows = by_block(x, BLOCK)
    return Case(
        args={"x": x, "partials": poison(len(rows))},
        grid=len(rows),
        block=BLOCK,
        expected={"partials": rows.sum(axis=1).astype(np.float32)},
        scale={"partials": np.abs(rows).sum(axis=1)},
        per="block",
    )
