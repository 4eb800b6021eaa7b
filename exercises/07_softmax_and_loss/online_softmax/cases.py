"""Cases of the online softmax: ragged rows and columns, logits far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
SHAPES = lanes.SHAPES  # rows and columns


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols logits."""
    x = lanes.logits(rng, rows, cols)
    wide = x.astype(np.float64)
    total = np.exp(wide - wide.max(axis=1, keepdims=True)).sum(axis=1)
    return Case(
        args={"x": x, "highest": poison(rows), "total": poison(rows)},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected={"highest": x.max(axis=1), "total": total.astype(np.float32)},
        per="block",
    )
