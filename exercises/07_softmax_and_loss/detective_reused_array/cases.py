"""Cases of the softmax of rows, one block per row: ragged rows, logits far from 0."""

import numpy as np

from gpukit.course import Case, by_row, lanes, poison

BLOCK = 128
SHAPES = by_row(BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols logits."""
    around = np.resize([0, -1000, 50, 1000, lanes.LEAST, -1e6, -1e30], rows)
    x = (rng.normal(0, 2, (rows, cols)) + around[:, None]).astype(np.float32)
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis=1, keepdims=True))
    right = e / e.sum(axis=1, keepdims=True)
    return Case(
        args={"x": x, "out": poison((rows, cols))},
        grid=rows,
        block=BLOCK,
        expected={"out": right.astype(np.float32)},
        per="block",
    )
