"""Cases of the block sum: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def by_block(x: np.ndarray, blocks: int) -> np.ndarray:
    """Return the elements of each block in float64, with 0 past the end."""
    padded = np.zeros(blocks * BLOCK)
    padded[: len(x)] = x
    return padded.reshape(blocks, BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    rows = by_block(x, blocks)

    def sums(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"partials": values.astype(np.float32)}

    return Case(
        args={"x": x, "partials": poison(blocks)},
        grid=blocks,
        block=BLOCK,
        expected=sums(rows.sum(axis=1)),
        scale={"partials": np.abs(rows).sum(axis=1)},
        per="block",
    )
