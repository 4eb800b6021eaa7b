"""Cases of the transpose: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (16, 16)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(size=(rows, cols)).astype(np.float32)
    across, down = -(-cols // BLOCK[0]), -(-rows // BLOCK[1])
    exchanged, width, height = poison((cols, rows)), across * BLOCK[0], down * BLOCK[1]
    exchanged[:height, :width] = a.T[:height, :width]
    return Case(
        args={"a": a, "out": poison((cols, rows))},
        grid=(across, down),
        block=BLOCK,
        expected={"out": a.T},
    )
