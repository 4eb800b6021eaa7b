"""Cases of the softmax of rows: ragged rows and columns, scores far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
WARP = lanes.WARP
SHAPES = lanes.SHAPES  # rows and columns


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols scores."""
    x = lanes.scores(rng, rows, cols)
    wide = x.astype(np.float64)
    high = wide.max(axis=1, keepdims=True)
    e = np.exp(wide - high)
    right = e / e.sum(axis=1, keepdims=True)

    def left(values: np.ndarray, written: np.ndarray | bool = True) -> dict[str, np.ndarray]:
        """Return the outputs where these were `written`."""
        with np.errstate(invalid="ignore"):
            kept = np.where(written, values.astype(np.float32), poison((rows, cols)))
        return {"out": kept}

    return Case(
        args={"x": x, "out": poison((rows, cols))},
        grid=-(-rows * WARP // BLOCK),
        block=BLOCK,
        expected=left(right),
        per="block",
    )
