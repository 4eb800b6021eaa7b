"""Cases of the broadcast sum: sizes around the block size along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

BLOCK = (32, 4)
SHAPES = areas(*BLOCK)


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of rows x cols sums."""
    left = rng.normal(size=rows).astype(np.float32)
    top = rng.normal(size=cols).astype(np.float32)
    return Case(
        args={"left": left, "top": top, "out": poison((rows, cols))},
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1])),
        block=BLOCK,
        expected={"out": left[:, None] + top},
    )
