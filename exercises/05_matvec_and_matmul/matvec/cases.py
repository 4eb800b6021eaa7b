"""Cases of the matrix times a vector: ragged rows and columns."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 128
WARP = 32
# Rows and columns.
SHAPES = {
    "a column for each lane": (4, 32),
    "one number": (1, 1),
    "one row": (1, 129),
    "one column": (127, 1),
    "one column more": (4, 33),
    "one column less": (5, 31),
    "two primes": (61, 83),
    "as many rows as threads": (128, 17),
    "many rows": (64, 256),
}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(0.25, 1, (rows, cols)).astype(np.float32)
    x = rng.normal(0.25, 1, cols).astype(np.float32)
    wide, by = a.astype(np.float64), x.astype(np.float64)
    left = cols % WARP or WARP
    return Case(
        args={"a": a, "x": x, "out": poison(rows)},
        grid=-(-rows * WARP // BLOCK),
        block=BLOCK,
        expected={"out": (wide @ by).astype(np.float32)},
        scale={"out": np.abs(wide) @ np.abs(by)},
        mistakes={
            "Only the first 32 columns were added: each lane took one and stopped.": {
                "out": (wide[:, :WARP] @ by[:WARP]).astype(np.float32)
            },
            "Only every 32nd column was added: this is the part of lane 0. The lanes' sums are not "
            "added up.": {"out": (wide[:, ::WARP] @ by[::WARP]).astype(np.float32)},
            "The columns behind the last 32 are missing: the division is rounded down.": {
                "out": (wide[:, : cols - left] @ by[: cols - left]).astype(np.float32)
            },
        },
        per="block",
    )
