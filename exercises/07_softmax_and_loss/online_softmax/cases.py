"""Cases of the online softmax: ragged rows and columns, numbers far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
SHAPES = lanes.SHAPES  # rows and columns


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols numbers."""
    x = lanes.scores(rng, rows, cols)
    wide = x.astype(np.float64)
    high = wide.max(axis=1)

    def left(total: np.ndarray, highest: np.ndarray = high) -> dict[str, np.ndarray]:
        with np.errstate(over="ignore"):  # as in a kernel
            return {"highest": highest.astype(np.float32), "total": total.astype(np.float32)}

    right = np.exp(wide - high[:, None]).sum(axis=1)
    return Case(
        args={"x": x, "highest": poison(rows), "total": poison(rows)},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected=left(right),
        per="block",
    )
