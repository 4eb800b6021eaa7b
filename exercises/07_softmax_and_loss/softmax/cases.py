"""Cases of the softmax of rows: ragged rows and columns, logits far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
SHAPES = lanes.SHAPES  # rows and columns


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols logits."""
    x = lanes.logits(rng, rows, cols)
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis=1, keepdims=True))
    right = e / e.sum(axis=1, keepdims=True)
    return Case(
        args={"x": x, "out": poison((rows, cols))},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected={"out": right.astype(np.float32)},
        per="block",
    )
