"""Cases of the transpose: sizes around the block size along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (16, 16)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(size=(rows, cols)).astype(np.float32)
    return Case(
        args={"a": a, "out": poison((cols, rows))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": a.T},
    )
