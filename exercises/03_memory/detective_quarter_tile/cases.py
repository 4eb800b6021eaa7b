"""Cases of the transposed tiles: whole tiles only, since a partial tile changes its shape."""

import numpy as np

from gpukit.course import Case, poison

TILE = 32
BLOCK = (TILE, 8)
# Tiles down and across.
SHAPES = {
    "one tile": (1, 1),
    "two tiles each way": (2, 2),
    "two tiles across": (1, 2),
    "two tiles down": (2, 1),
    "many blocks": (3, 4),
}


def case(rng: np.random.Generator, down: int, across: int) -> Case:
    """Return the case of a picture of down x across tiles."""
    a = rng.uniform(0, 255, (down, TILE, across, TILE)).astype(np.float32)
    shape = (down * TILE, across * TILE)
    return Case(
        args={"a": a.reshape(shape), "out": poison(shape)},
        grid=(across, down),
        block=BLOCK,
        expected={"out": a.transpose(0, 3, 2, 1).reshape(shape)},
    )
