"""Cases of the matrix-vector product: few and many rows, columns around multiples of a warp."""

import numpy as np

from gpukit.course import Case, lanes, poison, products

BLOCK = 128
# Rows and columns.
SHAPES = {
    "as many rows as columns": (lanes.WARP, lanes.WARP),
    "a column for each lane": (4, lanes.WARP),
    "one number": (1, 1),
    "one row": (1, 129),
    "one column": (127, 1),
    "one column more": (4, lanes.WARP + 1),
    "one column less": (5, lanes.WARP - 1),
    "two primes": (61, 83),
    "as many rows as threads": (128, 17),
    "many rows": (64, 264),
}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(0.25, 1, (rows, cols)).astype(np.float32)
    x = rng.normal(0.25, 1, cols).astype(np.float32)
    right, sizes = products.dot(a, x)
    return Case(
        args={"a": a, "x": x, "out": poison(rows)},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected={"out": right},
        scale={"out": sizes},
        per="block",
    )
