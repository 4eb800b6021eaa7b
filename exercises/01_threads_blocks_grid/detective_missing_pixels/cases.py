"""Cases of the mirror image: sizes on both sides of a block, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 8)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a photograph of rows x cols pixels."""
    photo = rng.uniform(0, 255, (rows, cols)).astype(np.float32)
    return Case(
        args={"photo": photo, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": photo[:, ::-1]},
    )
