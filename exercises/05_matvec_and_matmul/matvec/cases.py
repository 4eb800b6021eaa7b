"""Cases of the matrix times a vector: ragged rows and columns."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 128
WARP = 32
# Rows and columns.
SHAPES = {
    "as many rows as columns": (32, 32),
    "a column for each lane": (4, 32),
    "one number": (1, 1),
    "one row": (1, 129),
    "one column": (127, 1),
    "one column more": (4, 33),
    "one column less": (5, 31),
    "two primes": (61, 83),
    "as many rows as threads": (128, 17),
    "many rows": (64, 264),
}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(0.25, 1, (rows, cols)).astype(np.float32)
    x = rng.normal(0.25, 1, cols).astype(np.float32)
    wide, by = a.astype(np.float64), x.astype(np.float64)
    parts = np.zeros((rows, WARP))
    for lane in range(min(WARP, cols)):
        parts[:, lane] = wide[:, lane::WARP] @ by[lane::WARP]
    right, grid = (wide @ by).astype(np.float32), -(-rows * WARP // BLOCK)
    fourth, first_rows, warp_0 = poison(rows), poison(rows), poison(rows)
    fourth[:: BLOCK // WARP] = right[:: BLOCK // WARP]
    first_rows[:grid] = right[:grid]
    warp_0[:: BLOCK // WARP] = WARP * parts[:: BLOCK // WARP, 0]
    return Case(
        args={"a": a, "x": x, "out": poison(rows)},
        grid=grid,
        block=BLOCK,
        expected={"out": right},
        scale={"out": np.abs(wide) @ np.abs(by)},
        per="block",
    )
