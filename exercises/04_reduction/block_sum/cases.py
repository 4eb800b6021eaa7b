"""Cases of the block sum: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 128
SHAPES = {
    "exactly one block": (BLOCK,),
    "one element": (1,),
    "one less than a block": (BLOCK - 1,),
    "one more than a block": (BLOCK + 1,),
    "a prime, many blocks": (1009,),
    "eight whole blocks": (8 * BLOCK,),
    "nothing to add": (0,),
}


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
