"""Cases of the tiled transpose: sizes around the tile size along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

TILE = 32
BLOCK = (TILE, 8)
SHAPES = {**areas(TILE, TILE), "many blocks": (120, 88)}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(size=(rows, cols)).astype(np.float32)
    return Case(
        args={"a": a, "out": poison((cols, rows))},
        grid=(-(-cols // TILE), -(-rows // TILE)),
        block=BLOCK,
        expected={"out": a.T},
    )
