"""Cases of the block sum: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def by_block(x: np.ndarray, blocks: int) -> np.ndarray:
    """Return the sum of each block's elements in float64."""
    padded = np.zeros(blocks * BLOCK)
    padded[: len(x)] = x
    return padded.reshape(blocks, BLOCK).sum(axis=1)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    return Case(
        args={"x": x, "partials": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected={"partials": by_block(x, blocks).astype(np.float32)},
        scale={"partials": by_block(np.abs(x), blocks)},
        per="block",
    )
